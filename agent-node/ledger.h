/* ledger - one task's account with the coordinator
 *
 * Purpose:   everything a task thread says carries the task's id and fencing token; nothing is used
 *            before it is committed. Blobs go and come by content hash through the node's cache.
 * Ownership: borrows the session and the blob store.
 * Threads:   one task thread.
 * Errors:    ERR_CONFLICT: the lease is not ours any more: drop the task, say nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_LEDGER_H
#define CE_AGENT_NODE_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent-node/session.h"
#include "common/buf.h"
#include "common/hash.h"
#include "wire/blob.h"
#include "wire/record.h"

enum { LEDGER_TASK_MAX = 33 };

typedef struct ledger {
    session *session;
    blob_store *blobs;
    char task[LEDGER_TASK_MAX];
    int64_t token;
    const atomic_bool *cancelled; /* the task must stop */
} ledger;

/* ledger_check fails with ERR_CONFLICT once the task is cancelled; stages call it between steps. */
int ledger_check(const ledger *self, err *e);

/* ledger_put stores a blob here and sends it; *out is its hash. */
int ledger_put(const ledger *self, const void *data, size_t size, hash *out, err *e);
int ledger_put_text(const ledger *self, const char *text, hash *out, err *e);
/* ledger_get appends a blob to out, from the cache or the coordinator. ERR_NOT_FOUND names it. */
int ledger_get(const ledger *self, const hash *name, buf *out, err *e);
/* ledger_get_text is a blob as fresh NUL-terminated text. */
char *ledger_get_text(const ledger *self, const hash *name, err *e);

void ledger_progress(const ledger *self, const char *stage);
/* These return once the coordinator has committed. */
int ledger_call(const ledger *self, const call_record *record, err *e);
int ledger_stage(const ledger *self, const stage_record *record, err *e);
int ledger_result(const ledger *self, const result_record *record, err *e);
int ledger_give_back(const ledger *self, const err *why, err *e);

/* ledger_baseline_get: *found false = there is none. */
int ledger_baseline_get(const ledger *self, const hash *key, bool *found, baseline_record *out,
                        err *e);
int ledger_baseline_put(const ledger *self, const hash *key, const baseline_record *record, err *e);

#endif
