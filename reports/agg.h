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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "reports/board.h"

enum { AGG_THRESHOLDS = 6, AGG_FAST_1 = 2, AGG_KS = 3, AGG_FAILURES_MAX = 64 };

/* The p of fast_p: 0, 0.5, 1 (at AGG_FAST_1), 1.5, 2, 4; the k of pass@k: 1, 5, 10. */
extern const double agg_thresholds[AGG_THRESHOLDS];
extern const size_t agg_ks[AGG_KS];

/* How often an outcome other than ok was decided in a stage. */
typedef struct agg_failure {
    outcome result;
    const char *stage; /* "" when no stage decided */
    size_t count;
} agg_failure;

typedef struct agg {
    size_t declared; /* N, without degenerate problems, as all counts up to the calls */
    size_t scored, correct;
    double correct_low, correct_high; /* Wilson 95 % of correct in N */
    size_t fast[AGG_THRESHOLDS];      /* correct and speedup > p, strict: raw */
    size_t certified
        [AGG_THRESHOLDS]; /* … and the interval lies above p (1 + margin): agg_is_certified */
    double certified_low, certified_high;        /* Wilson 95 % of certified fast_1 in N */
    double pass[AGG_KS], certified_pass[AGG_KS]; /* mean over problems; NaN: fewer samples than k */
    size_t in_scope;                             /* of N, without the GEMM track */
    double gated;    /* geomean over in_scope of max(1, speedup), 1 where there is none */
    size_t measured; /* correct with a speedup, without the GEMM track: the set of the next five */
    double median, p25, p75, geomean;
    size_t losses;        /* speedup < 1 */
    size_t gemm_measured; /* correct with a speedup, in the GEMM track: the set of the next */
    double gemm_geomean;
    size_t degenerate, degenerate_correct, degenerate_certified; /* apart: tasks, of them … */
    size_t impossible, inconclusive, same;                       /* verdicts */
    size_t hidden_passed, hidden_failed;                         /* hidden runs that were made */
    size_t sanitizer[BOARD_SANITIZERS];                          /* by what the tools said */
    agg_failure failures[AGG_FAILURES_MAX];
    size_t failure_count;
    int64_t attempts, calls, cost_unknown, tokens_unknown;
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write;
    double cost_usd, wall_ms, device_ms;
    double latency_ms,
        latency_p95_ms;    /* of all model calls of a task: median, 95 %; NaN: no calls */
    int64_t unknown_calls; /* cut in flight */
    double unknown_usd;    /* may have been billed beside cost_usd, at its worst */
} agg;

typedef struct agg_list {
    agg *rows;
    size_t count;
    size_t *order; /* indices: most correct first, then geomean, then as declared */
} agg_list;

agg_list *agg_list_create(const board *b);
/* agg_is_certified: correct, with a verdict that is neither impossible nor inconclusive, and its interval lies
 * above p by more than the margin of its comparison. */
bool agg_is_certified(const board_task *t, double p);
void agg_list_destroy(agg_list **self);

#endif
