/* stats - the statistics that reports and timing print
 *
 * SPDX-License-Identifier: MIT */
#include "common/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/scoped.h"
#include "common/xalloc.h"

static const double Z95 = 1.959963984540054; /* 0.975 quantile of the normal distribution */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool any_nan(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

void stats_sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
}

double stats_median(const double *values, size_t n)
{
    return stats_quantile(values, n, 0.5);
}

double stats_quantile(const double *values, size_t n, double q)
{
    if (n == 0 || !(q >= 0 && q <= 1) || any_nan(values, n))
        return (double)NAN;
    SCOPED(scoped_free) double *sorted = xmemdup(values, n * sizeof *values);
    stats_sort(sorted, n);
    double place = (double)(n - 1) * q;
    size_t low = (size_t)floor(place);
    if (low + 1 >= n)
        return sorted[n - 1];
    double part = place - (double)low;
    if (part == 0)
        return sorted[low]; /* an infinite neighbour must not make 0 × ∞ */
    return sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

double stats_geomean(const double *values, size_t n)
{
    if (n == 0)
        return (double)NAN;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0))
            return (double)NAN;
        sum += log(values[i]);
    }
    return exp(sum / (double)n);
}

void stats_wilson(size_t k, size_t n, double *low, double *high)
{
    *low = (double)NAN;
    *high = (double)NAN;
    if (n == 0 || k > n)
        return;
    double count = (double)n;
    double p = (double)k / count;
    double z2 = Z95 * Z95;
    double centre = (p + z2 / (2 * count)) / (1 + z2 / count);
    double half = Z95 / (1 + z2 / count) * sqrt(p * (1 - p) / count + z2 / (4 * count * count));
    *low = k == 0 ? 0 : centre - half; /* exact ends, free of rounding */
    *high = k == n ? 1 : centre + half;
}

double stats_pass_at_k(size_t n, size_t c, size_t k)
{
    if (k == 0 || n < k || c > n)
        return (double)NAN;
    if (n - c < k)
        return 1;
    double none = 1;
    for (size_t i = n - c + 1; i <= n; i++)
        none *= 1 - (double)k / (double)i;
    return 1 - none;
}
