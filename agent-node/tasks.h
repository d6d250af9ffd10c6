/* tasks - the tasks a node is working on, one thread each
 *
 * Purpose:   starts a thread for each lease, tells the coordinator how it ended, cancels.
 * Ownership: tasks_destroy cancels all and joins them.
 * Threads:   tasks_lease and tasks_cancel on the loop thread; they do not block.
 * Errors:    none to the caller: what goes wrong with a task is told to the coordinator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_TASKS_H
#define CE_AGENT_NODE_TASKS_H

#include "agent-node/pipeline.h"
#include "wire/calibration.h"
#include "wire/message.h"

typedef struct tasks tasks;

/* tasks_create: parts are borrowed. */
tasks *tasks_create(const node_parts *parts, int64_t slots);
void tasks_destroy(tasks **self);
/* tasks_lease starts a task; takes the lease's body. */
/* tasks_claim tells the coordinator which tasks are here (session_claim). For the loop thread. */
void tasks_claim(tasks *self);
/* tasks_drain: no further task is taken (messages.def says how those that run end), and the session ends
 * when none is left. A later call may be sharper than an earlier one. For the loop thread. */
void tasks_drain(tasks *self, int how);
void tasks_lease(tasks *self, message *lease);
/* tasks_measure starts a self-test of every card and tells the coordinator; takes the message's body. */
void tasks_measure(tasks *self, message *m);
/* tasks_tell_selftest sends a record and waits for what the coordinator says of it; *text is fresh. */
int tasks_tell_selftest(session *to, const calibration_record *record, bool *passed, char **text,
                        err *e);
/* tasks_cancel: NULL cancels every task. */
void tasks_cancel(tasks *self, const char *name);

#endif
