/* night - a night from the configuration to the verdict
 *
 * Purpose:   one at a time a series: begins a night or goes on with one that was killed, runs suites and
 *            entrants, judges, measures a second time what became slower, writes report and evidence, ends
 *            the night, removes what is not kept, tells the hook.
 * Ownership: borrows the request.
 * Threads:   one.
 * Errors:    -1 with the error. Whatever a night had paid for stays; the next start goes on with it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NIGHT_H
#define CE_COORDINATOR_NIGHT_H

#include <stdbool.h>

#include "coordinator/eval.h"
#include "coordinator/night_config.h"
#include "store/night.h"

/* A night that was killed is gone on with for this long; then it is abandoned. */
enum { NIGHT_RESUME_HOURS = 20 };

typedef struct night_request {
    night_config *config;
    const char *db; /* path of the database */
    const char *keys;
    const char *program, *command, *version; /* as in eval_request */
    const char *http, *http_token;
    const char *const *environment;
    term_env term;
    bool json; /* print night.json instead of a sentence */
} night_request;

/* night_exit_code: what a program ends with for a verdict (cmd.h). */
int night_exit_code(night_verdict verdict);

/* Each gives the exit code (cmd.h), or -1. */
int night_run(const night_request *request, err *e);
/* night_dry_run prints what would be done. */
int night_dry_run(const night_request *request, err *e);
/* night_list prints the nights of the series. */
int night_list_print(const night_request *request, err *e);
/* night_overdue: was there a good night in the last overdue_hours? The hook is called when not. */
int night_overdue(const night_request *request, err *e);
/* night_take makes an ended night ("latest" or its number) good. */
int night_take(const night_request *request, const char *which, err *e);

#endif
