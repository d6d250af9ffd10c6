/* versus - entrants against each other on the same problems
 *
 * SPDX-License-Identifier: MIT */
#include "common/versus.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"

static const double Z_ALPHA = 1.959963984540054;  /* 0.975 quantile of the normal distribution */
static const double Z_POWER = 0.8416212335729143; /* 0.8 quantile */

struct versus {
    versus_rank *ranks;
    versus_pair *pairs; /* first < second, in the order of pair_index */
    size_t entrants;
};

/* ---- closed forms ---- */

double versus_mcnemar(size_t b, size_t c)
{
    size_t n = b + c;
    size_t fewer = b < c ? b : c;
    if (n == 0)
        return 1;
    double sum = 0;
    double log_all = (double)n * log(2);
    double log_ways = 0; /* ln of n choose i */
    for (size_t i = 0; i <= fewer; i++) {
        sum += exp(log_ways - log_all);
        log_ways += log((double)(n - i)) - log((double)(i + 1));
    }
    return fmin(1, 2 * sum);
}

typedef struct placed {
    double p;
    size_t at;
} placed;

static int by_p(const void *a, const void *b)
{
    const placed *x = a;
    const placed *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

void versus_holm(double *p, size_t n)
{
    SCOPED(scoped_free) placed *sorted = xcalloc(n + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            sorted[count++] = (placed){p[i], i};
    qsort(sorted, count, sizeof *sorted, by_p);
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fmin(1, (double)(count - i) * sorted[i].p));
        p[sorted[i].at] = largest;
    }
}

double versus_detectable(size_t problems, double discordant)
{
    if (problems == 0 || !(discordant >= 0 && discordant <= 1))
        return (double)NAN;
    double n = (double)problems;
    return fmin(1, (Z_ALPHA + Z_POWER) * sqrt(fmax(discordant, 1 / n) / n));
}

/* ---- the bootstrap ---- */

/* Drawing n of n samples again, c of them hits, gives a binomial number of hits: its distribution function
 * for one c, looked up by bisection. A million samples are then no more work than a few. */
typedef struct redraw {
    double *below; /* below[k] = P(hits <= k); NULL: not met, or nothing can change */
} redraw;

/* Rates of all entrants, one row a resample; the problems of a row are the same for everybody. */
typedef struct resampled {
    double *rates;   /* [resample * entrants + entrant] */
    size_t *drawn;   /* problems of the row at hand */
    redraw *redraws; /* by the number of hits, 0 … samples */
    size_t samples;
} resampled;

static void resampled_fini(resampled *self)
{
    for (size_t c = 0; self->redraws != NULL && c <= self->samples; c++)
        free(self->redraws[c].below);
    free(self->redraws);
    free(self->rates);
    free(self->drawn);
}

static uint32_t hits_at(const versus_input *in, size_t entrant, size_t problem)
{
    return in->hits[entrant * in->problems + problem];
}

static double observed_rate(const versus_input *in, size_t entrant)
{
    size_t hits = 0;
    for (size_t p = 0; p < in->problems; p++)
        hits += hits_at(in, entrant, p);
    return (double)hits / (double)(in->problems * in->samples);
}

/* stream_of: a stream that depends on what an entrant achieved, not on its place in the list. */
static uint64_t stream_of(const versus_input *in, size_t entrant)
{
    uint64_t mixed = 0xcbf29ce484222325ULL; /* FNV-1a */
    for (size_t p = 0; p < in->problems; p++)
        mixed = (mixed ^ hits_at(in, entrant, p)) * 0x100000001b3ULL;
    return mixed;
}

static void redraw_init(redraw *self, size_t samples, size_t hits)
{
    if (hits == 0 || hits == samples || self->below != NULL)
        return;
    double n = (double)samples;
    double share = (double)hits / n;
    double sum = 0;
    self->below = xcalloc(samples + 1, sizeof *self->below);
    for (size_t k = 0; k <= samples; k++) {
        double i = (double)k;
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(share) +
                   (n - i) * log1p(-share));
        self->below[k] = sum;
    }
    self->below[samples] = 1;
}

