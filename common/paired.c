/* paired - see paired.h.
 *
 * SPDX-License-Identifier: MIT */
#include "common/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/dist.h"
#include "common/rng.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"

static const double serial_limit = 0.6;   /* more than that is drift, which no pair removes */
static const double between_alpha = 0.05; /* of the analysis of variance */
static const double nothing = 1e-20;      /* a variance below is rounding */

const paired_look paired_looks[PAIRED_LOOKS] = {{5, 2, 10}, {5, 2, 20}, {5, 4, 40}};

static const char *const names[] = {[PAIRED_FASTER] = "faster",
                                    [PAIRED_SLOWER] = "slower",
                                    [PAIRED_SAME] = "same",
                                    [PAIRED_INCONCLUSIVE] = "inconclusive",
                                    [PAIRED_IMPOSSIBLE] = "impossible"};

const char *paired_name(paired_verdict verdict)
{
    return names[verdict];
}

bool paired_parse(const char *name, paired_verdict *out)
{
    for (size_t i = PAIRED_FASTER; i <= PAIRED_IMPOSSIBLE; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (paired_verdict)i;
            return true;
        }
    }
    return false;
}

/* ---- signed ranks ---- */

static size_t walsh_count(size_t n)
{
    return n * (n + 1) / 2;
}

/* walsh fills sorted averages of all pairs i <= j and gives their number. */
static size_t walsh(const double *d, size_t n, double *out)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            out[count++] = (d[i] + d[j]) / 2;
    stats_sort(out, count);
    return count;
}

double paired_centre(const double *d, size_t n)
{
    if (n == 0 || n > PAIRED_RANKS_MAX)
        return (double)NAN;
    SCOPED(scoped_free) double *averages = xcalloc(walsh_count(n), sizeof *averages);
    return stats_median(averages, walsh(d, n, averages));
}

/* The number of subsets of 1..n with each sum; exact in a double up to 2^53 and beyond that to 1e-16. */
int paired_critical(size_t n, double alpha)
{
    if (n == 0 || n > PAIRED_RANKS_MAX)
        return -1;
    int most = (int)walsh_count(n);
    SCOPED(scoped_free) double *ways = xcalloc((size_t)most + 1, sizeof *ways);
    ways[0] = 1;
    for (size_t k = 1; k <= n; k++)
        for (size_t sum = k * (k + 1) / 2; sum >= k; sum--)
            ways[sum] += ways[sum - k];
    double limit = ldexp(alpha / 2, (int)n);
    double below = 0;
    int w = -1;
    while (w < most && (below += ways[w + 1]) <= limit)
        w++;
    return w;
}

bool paired_interval(const double *d, size_t n, double alpha, double *low, double *high)
{
    int w = paired_critical(n, alpha);
    if (w < 0)
        return false;
    SCOPED(scoped_free) double *averages = xcalloc(walsh_count(n), sizeof *averages);
    size_t count = walsh(d, n, averages);
    *low = averages[w];
    *high = averages[count - 1 - (size_t)w];
    return true;
}

/* ---- resemblance ---- */

static double mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Lag-1 autocorrelation of n values is about -1/n when there is none: that is put back. */
static double serial(const double *d, size_t n)
{
    double middle = mean(d, n);
    double all = 0;
    double lagged = 0;
    for (size_t i = 0; i < n; i++) {
        all += (d[i] - middle) * (d[i] - middle);
        if (i > 0)
            lagged += (d[i] - middle) * (d[i - 1] - middle);
    }
    if (all <= nothing * (double)n)
        return 0;
    double rho = lagged / all + 1 / (double)n;
    return rho > 0 ? rho : 0;
}

/* The pairs of each process, gathered. */
typedef struct groups {
    double values[PAIRED_MAX][PAIRED_MAX];
    size_t sizes[PAIRED_MAX];
    int ids[PAIRED_MAX];
    size_t count;
} groups;

static void gather(const paired_input *in, groups *out)
{
    out->count = 0;
    for (size_t i = 0; i < in->n; i++) {
        size_t g = 0;
        while (g < out->count && out->ids[g] != in->process[i])
            g++;
        if (g == out->count) {
            out->ids[g] = in->process[i];
            out->sizes[g] = 0;
            out->count++;
        }
        out->values[g][out->sizes[g]++] = in->d[i];
    }
}

/* variance_test: one-way analysis of variance, p of F; NaN with fewer than two processes or no spare
 * pair inside one. */
static double variance_test(const groups *g, const double *d, size_t n)
{
    if (g->count < 2 || n <= g->count)
        return (double)NAN;
    double grand = mean(d, n);
    double between = 0;
    double within = 0;
    for (size_t k = 0; k < g->count; k++) {
        double middle = mean(g->values[k], g->sizes[k]);
        between += (double)g->sizes[k] * (middle - grand) * (middle - grand);
        for (size_t i = 0; i < g->sizes[k]; i++)
            within += (g->values[k][i] - middle) * (g->values[k][i] - middle);
    }
    if (between <= nothing)
        return 1;
    double d1 = (double)(g->count - 1);
    double d2 = (double)(n - g->count);
    return dist_f_tail(between / d1 / (within / d2), d1, d2);
}

