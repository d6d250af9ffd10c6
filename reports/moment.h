/* moment - how a run is going right now, for who looks again and again
 *
 * Purpose:   the facts behind a screen: counts, spend, pace, the tasks that run and wait, the nodes, and
 *            whether a coordinator works on the database at all. One consistent snapshot.
 * Ownership: moment_read fills a value that moment_fini releases.
 * Threads:   as store_run.
 * Errors:    ERR_NOT_FOUND for an unknown run, or when there is none yet; else as the store says. A failure
 *            leaves nothing to release.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_MOMENT_H
#define CE_REPORTS_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "store/charge.h"
#include "store/live.h"
#include "store/run.h"

typedef struct moment {
    int64_t now_ms;      /* wall clock */
    int64_t attended_ms; /* since when a coordinator has the database open; 0: none has */
    run_row run;
    live_tally tally;
    spend_row spend; /* its numbers, over the whole run */
    live_pace pace;
    live_task_list running, waiting; /* the first ones; the tally says how many there are */
    live_node_list nodes;
} moment;

/* moment_read: run is an id or a unique prefix; NULL is the one that a task was handed out of last, else
 * the newest. */
int moment_read(store *db, const char *run, int64_t now_ms, moment *out, err *e);
void moment_fini(moment *self);

/* moment_over: nothing more will come of the run unless somebody resumes it. */
bool moment_over(const moment *self);
/* moment_left_ms: until the last task is done, at the pace of the newest results; -1: not known. */
int64_t moment_left_ms(const moment *self);
/* moment_is_up: the node has joined the coordinator that there is now. One that an earlier coordinator left as up
 * may still run, or not. */
bool moment_is_up(const moment *self, const live_node *node);

#endif
