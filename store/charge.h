/* charge - what paid calls may cost: registered before they are sent, settled after
 *
 * Purpose:   rows of table charge. A call that a kill cut in flight is there, is made `unknown` when its
 *            lease ends, and counts at its worst case: two attempts, as one may be billed without an
 *            answer before the other.
 * Ownership: writing borrows; reading gives text that the list owns (charge_list_fini).
 * Threads:   inside a job (store.h).
 * Errors:    charge_open: ERR_CONFLICT for an older token. Settling what is not open changes nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_CHARGE_H
#define CE_STORE_CHARGE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { CHARGE_BILLS_MAX = 2 }; /* attempts of one call that can be billed */

typedef enum charge_state {
    CHARGE_OPEN,     /* sent, or about to be */
    CHARGE_ANSWERED, /* there is a model_call row */
    CHARGE_FAILED,   /* no answer came */
    CHARGE_UNKNOWN   /* its node or the coordinator died first */
} charge_state;
const char *charge_state_name(charge_state state);

typedef struct charge_row {
    const char *stage;
    int64_t number, token;
    const char *provider, *model;
    double worst_usd; /* of one attempt; NaN: no price is known */
    /* The rest is the store's: ignored by charge_open. */
    charge_state state;
    double known_usd, unknown_usd; /* NaN: unknown */
    int64_t unknown_bills;
    int64_t sent_ms, settled_ms;
} charge_row;
typedef struct charge_list {
    charge_row *rows;
    size_t count;
} charge_list;

/* Names one charge. */
typedef struct charge_key {
    const char *task;
    const char *stage;
    int64_t number, token;
} charge_key;

/* charge_open registers row->stage, number, token, provider, model, worst_usd. Asking again for one that is
 * open changes nothing: the first answer was lost. */
int charge_open(store_tx *tx, const char *task, const charge_row *row, int64_t now_ms, err *e);
/* charge_answer and charge_fail settle an open charge. usd NaN: the cost of the answer is unknown, it
 * counts as one attempt at its worst. unknown_bills: other attempts that may have been billed. */
int charge_answer(store_tx *tx, const charge_key *key, double usd, int64_t unknown_bills,
                  int64_t now_ms, err *e);
int charge_fail(store_tx *tx, const charge_key *key, int64_t unknown_bills, int64_t now_ms, err *e);
/* charge_abandon makes what a lease left open unknown; charge_recover what a dead coordinator left. */
int charge_abandon(store_tx *tx, const char *task, int64_t token, int64_t now_ms, err *e);
/* charge_reopen: the lease goes on after all, so its calls may still be answered. */
int charge_reopen(store_tx *tx, const char *task, int64_t token, err *e);
int charge_recover(store_tx *tx, const char *run, int64_t now_ms, err *e);

/* What a run's calls count for, all charges together. */
typedef struct charge_sum {
    double usd;       /* known + unknown */
    int64_t unknown;  /* calls cut in flight */
    int64_t unpriced; /* settled charges that count for an unknown amount */
} charge_sum;
int charge_sum_read(store_tx *tx, const char *run, charge_sum *out, err *e);
/* What an entrant's calls in a stage cost. */
typedef struct spend_row {
    int64_t entrant; /* entrant_row.id */
    const char *stage, *provider;
    int64_t calls, cost_unknown; /* recorded; of them, of unknown cost */
    int64_t tokens_in, tokens_cache_read, tokens_cache_write,
        tokens_out;              /* what was told of them */
    double cost_usd, latency_ms; /* sums */
    int64_t unknown_calls;       /* cut in flight */
    double unknown_usd;          /* what may have been billed beside cost_usd, at its worst */
} spend_row;
typedef struct spend_list {
    spend_row *rows;
    size_t count;
} spend_list;
/* spend_list_read: by entrant as declared, then by stage name and provider. */
int spend_list_read(store_tx *tx, const char *run, spend_list *out, err *e);
void spend_list_fini(spend_list *self);

/* charge_list_read: charges of a task by the time they were sent. */
int charge_list_read(store_tx *tx, const char *task, charge_list *out, err *e);
void charge_list_fini(charge_list *self);

#endif
