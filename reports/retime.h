/* retime - a comparison in pairs, computed again from its raw blocks
 *
 * Purpose:   from every sample of a comparison (ce-timing-1) to its medians, interval and verdict.
 * Ownership: borrows.
 * Threads:   pure.
 * Errors:    false for a text that holds no pairs of that form.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_RETIME_H
#define CE_REPORTS_RETIME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/json.h"
#include "common/paired.h"

typedef struct retime {
    size_t pairs, voids;
    double candidate_ms, baseline_ms; /* medians over the blocks that count */
    double speedup, low, high;        /* NaN: too few pairs */
    paired_verdict verdict;           /* by the interval alone */
} retime;

bool retime_read(const json *raw, retime *out);

#endif
