/* ledger - one task's account with the coordinator
 *
 * Purpose:   everything a task thread says carries the task's id and fencing token; nothing is used
 *            before it is committed. Blobs go and come by content hash through the node's cache. A stage
 *            record is sent and settled by the next commit, so that the coordinator's disk and the next
 *            stage work at the same time; a result is told after every stage record is settled.
 *            What is said is in the spool before it is sent, where there is one.
 * Ownership: borrows the session and the blob store, owns its spool; ledger_fini drops a record under way.
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
#include "agent-node/spool.h"
#include "common/buf.h"
#include "common/hash.h"
#include "wire/blob.h"
#include "wire/record.h"

enum { LEDGER_TASK_MAX = 33 };

typedef struct ledger {
    session *session; /* NULL: nobody is told, as in a self-test by itself */
    blob_store *blobs;
    char task[LEDGER_TASK_MAX];
    int64_t token;
    const atomic_bool *cancelled; /* the task must stop */
    const atomic_bool *leaving;   /* it goes back when a stage has ended */
    session_ticket *stage;        /* the stage record under way, or NULL */
    spool *spool;                 /* NULL: what is not acknowledged is in memory only */
} ledger;
void ledger_fini(ledger *self);

/* ledger_check fails with ERR_CONFLICT once the task is cancelled; stages call it between steps. */
int ledger_check(const ledger *self, err *e);

/* ledger_begin is ledger_check before a stage: a node that leaves begins none (ERR_UNAVAILABLE). */
int ledger_begin(const ledger *self, err *e);

/* ledger_put stores a blob here and sends it (without a session: here only); *out is its hash. */
int ledger_put(const ledger *self, const void *data, size_t size, hash *out, err *e);
int ledger_put_text(const ledger *self, const char *text, hash *out, err *e);
/* ledger_get appends a blob to out, from the cache or the coordinator. ERR_NOT_FOUND names it. */
int ledger_get(const ledger *self, const hash *name, buf *out, err *e);
/* ledger_get_text is a blob as fresh NUL-terminated text. */
char *ledger_get_text(const ledger *self, const hash *name, err *e);

/* A paid call is registered before it is sent. ledger_reserve: *wait_ms 0 = it is, send it; else ask again
 * after that time. ERR_LIMIT: not in this run any more (the budget, a provider that is closed). */
typedef struct ledger_call_name {
    const char *stage;
    int64_t index;
} ledger_call_name;
typedef struct ledger_offer {
    ledger_call_name call;
    const char *provider, *model;
    int64_t prompt_bytes, output_max;
} ledger_offer;
/* *patient: whether to try again when the provider says "too fast". */
int ledger_reserve(const ledger *self, const ledger_offer *offer, int64_t *wait_ms, bool *patient,
                   err *e);
/* ledger_settle: a registered call brought no answer. Returns once that is committed. */
typedef struct ledger_failure {
    ledger_call_name call;
    const char *provider, *model;
    int64_t attempts, unknown_bills, hold_ms;
    bool terminal, throttled;
    const char *text;
} ledger_failure;
int ledger_settle(const ledger *self, const ledger_failure *how, err *e);

void ledger_progress(const ledger *self, const char *stage);
/* These return once the coordinator has committed the record and the stage record before it. */
int ledger_call(ledger *self, const call_record *record, err *e);
int ledger_result(ledger *self, const result_record *record, err *e);
/* ledger_stage returns once the stage record before this one is committed: this one's failure is the
 * next commit's. */
int ledger_stage(ledger *self, const stage_record *record, err *e);
/* ledger_give_back waits for a record under way, but does not care what became of it. */
int ledger_give_back(ledger *self, const err *why, err *e);

/* ledger_baseline_get: *found false = there is none. */
int ledger_baseline_get(const ledger *self, const hash *key, bool *found, baseline_record *out,
                        err *e);
int ledger_baseline_put(const ledger *self, const hash *key, const baseline_record *record, err *e);

#endif
