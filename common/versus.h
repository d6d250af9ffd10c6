/* versus - entrants against each other on the same problems
 *
 * Purpose:   what can be said about a difference of pass rates when every entrant met the same problems:
 *            exact McNemar test, a bootstrap that resamples problems and then samples, Holm's correction
 *            for many pairs, ranks that are shared where no difference is shown.
 * Ownership: inputs are borrowed; versus_create gives an owned result.
 * Threads:   safe. Equal input, seed included, gives equal results; neither the order of the entrants nor
 *            that of a problem's samples changes a rank or an interval.
 * Errors:    none; an undefined number is NaN.
 *
 * McNemar 1947, exact form; Holm 1979; the percentile bootstrap of Efron 1979 with clusters (problems) as
 * the first stage, p = (extreme + 1) / (resamples + 1) (Davison and Hinkley 1997, 4.11).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_VERSUS_H
#define CE_COMMON_VERSUS_H

#include <stddef.h>
#include <stdint.h>

enum { VERSUS_RESAMPLES = 10000, VERSUS_ENTRANTS_MAX = 128 };

#define VERSUS_ALPHA 0.05

/* versus_mcnemar: two-sided exact p of b problems won by one and c by the other. */
double versus_mcnemar(size_t b, size_t c);

/* versus_holm replaces the p values by Holm's adjusted ones; NaN stays and does not count. */
void versus_holm(double *p, size_t n);

/* versus_detectable: the smallest difference of two pass rates that n shared problems show with a power
 * of 80 % at 5 %, when a share `discordant` of them goes to one entrant only (normal approximation of
 * McNemar's test; at least one discordant problem is assumed). */
double versus_detectable(size_t problems, double discordant);

/* What entrants achieved: hits[entrant * problems + problem] of `samples` samples. */
typedef struct versus_input {
    const uint32_t *hits;
    size_t entrants, problems, samples;
    uint64_t seed;
} versus_input;

typedef struct versus_pair {
    double difference, low, high; /* rate of the first minus the second, 95 % */
    double p, adjusted; /* bootstrap, two-sided, at least 2^(1-m) for m problems on which the two
                                     differ; after Holm over all pairs */
} versus_pair;

typedef struct versus_rank {
    double rate;
    size_t rank;      /* 1 + entrants that are shown to be better */
    size_t low, high; /* 5 % and 95 % quantile of the rank over resamples */
} versus_rank;

typedef struct versus versus;

/* versus_create: NULL without entrants or problems. */
versus *versus_create(const versus_input *input);
void versus_destroy(versus **self);
const versus_rank *versus_ranks(const versus *self); /* one an entrant, same order */
/* versus_between: entrant a against b, a != b. */
versus_pair versus_between(const versus *self, size_t a, size_t b);

#endif
