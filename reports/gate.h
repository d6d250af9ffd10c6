/* gate - has a kernel become slower than it was?
 *
 * Purpose:   compares times of one night with those of earlier ones. A change counts when it is larger than
 *            a share, than a multiple of the noise of that task, and than an absolute floor, and when a
 *            second run of the same night shows it too. What moves everything at once is no kernel's fault.
 * Ownership: inputs are borrowed.
 * Threads:   pure.
 * Errors:    none; a task without times on both sides is not judged.
 *
 * MAD as a robust standard deviation, with the factors for small samples of Croux and Rousseeuw 1992.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_GATE_H
#define CE_REPORTS_GATE_H

#include <stdbool.h>
#include <stddef.h>

enum { GATE_TREND_MIN = 6, GATE_TREND_MAX = 256 }; /* nights of a trend; of more, the newest */

/* Thresholds; reports/rules.h reads them from a file. */
typedef struct gate_rules {
    double relative;      /* a change below this share is none */
    double noise_factor;  /* … nor one below so many times the noise */
    double noise_unknown; /* noise of a task that has told none */
    double floor_ms;      /* … nor one below this time */
    double shift;         /* median change of all tasks beyond which the machine is to blame */
    double canary; /* change of the references' own times beyond which the machine is to blame */
    double pass_alpha; /* of the paired test of pass rates */
} gate_rules;
extern const gate_rules gate_defaults;

/* Times of one task in ms: of earlier runs (oldest first), of this one, of its repetition (none: not confirmed). */
typedef struct gate_times {
    const double *before, *now, *again;
    size_t before_count, now_count, again_count;
    double told_noise; /* standard deviation of ln time, from intervals; NaN: not told */
} gate_times;

typedef enum gate_verdict {
    GATE_SAME,
    GATE_SLOWER,
    GATE_FASTER,
    GATE_DRIFTING, /* slower night after night, though no single step is beyond the threshold */
    GATE_UNJUDGED  /* a side has no time */
} gate_verdict;
const char *gate_name(gate_verdict verdict);

typedef struct gate_task {
    double before_ms, now_ms; /* medians */
    double change;            /* now / before - 1; NaN: a side has none */
    double noise, threshold;  /* as shares */
    double drift;             /* from the first to this run, by the trend; NaN: too few runs */
    gate_verdict verdict;
    bool confirmed;
} gate_task;

typedef struct gate_sum {
    size_t judged, slower, faster, drifting;
    double shift; /* median of now / before - 1 over the judged; NaN: none */
    double canary; /* … over what stands still: kernels that nobody changed; NaN: too few to tell */
    bool is_sick; /* the canary moved */
    bool is_shifted;
} gate_sum;

/* gate_judge fills out[0 … n-1]. With `is_shifted` or `is_sick` no task is slower or faster: the night cannot be
 * judged. `canary` is what gate_canary gave. */
gate_sum gate_judge(const gate_rules *rules, const gate_times *tasks, size_t n, double canary,
                    gate_task *out);
/* gate_canary: the median of now / before - 1 of what should not have changed; NaN for fewer than five. */
double gate_canary(const double *changes, size_t n);
/* gate_trend: the slope of ln of times over their index by Theil and Sen (median of all slopes between two);
 * *noise is the spread around that line. NaN below GATE_TREND_MIN. */
double gate_trend(const double *ms, size_t n, double *noise);
/* gate_spread: robust standard deviation of ln of times; NaN below three. */
double gate_spread(const double *ms, size_t n);

#endif
