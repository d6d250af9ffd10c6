/* eval - a run from the command line to the board
 *
 * Purpose:   prepares a new or a resumed run, lets the coordinator work on it with a local node, watches
 *            signals, settles the run's state, writes the reports.
 * Ownership: borrows the request.
 * Threads:   one; blocks SIGINT and SIGTERM in it while the run is on.
 * Errors:    -1 with the error; a run that was begun can be resumed then, and the command is printed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_EVAL_H
#define CE_COORDINATOR_EVAL_H

#include <stdbool.h>

#include "common/term.h"
#include "coordinator/run.h"
#include "coordinator/settings.h"

struct eval_request;
struct crier_options;

/* Where a run is: its store, its id, the folder of its reports. */
typedef struct eval_place {
    store *store;
    const char *run, *out;
} eval_place;

/* What makes a validation another run than an evaluation. */
typedef struct eval_purpose {
    const char *command; /* "suite validate": for the command that resumes */
    /* docket: the cases of a new run; caller owns. */
    docket *(*docket)(const struct eval_request *request, const selection *chosen, err *e);
    /* report writes the run's files into the folder `out` and prints what was found. *code is the exit
     * code of the run so far; a run that shows something wrong makes it CMD_EXIT_NO. */
    int (*report)(const struct eval_request *request, const eval_place *place, int *code, err *e);
} eval_purpose;

typedef struct eval_request {
    const eval_purpose *purpose; /* NULL: entrants compete */
    const settings
        *wanted; /* of a new run; when resuming: what replaces the stored (NULL and 0 do not) */
    const char *resume;               /* RUN, or NULL */
    const char *db;                   /* path of the database */
    const char *db_given;             /* as typed, or NULL */
    const char *program;              /* as typed: for the command that resumes */
    const char *command;              /* the whole command as typed: for the record */
    const char *version;              /* of ce */
    const char *keys;                 /* folder of keys, for --bind beyond this host */
    const char *node_binary;          /* NULL: ce-node beside this program */
    const char *http;                 /* where the live page is served; NULL: nowhere */
    const char *http_token;           /* NULL: none */
    const struct crier_options *hook; /* whom to tell of the end; NULL: nobody */
    term_env term;                    /* how to draw on stderr */
    bool dry_run, yes, json;
    bool quiet;       /* the board is not printed */
    int64_t night;    /* a new run's night (store/night.h); 0: none */
    bool again;       /* … which measures a second time */
    bool adversarial; /* of a validation: the adversarial kernels, not the mutants */
} eval_request;

/* eval_run gives the exit code (cmd.h), or -1. */
int eval_run(const eval_request *request, err *e);

#endif
