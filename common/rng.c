/* rng - see rng.h.
 *
 * SPDX-License-Identifier: MIT */
#include "common/rng.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void rng_init(rng *self, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        self->state[i] = splitmix(&seed);
}

static uint64_t rotated(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

uint64_t rng_next(rng *self)
{
    uint64_t *s = self->state;
    uint64_t result = rotated(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return result;
}

/* Scaled instead of divided (Lemire 2019); the few values that would favour small results are skipped. */
uint32_t rng_below(rng *self, uint32_t n)
{
    for (;;) {
        uint64_t scaled = (rng_next(self) >> 32) * n;
        uint32_t rest = (uint32_t)scaled;
        if (rest >= n || rest >= (0 - n) % n)
            return (uint32_t)(scaled >> 32);
    }
}

double rng_unit(rng *self)
{
    return (double)(rng_next(self) >> 11) * 0x1p-53;
}
