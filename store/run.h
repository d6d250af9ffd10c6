/* run - runs: what was asked, and how far it came
 *
 * Purpose:   rows of table `run`, looked up by id, unique prefix or `latest`.
 * Ownership: writing borrows; reading gives text that the row or list owns (*_fini).
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND names what was looked for; ERR_CONFLICT: a prefix fits several (lists them).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_RUN_H
#define CE_STORE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

typedef enum run_state {
    RUN_CHECKING,    /* contract tasks first */
    RUN_RUNNING,     /* synthesize tasks */
    RUN_INTERRUPTED, /* stopped, resumable */
    RUN_COMPLETE,    /* every planned task is scored */
    RUN_INCOMPLETE,  /* ended with tasks that were not scored */
    RUN_FAILED       /* the harness or the suite failed */
} run_state;
const char *run_state_name(run_state state);
/* run_state_is_open: a coordinator works on it, or did until it died. */
bool run_state_is_open(run_state state);

/* What a run is for. */
typedef enum run_kind {
    RUN_EVAL,    /* entrants compete */
    RUN_VALIDATE /* the suite is on trial: never ranked */
} run_kind;

typedef struct run_row {
    const char *id;
    int64_t created_ms;
    int64_t finished_ms; /* 0: not finished */
    run_state state;
    run_kind kind;
    const char *suite, *suite_version;
    hash suite_hash;
    const char *device; /* as asked: auto, cuda, emu, fake */
    int64_t seed, samples;
    const char *correct_protocol, *timing_protocol;
    const char *settings; /* JSON: the effective options */
    const char *command;  /* as typed */
    const char *version;  /* of ce */
    double budget_usd;    /* 0: none */
    int64_t redacted_ms;  /* when its texts were removed; 0: they are there */
    int64_t opened;       /* how often a coordinator opened it */
} run_row;
typedef struct run_list {
    run_row *rows;
    size_t count;
} run_list;

/* How many tasks of kind synthesize are in which state, and how many of the done ones are scored. */
typedef struct run_counts {
    int64_t planned, waiting, leased, done, failed, scored;
} run_counts;

int run_insert(store_tx *tx, const run_row *row, err *e);
/* run_set_state: the last three states also set finished_ms, the others clear it. */
int run_set_state(store_tx *tx, const char *id, run_state state, int64_t now_ms, err *e);
/* run_set_budget: 0 is none. */
int run_set_budget(store_tx *tx, const char *id, double usd, err *e);
/* run_count_opening counts that a coordinator opens it. */
int run_count_opening(store_tx *tx, const char *id, err *e);
/* run_delete removes a run with its tasks, calls, results. Artifacts stay (others may share them). */
int run_delete(store_tx *tx, const char *id, err *e);

/* run_find: `text` is an id, a unique prefix of one, or "latest" (NULL means latest). */
int run_find(store_tx *tx, const char *text, run_row *out, err *e);
/* run_list_read: all runs, newest first. run_list_newest: at most `max` of them, those before run `before`
 * (an id; NULL: from the newest). */
int run_list_read(store_tx *tx, run_list *out, err *e);
int run_list_newest(store_tx *tx, const char *before, size_t max, run_list *out, err *e);
int run_count(store_tx *tx, const char *id, run_counts *out, err *e);
void run_row_fini(run_row *self);
void run_list_fini(run_list *self);

/* An entrant: what competes in a run. */
typedef struct entrant_row {
    int64_t id;
    const char *run, *name;
    const char *models; /* JSON object: stage → provider:model */
} entrant_row;
typedef struct entrant_list {
    entrant_row *rows;
    size_t count;
} entrant_list;
/* entrant_insert: row->id is ignored; *id is the new one. */
int entrant_insert(store_tx *tx, const entrant_row *row, int64_t *id, err *e);
/* entrant_list_read: entrants of a run, in the order they were declared. */
int entrant_list_read(store_tx *tx, const char *run, entrant_list *out, err *e);
void entrant_list_fini(entrant_list *self);

/* A problem as it was when the run started. */
typedef struct problem_row {
    const char *run, *id;
    int64_t position;
    const char *title, *category;
    const char *dtype;    /* of the first output */
    const char *contract; /* canonical JSON */
    hash contract_hash;
    hash prompt, reference;      /* artifacts */
    hash gold_source, gold_plan; /* artifacts; zero: none */
} problem_row;
typedef struct problem_list {
    problem_row *rows;
    size_t count;
} problem_list;
int problem_insert(store_tx *tx, const problem_row *row, err *e);
/* problem_list_read: problems of a run in suite order. */
int problem_list_read(store_tx *tx, const char *run, problem_list *out, err *e);
void problem_list_fini(problem_list *self);

#endif
