/* test_gain - what further tries bring, counted by hand
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "reports/gain.h"

static const double none = (double)NAN;

static bool close_to(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void each_try_counts_with_those_before_it(void **state)
{
    (void)state;
    gain g = {0};
    /* wrong, then 2 times as fast, then a slower one: the best stays */
    const score_tries first = {.rows = {{false, none}, {true, 2}, {true, 1.5}}, .count = 3};
    /* right at once, slower than the baseline: no gain, never a loss */
    const score_tries second = {.rows = {{true, 0.5}}, .count = 1};
    /* never right, whatever it took */
    const score_tries third = {.rows = {{false, 9}, {false, none}}, .count = 2};
    gain_add(&g, &first, 2);
    gain_add(&g, &second, 0.5);
    gain_add(&g, &third, none);
    assert_int_equal(g.tasks, 3);
    assert_int_equal(g.tries, 3);
    assert_int_equal(g.timed, 2);
    assert_true(close_to(gain_share(&g, 0), 1.0 / 3));
    assert_true(close_to(gain_share(&g, 1), 2.0 / 3));
    assert_true(close_to(gain_share(&g, SCORE_TRIES_MAX - 1), 2.0 / 3));
    assert_true(close_to(gain_best(&g, 0), 1));
    assert_true(close_to(gain_best(&g, 1), cbrt(2)));
    assert_true(close_to(gain_best(&g, 2), cbrt(2)));
}

/* Runs of before there were comparisons have one time a task. */
static void a_task_with_one_time_has_it_from_its_last_correct_try(void **state)
{
    (void)state;
    gain g = {0};
    const score_tries use = {.rows = {{true, none}, {true, none}, {false, none}}, .count = 3};
    gain_add(&g, &use, 3);
    assert_true(close_to(gain_best(&g, 0), 1));
    assert_true(close_to(gain_best(&g, 1), 3));
    assert_true(close_to(gain_best(&g, 2), 3));
}

/* Scripted times, and those that were not published, are no gain. */
static void times_that_may_not_be_shown_count_for_nothing(void **state)
{
    (void)state;
    gain g = {0};
    const score_tries use = {.rows = {{true, 4}}, .count = 1};
    gain_add(&g, &use, none);
    assert_true(close_to(gain_best(&g, 0), 1));
    assert_int_equal(g.timed, 0);
    assert_true(close_to(gain_share(&g, 0), 1));
}

static void nothing_is_not_a_number(void **state)
{
    (void)state;
    const gain g = {0};
    assert_true(isnan(gain_share(&g, 0)));
    assert_true(isnan(gain_best(&g, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_try_counts_with_those_before_it),
        cmocka_unit_test(a_task_with_one_time_has_it_from_its_last_correct_try),
        cmocka_unit_test(times_that_may_not_be_shown_count_for_nothing),
        cmocka_unit_test(nothing_is_not_a_number),
    };
    return cmocka_run_group_tests_name("gain", tests, NULL, NULL);
}
