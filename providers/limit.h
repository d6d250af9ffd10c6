/* limit - how many calls at a time a provider takes
 *
 * Purpose:   one limit per (provider, address, key, model), shared by all tasks of a node: concurrency
 *            falls by half when the provider complains and grows by one a round of successes; a wait
 *            that the provider asks for holds for everybody; a used-up quota closes the door for all.
 * Ownership: limits live as long as their table; limit_of lends.
 * Threads:   safe. limit_enter blocks its caller only.
 * Errors:    ERR_CONFLICT when cancelled, ERR_LIMIT when the wait is too long, the closing fault's error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_LIMIT_H
#define CE_PROVIDERS_LIMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "providers/fault.h"
#include "providers/hint.h"

enum {
    LIMIT_FIRST = 8,
    LIMIT_MOST = 64,
    LIMIT_HOLD_MAX_MS = 60 * 1000, /* whoever would have to wait longer is told so at once */
    LIMIT_CLOSED_MS = 15 * 60 * 1000
};

/* ---- the arithmetic, with time as a parameter ---- */

typedef struct limit_state {
    double allowed; /* calls at a time, 1 … LIMIT_MOST */
    int64_t running;
    int64_t not_before; /* no call starts before this moment */
    int64_t shrunk_ms;  /* when `allowed` was last cut: one complaint of a burst counts */
    int64_t closed_ms;  /* until when every call fails at once; 0: open */
    fault closed;
} limit_state;

void limit_state_init(limit_state *self);
/* limit_state_wait: 0 = a call may start now; > 0 ms until it is worth looking again. */
int64_t limit_state_wait(const limit_state *self, int64_t now_ms);
/* limit_state_learn takes what a call that began at begun_ms showed. */
void limit_state_learn(limit_state *self, const fault *how, const hint *told, int64_t begun_ms,
                       int64_t now_ms);

/* ---- shared between threads ---- */

typedef struct limit limit;
typedef struct limit_table limit_table;

limit_table *limit_table_create(void);
void limit_table_destroy(limit_table **self);
/* limit_of finds or makes the limit of a key. */
limit *limit_of(limit_table *self, const char *key);

/* limit_enter waits for room, at most until deadline_ms (monotonic). */
int limit_enter(limit *self, const atomic_bool *cancelled, int64_t deadline_ms, err *e);
/* limit_leave gives the room back and learns; how->class FAULT_NONE: it went well. */
void limit_leave(limit *self, const fault *how, const hint *told, int64_t begun_ms);

#endif
