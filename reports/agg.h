/* agg - what an entrant's tasks add up to
 *
 * Purpose:   counts, shares and statistics over the declared denominator: N = problems × samples. A
 *            speedup that is missing is left out of medians and means and never counts as a gain; those of
 *            the GEMM track have a mean of their own.
 * Ownership: agg_list_create gives an owned list, one agg an entrant of the board, same order.
 * Threads:   pure.
 * Errors:    none; an undefined number is NaN.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_AGG_H
#define CE_REPORTS_AGG_H

#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "reports/board.h"

enum { AGG_THRESHOLDS = 6, AGG_FAILURES_MAX = 64 };

/* The p of fast_p: 0, 0.5, 1, 1.5, 2, 4. */
extern const double agg_thresholds[AGG_THRESHOLDS];

/* How often an outcome other than ok was decided in a stage. */
typedef struct agg_failure {
    outcome result;
    const char *stage; /* "" when no stage decided */
    size_t count;
} agg_failure;

typedef struct agg {
    size_t declared; /* N */
    size_t scored, correct;
    double correct_low, correct_high; /* Wilson 95 % of correct in N */
    size_t fast[AGG_THRESHOLDS];      /* correct and speedup > p, strict */
    size_t measured; /* correct with a speedup, without the GEMM track: the set of the next five */
    double median, p25, p75, geomean;
    size_t losses;        /* speedup < 1 */
    size_t gemm_measured; /* correct with a speedup, in the GEMM track: the set of the next */
    double gemm_geomean;
    agg_failure failures[AGG_FAILURES_MAX];
    size_t failure_count;
    int64_t attempts, calls, cost_unknown, tokens_unknown;
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd, wall_ms, device_ms;
    int64_t unknown_calls; /* cut in flight */
    double unknown_usd;    /* may have been billed beside cost_usd, at its worst */
} agg;

typedef struct agg_list {
    agg *rows;
    size_t count;
    size_t *order; /* indices: most correct first, then geomean, then as declared */
} agg_list;

agg_list *agg_list_create(const board *b);
void agg_list_destroy(agg_list **self);

#endif
