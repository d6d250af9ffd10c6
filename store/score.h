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

/* A task of kind synthesize. usage->task is NULL: it is this one's. Of `task`, run, kind, spec, token and
 * finished_ms are not read. */
typedef int score_fn(void *arg, const task_row *task, const usage_row *usage, err *e);

/* score_each: *spend (owned by the caller: spend_list_fini) gets what spend_list_read gives. */
int score_each(store_tx *tx, const char *run, score_fn *fn, void *arg, spend_list *spend, err *e);

#endif
