/* gain - what further tries bring an entrant
 *
 * Purpose:   after each try, how many tasks are solved, and how fast the best correct kernel so far is. A task
 *            without a kernel that is faster than the baseline counts as 1: the reader keeps the baseline.
 * Ownership: plain values.
 * Threads:   pure.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_GAIN_H
#define CE_REPORTS_GAIN_H

#include <stddef.h>

#include "store/score.h"

/* Index k: after k + 1 tries. */
typedef struct gain {
    size_t tasks;
    size_t tries; /* the most that a task had */
    size_t timed; /* tasks with a speedup */
    size_t solved[SCORE_TRIES_MAX];
    double ln_best[SCORE_TRIES_MAX]; /* sums of ln max(1, best speedup so far) */
} gain;

/* gain_add counts a task. speedup is the published one, NaN without: a task whose tries were not timed has
 * it from its last correct try on; without it none of its times counts. */
void gain_add(gain *self, const score_tries *tries, double speedup);
double gain_share(const gain *self, size_t k); /* of solved; NaN without tasks */
double gain_best(const gain *self, size_t k);  /* geometric mean */

#endif
