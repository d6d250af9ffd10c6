/* standing - what is shown about entrants against each other, over the problems that they share
 *
 * SPDX-License-Identifier: MIT */
#include "reports/standing.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/paired.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* Of the bootstrap: the same board gives the same intervals. */
static const uint64_t seed = 20261130;

struct standing {
    standing_pair *pairs; /* first < second, entrants * entrants of them for plain indexing */
    versus *rates, *wins;
    size_t entrants, problems;
};

static bool solved(const standing_input *in, size_t entrant, size_t problem)
{
    return in->correct[entrant * in->problems + problem] > 0;
}

static void count_solved(const standing_input *in, size_t a, size_t b, standing_pair *out)
{
    for (size_t p = 0; p < in->problems; p++) {
        bool first = solved(in, a, p);
        bool second = solved(in, b, p);
        out->only_first += first && !second;
        out->only_second += second && !first;
    }
    out->mcnemar = versus_mcnemar(out->only_first, out->only_second);
}

static void compare_speeds(const standing_input *in, size_t a, size_t b, standing_pair *out)
{
    SCOPED(scoped_free) double *d = xcalloc(in->problems, sizeof *d);
    const double *first = in->speedup + a * in->problems;
    const double *second = in->speedup + b * in->problems;
    for (size_t p = 0; p < in->problems; p++)
        if (first[p] > 0 && second[p] > 0)
            d[out->both++] = log(first[p]) - log(second[p]);
    double low = (double)NAN;
    double high = (double)NAN;
    out->ratio = exp(paired_centre(d, out->both));
    if (!paired_interval(d, out->both, VERSUS_ALPHA, &low, &high))
        low = high = (double)NAN;
    out->ratio_low = exp(low);
    out->ratio_high = exp(high);
}

static standing_pair *pair_at(const standing *self, size_t a, size_t b)
{
    assert(a < b && b < self->entrants);
    return &self->pairs[a * self->entrants + b];
}

/* adjust replaces the p of all pairs by Holm's. */
static void adjust(standing *self)
{
    size_t n = self->entrants;
    SCOPED(scoped_free) double *p = xcalloc(n * n, sizeof *p);
    size_t count = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            p[count++] = pair_at(self, a, b)->mcnemar;
    versus_holm(p, count);
    count = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            pair_at(self, a, b)->mcnemar = p[count++];
}

standing *standing_create(const standing_input *in)
{
    standing *self = xcalloc(1, sizeof *self);
    self->entrants = in->entrants;
    self->problems = in->problems;
    self->pairs = xcalloc(in->entrants * in->entrants, sizeof *self->pairs);
    versus_input shares = {.hits = in->correct,
                           .entrants = in->entrants,
                           .problems = in->problems,
                           .samples = in->samples,
                           .seed = seed};
    self->rates = versus_create(&shares);
    shares.hits = in->certified;
    self->wins = versus_create(&shares);
    assert(self->rates != NULL && self->wins != NULL);
    for (size_t a = 0; a < in->entrants; a++)
        for (size_t b = a + 1; b < in->entrants; b++) {
            standing_pair *pair = pair_at(self, a, b);
            count_solved(in, a, b, pair);
            compare_speeds(in, a, b, pair);
            pair->rate = versus_between(self->rates, a, b);
            pair->wins = versus_between(self->wins, a, b);
        }
    adjust(self);
    return self;
}

void standing_destroy(standing **self)
{
    if (*self == NULL)
        return;
    versus_destroy(&(*self)->rates);
    versus_destroy(&(*self)->wins);
    free((*self)->pairs);
    free(*self);
    *self = NULL;
}

const standing_pair *standing_between(const standing *self, size_t a, size_t b)
{
    return pair_at(self, a, b);
}

const versus_rank *standing_rank(const standing *self, size_t entrant)
{
    return &versus_ranks(self->rates)[entrant];
}

double standing_detectable(const standing *self)
{
    size_t most = 0;
    for (size_t a = 0; a < self->entrants; a++)
        for (size_t b = a + 1; b < self->entrants; b++) {
            const standing_pair *pair = pair_at(self, a, b);
            size_t discordant = pair->only_first + pair->only_second;
            most = discordant > most ? discordant : most;
        }
    return versus_detectable(self->problems, (double)most / (double)self->problems);
}
