/* reach - which tasks a connected node could run, and why the others wait
 *
 * Purpose:   what a task needs (common/need.h) against what the connected nodes have. Where nodes can still
 *            join, a task that fits none waits, and goes nowhere else; where none can, it goes to whom there
 *            is, which says why it cannot run it.
 * Ownership: acts on a coord.
 * Threads:   the loop's.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_REACH_H
#define CE_COORDINATOR_REACH_H

#include "common/buf.h"
#include "coordinator/coord.h"

enum { REACH_TEXT = 2 * NEED_TEXT }; /* the most that reach_why writes */

/* reach_refresh brings the scheduler up to date when nodes have come, gone or stopped taking tasks; what is
 * newly out of reach is logged. */
void reach_refresh(coord *c);
/* reach_want: what the node must be that gets a task with the need of that number (sched_need_at). */
nodes_want reach_want(const coord *c, size_t number);
/* reach_why writes why tasks with it wait: "5 tasks wait: needs 81.2 GiB of device memory; the largest
 * device has 79.1 GiB". False when none does for want of a device. */
bool reach_why(const coord *c, size_t number, buf *out);

#endif
