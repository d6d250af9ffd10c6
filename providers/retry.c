/* retry - when to ask a provider again
 *
 * SPDX-License-Identifier: MIT */
#include "providers/retry.h"

void retry_init(retry *self, const retry_rules *rules, int64_t now_ms)
{
    *self = (retry){.rules = rules, .start_ms = now_ms};
}

/* Full jitter under a bound that doubles; the cap bounds it. */
static int64_t backoff(const retry *self, double random)
{
    int64_t bound = self->rules->base_ms;
    for (int i = 1; i < self->failures && bound < self->rules->cap_ms; i++) {
        bound *= 2;
    }
    bound = bound < self->rules->cap_ms ? bound : self->rules->cap_ms;
    return (int64_t)((double)bound * random);
}

bool retry_next(retry *self, const fault *why, int64_t now_ms, double random, int64_t *wait_ms)
{
    const retry_rules *rules = self->rules;
    self->failures++;
    self->billed += why->billed;
    if (!fault_may_retry(why) || self->failures >= rules->attempts ||
        self->billed > rules->billed_retries || why->wait_ms > rules->cap_ms) {
        return false;
    }
    int64_t wait = backoff(self, random);
    wait = why->wait_ms > wait ? why->wait_ms : wait;
    if (now_ms - self->start_ms + wait > rules->elapsed_ms) {
        return false;
    }
    *wait_ms = wait;
    return true;
}
