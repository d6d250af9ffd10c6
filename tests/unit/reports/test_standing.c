/* What is shown about two entrants: published values, and nothing where nothing is known.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "common/scoped.h"
#include "reports/standing.h"

enum { PROBLEMS = 20, SAMPLES = 2, ENTRANTS = 3 };

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(b) + 1);
}

typedef struct made {
    uint32_t correct[ENTRANTS * PROBLEMS], certified[ENTRANTS * PROBLEMS];
    double speedup[ENTRANTS * PROBLEMS];
} made;

/* Entrant 0 solves all at twice the speed of entrant 1, which solves the first 12; entrant 2 solves the
 * last 8, has no speed, and each with one sample of two only. */
static void fill(made *m)
{
    *m = (made){{0}, {0}, {0}};
    for (size_t p = 0; p < PROBLEMS; p++) {
        m->correct[p] = SAMPLES;
        m->certified[p] = p < 15 ? SAMPLES : 0;
        m->correct[PROBLEMS + p] = p < 12 ? SAMPLES : 0;
        m->correct[2 * PROBLEMS + p] = p >= 12 ? 1 : 0;
        m->speedup[p] = 2.0 + (double)p;
        m->speedup[PROBLEMS + p] = p < 12 ? (2.0 + (double)p) / 2 : (double)NAN;
        m->speedup[2 * PROBLEMS + p] = (double)NAN;
    }
}

static standing *stand(const made *m)
{
    return standing_create(
        &(standing_input){m->correct, m->certified, m->speedup, ENTRANTS, PROBLEMS, SAMPLES});
}

static void what_one_solved_and_the_other_not_is_tested(void **state)
{
    (void)state;
    made m;
    fill(&m);
    SCOPED(standing_destroy) standing *s = stand(&m);
    const standing_pair *pair = standing_between(s, 0, 1);
    assert_int_equal(pair->only_first, 8);
    assert_int_equal(pair->only_second, 0);
    /* 2 / 2^8, the second smallest of three: twice */
    assert_true(near(pair->mcnemar, 2 * 2.0 / 256));
    assert_true(near(pair->rate.difference, 0.4) && pair->rate.low > 0);
    assert_true(near(pair->wins.difference, 0.75) && pair->wins.low > 0);
    pair = standing_between(s, 1, 2);
    assert_int_equal(pair->only_first, 12);
    assert_int_equal(pair->only_second, 8);
    assert_int_equal(standing_rank(s, 0)->rank, 1);
}

static void speeds_are_compared_where_both_have_one(void **state)
{
    (void)state;
    made m;
    fill(&m);
    SCOPED(standing_destroy) standing *s = stand(&m);
    const standing_pair *pair = standing_between(s, 0, 1);
    assert_int_equal(pair->both, 12);
    assert_true(near(pair->ratio, 2) && near(pair->ratio_low, 2) && near(pair->ratio_high, 2));
    pair = standing_between(s, 0, 2);
    assert_int_equal(pair->both, 0);
    assert_true(isnan(pair->ratio) && isnan(pair->ratio_low) && isnan(pair->ratio_high));
}

static void five_problems_have_a_ratio_and_no_interval(void **state)
{
    (void)state;
    made m;
    fill(&m);
    for (size_t p = 5; p < PROBLEMS; p++)
        m.speedup[p] = (double)NAN;
    SCOPED(standing_destroy) standing *s = stand(&m);
    const standing_pair *pair = standing_between(s, 0, 1);
    assert_int_equal(pair->both, 5);
    assert_true(near(pair->ratio, 2) && isnan(pair->ratio_low));
}

static void what_the_problems_can_show_is_told(void **state)
{
    (void)state;
    made m;
    fill(&m);
    SCOPED(standing_destroy) standing *s = stand(&m);
    /* entrants 1 and 2 never solve the same: all 20 problems are discordant */
    assert_true(near(standing_detectable(s), versus_detectable(PROBLEMS, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_solved_and_the_other_not_is_tested),
        cmocka_unit_test(speeds_are_compared_where_both_have_one),
        cmocka_unit_test(five_problems_have_a_ratio_and_no_interval),
        cmocka_unit_test(what_the_problems_can_show_is_told),
    };
    return cmocka_run_group_tests_name("standing", tests, NULL, NULL);
}
