/* calm - do the last medians of a warm-up still move?
 *
 * Purpose:   the median of a few samples, and whether the older and the newer half of the last medians
 *            differ by less than 2 %.
 * Ownership: the caller's arrays.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_CALM_H
#define CE_AGENT_NODE_RUNNER_TIMING_CALM_H

#include <stdbool.h>

enum { CALM_MEDIANS = 10 };

/* calm_middle is the median of n values, which it sorts. */
double calm_middle(double *values, int n);
/* calm_reached: median number i of `count` is in medians[i % CALM_MEDIANS]. */
bool calm_reached(const double medians[CALM_MEDIANS], int count);

#endif
