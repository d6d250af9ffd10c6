/* leftovers - what an earlier process of this node could not tell its coordinator
 *
 * Purpose:   finds the files of a spool, and tells the coordinator what stands in them: the task is claimed,
 *            its blobs and records go out in their order, and a task without a result is given back, so that
 *            any node goes on behind the last recorded answer.
 * Ownership: borrows the session while leftovers_tell runs.
 * Threads:   leftovers_tell waits for answers: on a thread of its own.
 * Errors:    a file that cannot be read is logged and left. What the coordinator refuses it has kept for
 *            audit: such a file is removed, too.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_LEFTOVERS_H
#define CE_AGENT_NODE_LEFTOVERS_H

#include "agent-node/session.h"

typedef struct leftovers leftovers;

/* leftovers_find looks into the folder, and makes it where it is missing. Files without a record go. */
leftovers *leftovers_find(const char *folder, err *e);
void leftovers_destroy(leftovers **self);
size_t leftovers_count(const leftovers *self);
/* leftovers_tell ends early, keeping the files that are left, when the session ends. */
void leftovers_tell(leftovers *self, session *to);

#endif
