/* score - every task of a run with what it used, one after the other
 *
 * Purpose:   what reports add up: a million tasks are read in one pass, and none is kept. Tasks come by
 *            problem as the suite has them, then by entrant as declared, then by sample.
 * Ownership: rows are lent to the callback until it returns.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says; what the callback says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_SCORE_H
#define CE_STORE_SCORE_H

#include "store/call.h"
#include "store/charge.h"
#include "store/store.h"
#include "store/task.h"

/* What the model tried for a task, in order. A try for which several rows stand (compiled, checked, timed)
 * is one; polish tries nothing new. Its speed comes from its comparisons and from what the task's lineage says of
 * its number. */
enum { SCORE_TRIES_MAX = 16 };
typedef struct score_try {
    bool correct;   /* it passed the check */
    double speedup; /* the largest that it was given; NaN: none */
} score_try;
typedef struct score_tries {
    score_try rows[SCORE_TRIES_MAX]; /* of more, the first */
    size_t count;
} score_tries;

/* A task of kind synthesize. usage->task is NULL: it is this one's. Of `task`, run, kind, spec, token,
 * finished_ms and the long texts (store/detail.h) are not read. */
typedef struct score_row {
    const task_row *task;
    const usage_row *usage;
    double margin; /* of the comparison that the verdict comes from; NaN: there is none */
    const score_tries *tries;
} score_row;
typedef int score_fn(void *arg, const score_row *row, err *e);

/* A model that answered for an entrant in a stage: as it was asked for, and as its provider named it. */
typedef struct snapshot_row {
    int64_t entrant; /* entrant_row.id */
    const char *stage, *provider, *model;
    const char *served; /* NULL: the provider did not say */
    int64_t calls;
} snapshot_row;
typedef struct snapshot_list {
    snapshot_row *rows;
    size_t count;
} snapshot_list;

/* What the tasks of a run add up to: spend as spend_list_read gives it, snapshots by entrant as declared, then
 * by stage, provider, model and name. */
typedef struct score_sums {
    spend_list spend;
    snapshot_list snapshots;
} score_sums;
void score_sums_fini(score_sums *self);

/* score_each: *sums is the caller's. */
int score_each(store_tx *tx, const char *run, score_fn *fn, void *arg, score_sums *sums, err *e);

#endif
