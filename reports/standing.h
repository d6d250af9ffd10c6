/* standing - what is shown about entrants against each other, over the problems that they share
 *
 * Purpose:   of every pair: who solved what the other did not (exact McNemar test), the difference of
 *            their pass rates with an interval (common/versus.h) and the ratio of their speeds with one
 *            (Hodges-Lehmann over problems). Holm's correction over the pairs.
 * Ownership: standing_create gives an owned object; it keeps nothing of its input.
 * Threads:   pure.
 * Errors:    none; an undefined number is NaN.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_STANDING_H
#define CE_REPORTS_STANDING_H

#include <stddef.h>
#include <stdint.h>

#include "common/versus.h"

/* What entrants did at [entrant * problems + problem]: how many of the samples were correct and how many are
 * certified wins, and the median speedup of the correct ones, NaN without one. */
typedef struct standing_input {
    const uint32_t *correct, *certified;
    const double *speedup;
    size_t entrants, problems, samples;
} standing_input;

typedef struct standing_pair {
    size_t only_first,
        only_second;  /* problems that one solved (any sample) and the other did not */
    double mcnemar;   /* p, adjusted */
    versus_pair rate; /* difference of the pass rates */
    versus_pair wins; /* difference of the shares of certified wins */
    size_t both;      /* problems where both have a speed */
    double ratio, ratio_low,
        ratio_high; /* first / second, 95 %; the interval is NaN for both < 6 */
} standing_pair;

typedef struct standing standing;

/* standing_create: at least one entrant, problem and sample, and at most VERSUS_ENTRANTS_MAX entrants. */
standing *standing_create(const standing_input *input);
void standing_destroy(standing **self);

/* standing_between: a < b. */
const standing_pair *standing_between(const standing *self, size_t a, size_t b);
/* standing_rank of an entrant by pass rate. */
const versus_rank *standing_rank(const standing *self, size_t entrant);
/* standing_detectable: the smallest difference of pass rates that these problems show with a power of
 * 80 %, at the largest share of discordant problems seen in a pair. */
double standing_detectable(const standing *self);

#endif
