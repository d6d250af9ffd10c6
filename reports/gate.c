/* gate - has a kernel become slower than it was?
 *
 * SPDX-License-Identifier: MIT */
#include "reports/gate.h"

#include <math.h>
#include <stdlib.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"

const gate_rules gate_defaults = {.relative = 0.05,
                                  .noise_factor = 3,
                                  .noise_unknown = 0.05,
                                  .floor_ms = 0.001,
                                  .shift = 0.02,
                                  .canary = 0.02,
                                  .pass_alpha = 0.01};

enum { SHIFT_TASKS_MIN = 5 }; /* with fewer, one kernel is the median */

const char *gate_name(gate_verdict verdict)
{
    static const char *const names[] = {"same", "slower", "faster", "drifting", "not judged"};
    return names[verdict];
}

/* 1.4826 makes the MAD of a normal distribution its standard deviation; the rest corrects for n. */
static double mad_factor(size_t n)
{
    static const double small[] = {1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
    double count = (double)n;
    return 1.4826 * (n < 10 ? small[n - 3] : count / (count - 0.8));
}

/* Of plain values, which are changed. */
static double spread(double *values, size_t n)
{
    double centre = stats_median(values, n);
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - centre);
    return mad_factor(n) * stats_median(values, n);
}

double gate_spread(const double *ms, size_t n)
{
    if (n < 3)
        return (double)NAN;
    SCOPED(scoped_free) double *values = xcalloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = log(ms[i]);
    return spread(values, n);
}

double gate_trend(const double *ms, size_t n, double *noise)
{
    *noise = (double)NAN;
    if (n < GATE_TREND_MIN)
        return (double)NAN;
    SCOPED(scoped_free) double *slopes = xcalloc(n * (n - 1) / 2, sizeof *slopes);
    SCOPED(scoped_free) double *rest = xcalloc(n, sizeof *rest);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            slopes[count++] = (log(ms[k]) - log(ms[i])) / (double)(k - i);
    double slope = stats_median(slopes, count);
    for (size_t i = 0; i < n; i++)
        rest[i] = log(ms[i]) - slope * (double)i;
    *noise = spread(rest, n);
    return slope;
}

/* The largest of what is known. */
static double noise_of(const gate_rules *rules, const gate_times *t)
{
    double before = gate_spread(t->before, t->before_count);
    double now = gate_spread(t->now, t->now_count);
    double noise = fmax(fmax(before, now), t->told_noise); /* fmax leaves NaN out */
    return isnan(noise) ? rules->noise_unknown : noise;
}

static double median_change(const gate_task *out, size_t n, size_t *count)
{
    SCOPED(scoped_free) double *changes = xcalloc(n + 1, sizeof *changes);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(out[i].change))
            changes[(*count)++] = out[i].change;
    return stats_median(changes, *count);
}

/* Beyond the threshold, in the direction of `change`. */
static bool beyond(const gate_rules *rules, const gate_task *t, double ms, double change)
{
    return fabs(change) > t->threshold && fabs(ms - t->before_ms) > rules->floor_ms &&
           (change > 0) == (t->change > 0);
}

/* Earlier runs and this night as one series; the error of a fitted line's rise over n points with noise s
 * is about s * sqrt(12 / n). */
static void judge_trend(const gate_rules *rules, const gate_times *times, gate_task *t)
{
    double series[GATE_TREND_MAX], noise;
    size_t kept =
        times->before_count < GATE_TREND_MAX - 1 ? times->before_count : GATE_TREND_MAX - 1;
    for (size_t i = 0; i < kept; i++)
        series[i] = times->before[times->before_count - kept + i];
    double again = stats_median(times->again, times->again_count);
    series[kept] = isnan(again) ? t->now_ms : (t->now_ms + again) / 2;
    double slope = gate_trend(series, kept + 1, &noise), nights = (double)(kept + 1);
    t->drift = exp(slope * (nights - 1)) - 1;
    double threshold = fmax(rules->relative, rules->noise_factor * noise * sqrt(12 / nights));
    bool beyond_floor = t->drift * series[0] > rules->floor_ms;
    if (t->verdict == GATE_SAME && t->drift > threshold && beyond_floor)
        t->verdict = GATE_DRIFTING;
}

static void judge_one(const gate_rules *rules, const gate_times *times, gate_task *t)
{
    if (isnan(t->change)) {
        t->verdict = GATE_UNJUDGED;
        return;
    }
    double again = stats_median(times->again, times->again_count);
    bool seen = beyond(rules, t, t->now_ms, t->change);
    bool seen_again = times->again_count == 0 || beyond(rules, t, again, again / t->before_ms - 1);
    t->confirmed = seen && seen_again && times->again_count > 0;
    if (seen && seen_again)
        t->verdict = t->change > 0 ? GATE_SLOWER : GATE_FASTER;
    judge_trend(rules, times, t);
}

double gate_canary(const double *changes, size_t n)
{
    return n >= SHIFT_TASKS_MIN ? stats_median(changes, n) : (double)NAN;
}

gate_sum gate_judge(const gate_rules *rules, const gate_times *tasks, size_t n, double canary,
                    gate_task *out)
{
    gate_sum sum = {.judged = 0, .canary = canary, .is_sick = fabs(canary) > rules->canary};
    for (size_t i = 0; i < n; i++) {
        const gate_times *t = &tasks[i];
        out[i] = (gate_task){.before_ms = stats_median(t->before, t->before_count),
                             .now_ms = stats_median(t->now, t->now_count),
                             .noise = noise_of(rules, t),
                             .drift = (double)NAN};
        out[i].change = out[i].now_ms / out[i].before_ms - 1;
        out[i].threshold = fmax(rules->relative, rules->noise_factor * out[i].noise);
    }
    sum.shift = median_change(out, n, &sum.judged);
    sum.is_shifted = sum.judged >= SHIFT_TASKS_MIN && fabs(sum.shift) > rules->shift;
    for (size_t i = 0; i < n && !sum.is_shifted && !sum.is_sick; i++) {
        judge_one(rules, &tasks[i], &out[i]);
        sum.slower += out[i].verdict == GATE_SLOWER ? 1 : 0;
        sum.drifting += out[i].verdict == GATE_DRIFTING ? 1 : 0;
        sum.faster += out[i].verdict == GATE_FASTER ? 1 : 0;
    }
    return sum;
}
