/* run - a run: created in one transaction, opened again from its id alone
 *
 * Purpose:   run_create writes a run with everything its tasks need (texts, contracts, specs) into the
 *            store; run_open reads any unfinished or finished run back as a scheduler's table. A fresh
 *            run and a resumed one take the same way.
 * Ownership: run_open gives an owned object; its fields are for reading, `tasks` belongs to the loop.
 * Threads:   one owner.
 * Errors:    ERR_NOT_FOUND for an unknown run; ERR_USAGE for a replay that does not fit; what the store
 *            says. A failed run_create leaves nothing behind.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_RUN_H
#define CE_COORDINATOR_RUN_H

#include <stdint.h>

#include "common/id.h"
#include "coordinator/sched.h"
#include "coordinator/selection.h"
#include "coordinator/settings.h"
#include "coordinator/docket.h"
#include "store/run.h"
#include "store/store.h"

typedef struct run {
    char id[ID_TEXT];
    run_kind kind;
    settings settings;
    char **entrants; /* names, by the number that tasks carry */
    size_t entrant_count;
    sched *tasks;
    int64_t last_token; /* no fencing token above it was ever sent */
    int64_t calls;      /* recorded model calls */
    double spent_usd;   /* known cost of those */
    int64_t unpriced;   /* calls whose cost is unknown */
    double budget_usd;  /* 0: none */
    double charged_usd; /* when it was opened: what its paid calls count for against the budget */
} run;

/* What a new run is made of; all borrowed. */
typedef struct run_request {
    const settings *settings;
    const selection *selection;
    const docket *docket; /* a validation's kernels; NULL: every entrant meets every problem */
    const char *command;  /* as typed */
    const char *version;  /* of ce */
    int64_t now_ms;       /* wall clock */
    int64_t night;        /* the night that starts it (store/night.h); 0: none */
    bool again;           /* … and measures a second time */
} run_request;

int run_create(store *s, const run_request *request, char id[ID_TEXT], err *e);
/* run_open: `text` is an id, a unique prefix or "latest". Leases that a dead coordinator left open end;
 * tasks that were given up wait again. */
run *run_open(store *s, const char *text, int64_t now_ms, err *e);
void run_destroy(run **self);

/* run_replay_of is the RUN of "replay:RUN" among an entrant's models, or NULL. */
const char *run_replay_of(const settings_entrant *entrant);

#endif