static size_t redraw_hits(const resampled *out, size_t hits, rng *r)
{
    const double *below = out->redraws[hits].below;
    if (below == NULL)
        return hits;
    double u = rng_unit(r);
    size_t low = 0;
    size_t high = out->samples;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (below[middle] <= u)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double resampled_rate(const versus_input *in, size_t entrant, const resampled *out, rng *r)
{
    size_t hits = 0;
    for (size_t i = 0; i < in->problems; i++)
        hits += redraw_hits(out, hits_at(in, entrant, out->drawn[i]), r);
    return (double)hits / (double)(in->problems * in->samples);
}

static void resample(const versus_input *in, resampled *out)
{
    out->samples = in->samples;
    out->rates = xcalloc(VERSUS_RESAMPLES * in->entrants, sizeof *out->rates);
    out->drawn = xcalloc(in->problems, sizeof *out->drawn);
    out->redraws = xcalloc(in->samples + 1, sizeof *out->redraws);
    for (size_t i = 0; i < in->entrants * in->problems; i++) {
        assert(in->hits[i] <= in->samples);
        redraw_init(&out->redraws[in->hits[i]], in->samples, in->hits[i]);
    }
    SCOPED(scoped_free) rng *streams = xcalloc(in->entrants, sizeof *streams);
    rng problems;
    rng_init(&problems, in->seed);
    for (size_t e = 0; e < in->entrants; e++)
        rng_init(&streams[e], in->seed ^ stream_of(in, e));
    for (size_t b = 0; b < VERSUS_RESAMPLES; b++) {
        for (size_t i = 0; i < in->problems; i++)
            out->drawn[i] = rng_below(&problems, (uint32_t)in->problems);
        for (size_t e = 0; e < in->entrants; e++)
            out->rates[b * in->entrants + e] = resampled_rate(in, e, out, &streams[e]);
    }
}

/* ---- pairs ---- */

/* pair_index: place of (a, b), a < b, among all pairs. */
static size_t pair_index(size_t entrants, size_t a, size_t b)
{
    return a * (2 * entrants - a - 1) / 2 + (b - a - 1);
}

/* No test of m problems on which two differ can be surer than all of them going one way by chance. The bootstrap
 * alone would be: with few problems it is too bold. */
static double least_p(const versus_input *in, size_t a, size_t b)
{
    int differ = 0;
    for (size_t p = 0; p < in->problems; p++)
        differ += hits_at(in, a, p) != hits_at(in, b, p);
    return fmin(1, ldexp(1, 1 - differ));
}

static void judge_pair(const resampled *r, size_t entrants, size_t a, size_t b, versus_pair *out)
{
    SCOPED(scoped_free) double *d = xcalloc(VERSUS_RESAMPLES, sizeof *d);
    size_t not_above = 0;
    size_t not_below = 0;
    for (size_t i = 0; i < VERSUS_RESAMPLES; i++) {
        d[i] = r->rates[i * entrants + a] - r->rates[i * entrants + b];
        not_above += d[i] <= 0;
        not_below += d[i] >= 0;
    }
    size_t extreme = not_above < not_below ? not_above : not_below;
    out->p = fmin(1, 2.0 * ((double)extreme + 1) / (VERSUS_RESAMPLES + 1));
    out->low = stats_quantile(d, VERSUS_RESAMPLES, VERSUS_ALPHA / 2);
    out->high = stats_quantile(d, VERSUS_RESAMPLES, 1 - VERSUS_ALPHA / 2);
}

static void judge_pairs(versus *self, const versus_input *in, const resampled *r)
{
    size_t count = self->entrants * (self->entrants - 1) / 2;
    SCOPED(scoped_free) double *p = xcalloc(count + 1, sizeof *p);
    for (size_t a = 0; a < self->entrants; a++)
        for (size_t b = a + 1; b < self->entrants; b++) {
            versus_pair *pair = &self->pairs[pair_index(self->entrants, a, b)];
            judge_pair(r, self->entrants, a, b, pair);
            pair->p = fmax(pair->p, least_p(in, a, b));
            pair->difference = self->ranks[a].rate - self->ranks[b].rate;
        }
    for (size_t i = 0; i < count; i++)
        p[i] = self->pairs[i].p;
    versus_holm(p, count);
    for (size_t i = 0; i < count; i++)
        self->pairs[i].adjusted = p[i];
}

/* ---- ranks ---- */

/* is_better: the difference is shown, and so is its interval. */
static bool is_better(const versus_pair *of_a)
{
    return of_a->adjusted < VERSUS_ALPHA && of_a->low > 0;
}

static void give_ranks(versus *self)
{
    for (size_t e = 0; e < self->entrants; e++) {
        self->ranks[e].rank = 1;
        for (size_t other = 0; other < self->entrants; other++) {
            versus_pair pair = {0};
            if (other == e)
                continue;
            pair = versus_between(self, other, e);
            self->ranks[e].rank += is_better(&pair);
        }
    }
}

static size_t rank_in(const double *rates, size_t entrants, size_t e)
{
    size_t rank = 1;
    for (size_t other = 0; other < entrants; other++)
        rank += rates[other] > rates[e];
    return rank;
}

static void give_intervals(versus *self, const resampled *r)
{
    SCOPED(scoped_free) double *seen = xcalloc(VERSUS_RESAMPLES, sizeof *seen);
    for (size_t e = 0; e < self->entrants; e++) {
        for (size_t i = 0; i < VERSUS_RESAMPLES; i++)
            seen[i] = (double)rank_in(r->rates + i * self->entrants, self->entrants, e);
        self->ranks[e].low = (size_t)floor(stats_quantile(seen, VERSUS_RESAMPLES, 0.05));
        self->ranks[e].high = (size_t)ceil(stats_quantile(seen, VERSUS_RESAMPLES, 0.95));
    }
}

/* ---- public ---- */

versus *versus_create(const versus_input *input)
{
    if (input->entrants == 0 || input->problems == 0 || input->samples == 0)
        return NULL;
    assert(input->entrants <= VERSUS_ENTRANTS_MAX);
    versus *self = xcalloc(1, sizeof *self);
    self->entrants = input->entrants;
    self->ranks = xcalloc(input->entrants, sizeof *self->ranks);
    self->pairs = xcalloc(input->entrants * (input->entrants - 1) / 2 + 1, sizeof *self->pairs);
    SCOPED(resampled_fini) resampled r = {0};
    resample(input, &r);
    for (size_t e = 0; e < input->entrants; e++)
        self->ranks[e].rate = observed_rate(input, e);
    judge_pairs(self, input, &r);
    give_ranks(self);
    give_intervals(self, &r);
    return self;
}

void versus_destroy(versus **self)
{
    if (*self == NULL)
        return;
    free((*self)->ranks);
    free((*self)->pairs);
    free(*self);
    *self = NULL;
}

const versus_rank *versus_ranks(const versus *self)
{
    return self->ranks;
}

versus_pair versus_between(const versus *self, size_t a, size_t b)
{
    assert(a != b && a < self->entrants && b < self->entrants);
    if (a < b)
        return self->pairs[pair_index(self->entrants, a, b)];
    versus_pair turned = self->pairs[pair_index(self->entrants, b, a)];
    double low = turned.low;
    turned.difference = -turned.difference;
    turned.low = -turned.high;
    turned.high = -low;
    return turned;
}
