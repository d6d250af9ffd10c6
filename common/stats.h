/* stats - the statistics that reports and timing print
 *
 * Purpose:   median, quantile, geometric mean, Wilson interval, pass@k. Units are the caller's.
 * Ownership: inputs are borrowed and, but for stats_sort's, not changed.
 * Threads:   safe.
 * Errors:    an undefined value (n = 0, a non-positive factor) is NaN, which writers turn into NULL.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_STATS_H
#define CE_COMMON_STATS_H

#include <stddef.h>

/* stats_sort: ascending; no value may be NaN. */
void stats_sort(double *values, size_t n);
double stats_median(const double *values, size_t n);
/* stats_quantile: Hyndman & Fan (1996) type 7, q in [0,1]. */
double stats_quantile(const double *values, size_t n, double q);
double stats_geomean(const double *values, size_t n);
/* stats_wilson: score interval of k successes in n at 95 % (Wilson 1927). */
void stats_wilson(size_t k, size_t n, double *low, double *high);
/* stats_pass_at_k: chance that k of n samples, c of them good, hold a good one, without bias (Chen et al.
 * 2021): 1 - prod over i = n-c+1 … n of (1 - k/i). Undefined for n < k, k = 0 and c > n. */
double stats_pass_at_k(size_t n, size_t c, size_t k);

#endif
