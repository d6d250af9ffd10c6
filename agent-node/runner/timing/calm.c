/* calm - see calm.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/calm.h"

#include <math.h>
#include <stdlib.h>

static const double settled = 0.02; /* the last medians move by less */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double calm_middle(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

bool calm_reached(const double medians[CALM_MEDIANS], int count)
{
    if (count < CALM_MEDIANS)
        return false;
    double halves[2] = {0, 0};
    for (int i = 0; i < CALM_MEDIANS; i++)
        halves[i < CALM_MEDIANS / 2] += medians[(count - 1 - i) % CALM_MEDIANS];
    return fabs(halves[0] - halves[1]) <= settled * halves[0];
}