/* widen_between makes the interval the hull of itself and the t interval of the processes' medians. */
static void widen_between(const groups *g, double alpha, paired_result *out)
{
    double medians[PAIRED_MAX];
    double p = (double)g->count;
    for (size_t k = 0; k < g->count; k++)
        medians[k] = stats_median(g->values[k], g->sizes[k]);
    double middle = mean(medians, g->count);
    double squares = 0;
    for (size_t k = 0; k < g->count; k++)
        squares += (medians[k] - middle) * (medians[k] - middle);
    double half = dist_t_quantile(1 - alpha / 2, p - 1) * sqrt(squares / (p - 1) / p);
    out->low = fmin(out->low, middle - half);
    out->high = fmax(out->high, middle + half);
}

static void widen_serial(paired_result *out)
{
    double rho = fmin(out->serial, 0.99);
    double factor = sqrt((1 + rho) / (1 - rho));
    out->low = out->theta - (out->theta - out->low) * factor;
    out->high = out->theta + (out->high - out->theta) * factor;
}

/* ---- bootstrap ---- */

/* The median of n draws from sorted values: counted, not sorted again. */
static double draw_median(const double *sorted, size_t n, rng *dice)
{
    unsigned char hits[PAIRED_MAX] = {0};
    for (size_t i = 0; i < n; i++)
        hits[rng_below(dice, (uint32_t)n)]++;
    size_t lower = (n - 1) / 2;
    size_t upper = n / 2;
    size_t seen = 0;
    double first = 0;
    bool have = false;
    for (size_t i = 0; i < n; i++) {
        seen += hits[i];
        if (!have && seen > lower) {
            first = sorted[i];
            have = true;
        }
        if (seen > upper)
            return (first + sorted[i]) / 2;
    }
    return first;
}

static void bootstrap(const paired_input *in, paired_result *out)
{
    rng dice;
    rng_init(&dice, in->seed);
    SCOPED(scoped_free) double *sorted = xmemdup(in->d, in->n * sizeof *in->d);
    SCOPED(scoped_free) double *medians = xcalloc(PAIRED_RESAMPLES, sizeof *medians);
    stats_sort(sorted, in->n);
    for (size_t i = 0; i < PAIRED_RESAMPLES; i++)
        medians[i] = draw_median(sorted, in->n, &dice);
    out->bootstrap_low = stats_quantile(medians, PAIRED_RESAMPLES, in->alpha / 2);
    out->bootstrap_high = stats_quantile(medians, PAIRED_RESAMPLES, 1 - in->alpha / 2);
}

/* ---- verdict ---- */

static paired_verdict call(double low, double high, double margin)
{
    double edge = log1p(margin);
    if (low > edge)
        return PAIRED_FASTER;
    if (high < -edge)
        return PAIRED_SLOWER;
    return low >= -edge && high <= edge ? PAIRED_SAME : PAIRED_INCONCLUSIVE;
}

static void inconclusive(paired_result *out, const char *reason)
{
    out->verdict = PAIRED_INCONCLUSIVE;
    out->reason = reason;
}

static void decide(const paired_input *in, paired_result *out)
{
    out->verdict = call(out->low, out->high, in->margin);
    if (out->serial > serial_limit)
        inconclusive(out, "drift");
    else if (out->verdict == PAIRED_INCONCLUSIVE)
        inconclusive(out, "interval");
    else if (call(out->bootstrap_low, out->bootstrap_high, in->margin) != out->verdict)
        inconclusive(out, "bootstrap");
}

static bool finite_all(const double *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(d[i]))
            return false;
    return true;
}

void paired_judge(const paired_input *input, paired_result *out)
{
    const double none = (double)NAN;
    *out = (paired_result){PAIRED_INCONCLUSIVE,
                           "pairs",
                           none,
                           none,
                           none,
                           none,
                           none,
                           none,
                           none,
                           none,
                           none,
                           input->n};
    if (input->n > PAIRED_MAX || !finite_all(input->d, input->n))
        return;
    out->theta = paired_centre(input->d, input->n);
    if (!paired_interval(input->d, input->n, input->alpha, &out->rank_low, &out->rank_high))
        return;
    out->reason = NULL;
    out->low = out->rank_low;
    out->high = out->rank_high;
    out->serial = serial(input->d, input->n);
    widen_serial(out);
    SCOPED(scoped_free) groups *g = xcalloc(1, sizeof *g);
    gather(input, g);
    out->between = variance_test(g, input->d, input->n);
    if (out->between < between_alpha)
        widen_between(g, input->alpha, out);
    bootstrap(input, out);
    decide(input, out);
}

bool paired_decided(const paired_result *result, bool quick)
{
    return result->verdict != PAIRED_INCONCLUSIVE &&
           (quick || (result->high - result->low) / 2 <= PAIRED_HALF_WIDTH);
}

double paired_margin(const double *theta, size_t n, bool *calibrated)
{
    *calibrated = n >= PAIRED_MARGIN_RUNS_MIN;
    if (!*calibrated)
        return PAIRED_MARGIN_MIN;
    size_t kept = n < PAIRED_MARGIN_RUNS_MAX ? n : PAIRED_MARGIN_RUNS_MAX;
    double sizes[PAIRED_MARGIN_RUNS_MAX];
    for (size_t i = 0; i < kept; i++)
        sizes[i] = fabs(theta[n - kept + i]);
    return fmax(PAIRED_MARGIN_MIN, expm1(stats_quantile(sizes, kept, 0.95)));
}
