/* straggler - tasks that run much longer than their peers did
 *
 * Purpose:   names what a run may be waiting for. The rule is that of Spark's speculative execution, with a
 *            larger factor as models' answers vary: a task is a straggler when it has run for more than
 *            STRAGGLER_TIMES the median of the finished tasks of its kind in its run, once there are
 *            STRAGGLER_PEERS of those, and for STRAGGLER_MIN_MS at least. A time is that of the task's newest
 *            lease: what an earlier one took is not counted. Nothing is started twice for it.
 * Ownership: straggler_find fills a list that straggler_list_fini releases.
 * Threads:   as store_run.
 * Errors:    as the store says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_STRAGGLER_H
#define CE_REPORTS_STRAGGLER_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { STRAGGLER_TIMES = 3, STRAGGLER_PEERS = 5, STRAGGLER_MIN_MS = 60 * 1000 };

typedef struct straggler {
    char *task;
    int64_t ran_ms, median_ms;
} straggler;
typedef struct straggler_list {
    straggler *rows;
    size_t count;
} straggler_list;

/* straggler_find: now_ms is the wall clock, as the store's times are. */
int straggler_find(store_tx *tx, const char *run, int64_t now_ms, straggler_list *out, err *e);
void straggler_list_fini(straggler_list *self);

#endif
