/* call - model calls: an answer is committed before anything uses it
 *
 * Purpose:   rows of table model_call; what they cost.
 * Ownership: writing borrows; reading gives text that the list owns (call_list_fini).
 * Threads:   inside a job (store.h).
 * Errors:    ERR_CONFLICT for an older token (with a `late` event) or another answer under the same
 *            key; the same answer again is accepted without a second row.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_CALL_H
#define CE_STORE_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

/* wire/record.h's call_record, and the name in what the provider told. Counts: -1 = the provider did not say. */
typedef struct call_row {
    const char *stage;
    int64_t number; /* within the stage, from 0 */
    const char *provider, *model;
    const char
        *served; /* the model that answered, as the provider names it; NULL: it did not say */
    hash prompt, answer; /* artifacts; zero: none */
    const char *stop;
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd; /* NaN: unknown */
    double latency_ms;
    const char *reason;    /* why there is no answer, or NULL */
    int64_t unknown_bills; /* writing only: attempts without an answer that may have been billed */
    hash record;           /* artifact: the whole record as JSON */
    /* reading only */
    int64_t token, recorded_ms;
} call_row;
typedef struct call_list {
    call_row *rows;
    size_t count;
} call_list;

int call_put(store_tx *tx, const char *task, int64_t token, const call_row *row, int64_t now_ms,
             err *e);
/* call_list_read: calls of a task by time of recording; stage NULL = all. */
int call_list_read(store_tx *tx, const char *task, const char *stage, call_list *out, err *e);
void call_list_fini(call_list *self);

/* What a task has used so far. Sums leave unknown values out and count the calls that have them. */
typedef struct usage_row {
    const char *task;
    int64_t attempts, calls, cost_unknown, tokens_unknown;
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd, latency_ms;
    int64_t unknown_calls; /* cut in flight: no answer is recorded */
    double unknown_usd;    /* what may have been billed beside cost_usd, at its worst */
} usage_row;
typedef struct usage_list {
    usage_row *rows;
    size_t count;
} usage_list;
/* What all recorded calls of a run cost. */
typedef struct usage_sum {
    int64_t calls, cost_unknown;
    double cost_usd;
} usage_sum;
int usage_sum_read(store_tx *tx, const char *run, usage_sum *out, err *e);
/* usage_list_read: all tasks of a run, in the order of task_list_read with kind `synthesize`. */
int usage_list_read(store_tx *tx, const char *run, usage_list *out, err *e);
void usage_list_fini(usage_list *self);

#endif
