/* paired - from pairs of times to a speedup, its interval and a verdict (protocol ce-timing-1)
 *
 * Purpose:   d = ln(baseline) - ln(candidate) of each pair. The point is the Hodges-Lehmann estimate, the
 *            interval comes from the exact distribution of the signed-rank statistic; it is widened when
 *            neighbouring pairs or pairs of one process resemble each other. Looks at 10, 20 and 40
 *            pairs share the error: each has a third of 5 %.
 * Ownership: inputs are borrowed and not changed.
 * Threads:   safe. Equal input, seed included, gives equal results.
 * Errors:    what cannot be computed is NaN and the verdict is inconclusive with the reason.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_PAIRED_H
#define CE_COMMON_PAIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAIRED_MAX = 64,             /* pairs of one comparison */
    PAIRED_RANKS_MAX = 512,      /* values that centre, critical and interval take */
    PAIRED_LOOKS = 3,            /* planned looks */
    PAIRED_RESAMPLES = 10000,    /* of the bootstrap */
    PAIRED_MARGIN_RUNS_MIN = 10, /* A/A runs below which a margin is not calibrated */
    PAIRED_MARGIN_RUNS_MAX = 40
};

#define PAIRED_ALPHA      0.05
#define PAIRED_LOOK_ALPHA (PAIRED_ALPHA / PAIRED_LOOKS)
#define PAIRED_MARGIN_MIN 0.01  /* δ is never smaller */
#define PAIRED_HALF_WIDTH 0.015 /* an interval at most so wide on each side ends the looking */

/* One look: fresh processes and the pairs each of them makes; `pairs` is what there is afterwards. */
typedef struct paired_look {
    int processes, pairs_each, pairs;
} paired_look;
extern const paired_look paired_looks[PAIRED_LOOKS];

typedef enum paired_verdict {
    PAIRED_FASTER = 1,
    PAIRED_SLOWER = 2,
    PAIRED_SAME = 3,
    PAIRED_INCONCLUSIVE = 4,
    PAIRED_IMPOSSIBLE = 5 /* faster than the hardware can be; decided from the floor, not here */
} paired_verdict;
/* paired_name: faster, slower, same, inconclusive, impossible. */
const char *paired_name(paired_verdict verdict);
bool paired_parse(const char *name, paired_verdict *out);

typedef struct paired_input {
    const double *d;    /* ln(baseline) - ln(candidate), in the order taken */
    const int *process; /* which process made it */
    size_t n;
    double margin; /* δ, 0.01 = 1 % */
    double alpha;  /* of this look */
    uint64_t seed; /* of the bootstrap */
} paired_input;

typedef struct paired_result {
    paired_verdict verdict;
    const char *reason; /* inconclusive: "interval", "drift", "bootstrap", "pairs"; else NULL */
    double theta, low, high;    /* logarithms; exp(theta) is the speedup */
    double rank_low, rank_high; /* before any widening */
    double serial;              /* ρ: lag-1 autocorrelation + 1/n, at least 0 */
    double between;             /* p of the analysis of variance over processes; NaN: none */
    double bootstrap_low, bootstrap_high;
    size_t n;
} paired_result;

/* paired_judge gives verdict and interval of one look. */
void paired_judge(const paired_input *input, paired_result *out);
/* paired_decided: no further look is needed. `quick` (repair rounds) does not ask for the width. */
bool paired_decided(const paired_result *result, bool quick);

/* paired_centre: the Hodges-Lehmann estimate, median of the n(n+1)/2 Walsh averages. */
double paired_centre(const double *d, size_t n);
/* paired_critical: w* = max{w : P(W <= w) <= alpha/2}; -1 when there is none. */
int paired_critical(size_t n, double alpha);
/* paired_interval: Walsh averages w*+1 from both ends; false when n is too small for alpha. */
bool paired_interval(const double *d, size_t n, double alpha, double *low, double *high);

/* paired_margin: δ from |θ| of A/A runs on this card and duration class, newest last. */
double paired_margin(const double *theta, size_t n, bool *calibrated);

#endif
