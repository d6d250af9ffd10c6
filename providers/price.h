/* price - what a model's tokens cost
 *
 * Purpose:   the dated table of prices.json (linked in), and the cost of one call from disjoint token
 *            buckets. A model, a date or a bucket without a price gives no cost, never 0.
 * Ownership: borrowed constants.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_PRICE_H
#define CE_PROVIDERS_PRICE_H

#include <stdbool.h>
#include <stdint.h>

/* USD a million tokens; NaN: not known. */
typedef struct price {
    double in, out, cache_read, cache_write;
} price;

typedef struct price_tokens {
    int64_t in, out, cache_read, cache_write; /* disjoint; -1: not told */
} price_tokens;

/* price_find: the price of a model (an id, or an id with a snapshot date after it) on a day.
 * prompt_tokens: all input of the request; long prompts may cost more. */
bool price_find(const char *provider, const char *model, int64_t wall_ms, int64_t prompt_tokens,
                price *out);
/* price_cost is in USD; NaN when in or out is not told or a bucket that was used has no price. */
double price_cost(const price *self, const price_tokens *used);
/* price_of_call is both; NaN when there is no price. */
double price_of_call(const char *provider, const char *model, int64_t wall_ms,
                     const price_tokens *used);
/* price_worst is what one attempt can cost at most: every input token at its dearest, the whole output cap,
 * at the dearest of today's price and that of PRICE_LATER_MS later. NaN when there is no price. */
enum { PRICE_LATER_MS = 2 * 60 * 60 * 1000 }; /* longer than any call with its retries */
double price_worst(const char *provider, const char *model, int64_t wall_ms, int64_t input_max,
                   int64_t output_max);
/* price_as_of is the day on which the table was made: "2026-11-30". */
const char *price_as_of(void);

#endif
