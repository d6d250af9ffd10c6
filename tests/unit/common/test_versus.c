/* Entrants against each other: published values, and what no figure may depend on.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/rng.h"
#include "common/scoped.h"
#include "common/versus.h"
#include "common/xalloc.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(b) + 1);
}

static void mcnemar_is_the_exact_binomial(void **state)
{
    (void)state;
    assert_true(near(versus_mcnemar(0, 0), 1));
    assert_true(near(versus_mcnemar(1, 0), 1));
    assert_true(near(versus_mcnemar(6, 0), 2.0 / 64));
    assert_true(near(versus_mcnemar(3, 3), 1));
    assert_true(near(versus_mcnemar(2, 10), 2 * (1 + 12 + 66) / 4096.0));
    assert_true(near(versus_mcnemar(10, 2), versus_mcnemar(2, 10)));
    assert_true(versus_mcnemar(5000, 4000) < 1e-20); /* no overflow on the way */
}

/* How many problems one must win for p < 0.05 when the other wins c. */
static void mcnemar_has_its_critical_counts(void **state)
{
    (void)state;
    static const size_t rows[][2] = {{0, 6}, {2, 10}, {5, 15}, {10, 23}, {20, 36}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t c = rows[i][0];
        size_t b = rows[i][1];
        assert_true(versus_mcnemar(b, c) < 0.05);
        assert_true(versus_mcnemar(b - 1, c) >= 0.05);
    }
}

/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") */
static void holm_steps_down(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005, (double)NAN};
    static const double expected[] = {0.03, 0.06, 0.06, 0.02};
    versus_holm(p, 5);
    for (size_t i = 0; i < 4; i++)
        assert_true(near(p[i], expected[i]));
    assert_true(isnan(p[4]));
    double large[] = {0.7, 0.6};
    versus_holm(large, 2);
    assert_true(near(large[0], 1) && near(large[1], 1));
    versus_holm(large, 0);
}

static void what_a_suite_can_show_is_told(void **state)
{
    (void)state;
    /* (1.959964 + 0.841621) * sqrt(0.2 / 250) */
    assert_true(fabs(versus_detectable(250, 0.2) - 0.079240) < 1e-6);
    assert_true(near(versus_detectable(48, 0), versus_detectable(48, 1.0 / 48)));
    assert_true(near(versus_detectable(1, 1), 1));
    assert_true(isnan(versus_detectable(0, 0.5)));
    assert_true(isnan(versus_detectable(10, (double)NAN)));
}

enum { PROBLEMS = 48, SAMPLES = 2, ENTRANTS = 4 };

/* fill makes one entrant that is right with probability `rate`. */
static void fill(uint32_t *hits, double rate, uint64_t seed)
{
    rng r;
    rng_init(&r, seed);
    for (size_t p = 0; p < PROBLEMS; p++) {
        hits[p] = 0;
        for (size_t s = 0; s < SAMPLES; s++)
            hits[p] += rng_unit(&r) < rate;
    }
}

static versus *compare(const uint32_t *hits, size_t entrants)
{
    versus_input input = {
        .hits = hits, .entrants = entrants, .problems = PROBLEMS, .samples = SAMPLES, .seed = 7};
    return versus_create(&input);
}

static void a_clear_winner_is_first_and_equals_share(void **state)
{
    (void)state;
    uint32_t hits[ENTRANTS * PROBLEMS];
    fill(hits, 0.95, 1);
    fill(hits + PROBLEMS, 0.5, 2);
    fill(hits + 2 * PROBLEMS, 0.5, 3);
    fill(hits + 3 * PROBLEMS, 0.05, 4);
    SCOPED(versus_destroy) versus *v = compare(hits, ENTRANTS);
    const versus_rank *ranks = versus_ranks(v);
    static const size_t expected[] = {1, 2, 2, 4};
    for (size_t e = 0; e < ENTRANTS; e++) {
        assert_int_equal(ranks[e].rank, expected[e]);
        assert_in_range(ranks[e].rank, ranks[e].low, ranks[e].high);
    }
    versus_pair pair = versus_between(v, 0, 3);
    versus_pair turned = versus_between(v, 3, 0);
    assert_true(pair.low > 0 && pair.adjusted < 0.05 && pair.adjusted >= pair.p);
    assert_true(near(pair.low, -turned.high) && near(pair.difference, -turned.difference));
    assert_true(near(pair.difference, ranks[0].rate - ranks[3].rate));
    assert_in_range(pair.difference * 1e6, pair.low * 1e6, pair.high * 1e6);
}

/* The same answers twice: never a winner, whatever the resamples say. */
static void twins_share_a_rank(void **state)
{
    (void)state;
    uint32_t hits[2 * PROBLEMS];
    fill(hits, 0.5, 11);
    memcpy(hits + PROBLEMS, hits, PROBLEMS * sizeof *hits);
    SCOPED(versus_destroy) versus *v = compare(hits, 2);
    versus_pair pair = versus_between(v, 0, 1);
    assert_int_equal(versus_ranks(v)[0].rank, 1);
    assert_int_equal(versus_ranks(v)[1].rank, 1);
    assert_true(near(pair.low, 0) && near(pair.high, 0) && near(pair.p, 1));
}

