/* rng - numbers that look random and are the same on every host for the same seed
 *
 * Purpose:   xoshiro256** (Blackman, Vigna 2018), its state filled by splitmix64. For statistics and
 *            dealing, where the seed is stored with the result; not for secrets.
 * Ownership: a value.
 * Threads:   one owner.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_RNG_H
#define CE_COMMON_RNG_H

#include <stdint.h>

typedef struct rng {
    uint64_t state[4];
} rng;

void rng_init(rng *self, uint64_t seed);
uint64_t rng_next(rng *self);
/* rng_below: uniform in [0, n), n >= 1. */
uint32_t rng_below(rng *self, uint32_t n);
/* rng_unit: uniform in [0, 1). */
double rng_unit(rng *self);

#endif
