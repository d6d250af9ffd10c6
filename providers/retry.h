/* retry - when to ask a provider again
 *
 * Purpose:   the one retry layer: attempts and time have limits, waits grow with jitter, the provider's
 *            own hint counts up to a cap, and what may have been billed is asked again once at most.
 * Ownership: plain values; time and randomness are parameters.
 * Threads:   one owner.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_RETRY_H
#define CE_PROVIDERS_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/fault.h"

typedef struct retry_rules {
    int attempts;       /* calls in all */
    int billed_retries; /* calls again after one that may have been billed */
    int64_t elapsed_ms; /* no new call after this */
    int64_t base_ms;    /* the first wait is at most this, then twice as much, … */
    int64_t cap_ms;     /* … up to this; a provider that asks for more is not waited for */
} retry_rules;

typedef struct retry {
    const retry_rules *rules;
    int64_t start_ms;
    int failures, billed;
} retry;

void retry_init(retry *self, const retry_rules *rules, int64_t now_ms);
/* retry_next counts a failure. True: ask again after *wait_ms. random is in [0, 1). */
bool retry_next(retry *self, const fault *why, int64_t now_ms, double random, int64_t *wait_ms);

#endif