static void the_order_of_entrants_changes_nothing(void **state)
{
    (void)state;
    static const size_t order[ENTRANTS] = {2, 0, 3, 1};
    uint32_t hits[ENTRANTS * PROBLEMS];
    uint32_t other[ENTRANTS * PROBLEMS];
    for (size_t e = 0; e < ENTRANTS; e++)
        fill(hits + e * PROBLEMS, 0.3 + 0.2 * (double)e, 20 + e);
    for (size_t e = 0; e < ENTRANTS; e++)
        memcpy(other + e * PROBLEMS, hits + order[e] * PROBLEMS, PROBLEMS * sizeof *hits);
    SCOPED(versus_destroy) versus *a = compare(hits, ENTRANTS);
    SCOPED(versus_destroy) versus *b = compare(other, ENTRANTS);
    for (size_t e = 0; e < ENTRANTS; e++) {
        assert_memory_equal(&versus_ranks(b)[e], &versus_ranks(a)[order[e]], sizeof(versus_rank));
        for (size_t f = 0; f < ENTRANTS; f++) {
            if (f == e)
                continue;
            versus_pair x = versus_between(b, e, f);
            versus_pair y = versus_between(a, order[e], order[f]);
            assert_true(near(x.low, y.low) && near(x.high, y.high) && near(x.adjusted, y.adjusted));
        }
    }
}

/* The first is a suite of one problem with 30 of 100 hits: redrawing samples alone is binomial, whose 2.5 % and
 * 97.5 % points are 21 and 39 (R: qbinom(c(.025, .975), 100, .3)); against an entrant that never hits, the
 * interval of the difference is that. The seed is fixed, so that the figures are too. */
static void samples_are_drawn_as_a_binomial(void **state)
{
    (void)state;
    static const uint32_t hits[] = {30, 0};
    versus_input input = {.hits = hits, .entrants = 2, .problems = 1, .samples = 100, .seed = 7};
    SCOPED(versus_destroy) versus *v = versus_create(&input);
    SCOPED(versus_destroy) versus *again = versus_create(&input);
    versus_pair pair = versus_between(v, 0, 1);
    versus_pair same = versus_between(again, 0, 1);
    assert_true(near(pair.difference, 0.3));
    assert_true(near(pair.low, 0.21) && near(pair.high, 0.39));
    assert_memory_equal(&pair, &same, sizeof pair);
}

/* With a sample each, resampling problems gives the textbook's percentile interval of a share: 20 of 40
 * problems, binomial points 14 and 26 (R: qbinom(c(.025, .975), 40, .5)). */
static void problems_are_drawn_again(void **state)
{
    (void)state;
    uint32_t hits[80] = {0};
    for (size_t p = 0; p < 20; p++)
        hits[p] = 1;
    versus_input input = {.hits = hits, .entrants = 2, .problems = 40, .samples = 1, .seed = 7};
    SCOPED(versus_destroy) versus *v = versus_create(&input);
    versus_pair pair = versus_between(v, 0, 1);
    assert_true(near(pair.low, 14.0 / 40) && near(pair.high, 26.0 / 40));
}

/* Five problems to none are no proof (exact test: 2/32), six are (2/64), whatever resamples say. */
static void few_problems_prove_nothing(void **state)
{
    (void)state;
    for (size_t won = 4; won <= 6; won++) {
        uint32_t hits[2 * PROBLEMS] = {0};
        for (size_t p = 0; p < won; p++)
            hits[p] = SAMPLES;
        SCOPED(versus_destroy) versus *v = compare(hits, 2);
        versus_pair pair = versus_between(v, 0, 1);
        assert_true(pair.low > 0 && pair.p >= 2.0 / (double)(1U << won));
        assert_int_equal(versus_ranks(v)[1].rank, won < 6 ? 1 : 2);
    }
}

/* Entrants of one strength: a difference is claimed in at most 5 % of suites, within what 100 suites can
 * tell (binomial, 99.9 %: at most 13). */
static void chance_rarely_wins(void **state)
{
    (void)state;
    enum { SUITES = 100, MOST = 13 };
    size_t claimed = 0;
    for (uint64_t s = 0; s < SUITES; s++) {
        uint32_t hits[3 * PROBLEMS];
        for (size_t e = 0; e < 3; e++)
            fill(hits + e * PROBLEMS, 0.4, 1000 + 3 * s + e);
        SCOPED(versus_destroy) versus *v = compare(hits, 3);
        size_t last = 1;
        for (size_t e = 0; e < 3; e++)
            if (versus_ranks(v)[e].rank > last)
                last = versus_ranks(v)[e].rank;
        claimed += last > 1;
    }
    assert_in_range(claimed, 0, MOST);
}

static void one_entrant_is_first_and_none_is_nothing(void **state)
{
    (void)state;
    uint32_t hits[PROBLEMS];
    fill(hits, 0.5, 5);
    SCOPED(versus_destroy) versus *alone = compare(hits, 1);
    assert_int_equal(versus_ranks(alone)[0].rank, 1);
    assert_int_equal(versus_ranks(alone)[0].high, 1);
    assert_null(compare(hits, 0));
    versus_input empty = {.hits = hits, .entrants = 1, .problems = 0, .samples = 1};
    assert_null(versus_create(&empty));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcnemar_is_the_exact_binomial),
        cmocka_unit_test(mcnemar_has_its_critical_counts),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(what_a_suite_can_show_is_told),
        cmocka_unit_test(a_clear_winner_is_first_and_equals_share),
        cmocka_unit_test(twins_share_a_rank),
        cmocka_unit_test(the_order_of_entrants_changes_nothing),
        cmocka_unit_test(samples_are_drawn_as_a_binomial),
        cmocka_unit_test(problems_are_drawn_again),
        cmocka_unit_test(few_problems_prove_nothing),
        cmocka_unit_test(chance_rarely_wins),
        cmocka_unit_test(one_entrant_is_first_and_none_is_nothing),
    };
    return cmocka_run_group_tests_name("versus", tests, NULL, NULL);
}
