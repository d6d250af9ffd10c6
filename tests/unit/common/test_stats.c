/* test_stats - what reports and timing print
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/stats.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(b) + 1);
}

static void quantiles_interpolate_as_type_7(void **state)
{
    (void)state;
    static const double values[] = {15, 20, 35, 40, 50, 10};
    /* from R: quantile(c(10,15,20,35,40,50), type = 7) */
    static const double rows[][2] = {{0, 10},       {0.25, 16.25}, {0.5, 27.5},
                                     {0.75, 38.75}, {0.9, 45.0},   {1, 50}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(near(stats_quantile(values, 6, rows[i][0]), rows[i][1]));
    assert_true(near(stats_median(values, 5), 35));
    assert_true(near(stats_median(values, 1), 15));
    assert_true(near(values[5], 10)); /* the input is not sorted in place */
}

static void sorting_is_ascending_and_in_place(void **state)
{
    (void)state;
    double values[] = {3, -1, (double)INFINITY, 2, -1};
    stats_sort(values, 5);
    assert_true(values[0] == -1 && values[1] == -1 && values[2] == 2 && values[3] == 3 &&
                isinf(values[4]));
    stats_sort(values, 0);
}

static void undefined_is_nan_never_a_number(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3};
    const double with_nan[] = {1, (double)NAN, 3};
    assert_true(isnan(stats_median(values, 0)));
    assert_true(isnan(stats_median(with_nan, 3)));
    assert_true(isnan(stats_quantile(values, 3, -0.1)));
    assert_true(isnan(stats_quantile(values, 3, 1.1)));
    assert_true(isnan(stats_quantile(values, 3, (double)NAN)));
    assert_true(isnan(stats_geomean(values, 0)));
    assert_true(isnan(stats_geomean(with_nan, 3)));
    assert_true(isnan(stats_geomean((const double[]){1, 0}, 2)));
    assert_true(isnan(stats_geomean((const double[]){1, -2}, 2)));
}

static void infinity_does_not_poison_its_neighbours(void **state)
{
    (void)state;
    const double values[] = {1, 2, (double)INFINITY};
    assert_true(near(stats_median(values, 3), 2));
    assert_true(isinf(stats_quantile(values, 3, 1)));
}

static void the_geometric_mean_survives_extremes(void **state)
{
    (void)state;
    assert_true(near(stats_geomean((const double[]){2, 8}, 2), 4));
    assert_true(near(stats_geomean((const double[]){1e300, 1e300, 1e-300, 1e-300}, 4), 1));
}

static void the_wilson_interval_matches_published_values(void **state)
{
    (void)state;
    /* Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29 */
    static const struct {
        size_t k, n;
        double low, high;
    } rows[] = {{81, 263, 0.2553, 0.3662},
                {15, 148, 0.0624, 0.1605},
                {0, 20, 0.0000, 0.1611},
                {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double low;
        double high;
        stats_wilson(rows[i].k, rows[i].n, &low, &high);
        assert_true(fabs(low - rows[i].low) < 6e-5);
        assert_true(fabs(high - rows[i].high) < 6e-5);
    }
    double low;
    double high;
    stats_wilson(5, 5, &low, &high);
    assert_true(high == 1 && low > 0.5);
    stats_wilson(0, 0, &low, &high);
    assert_true(isnan(low) && isnan(high));
    stats_wilson(3, 2, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

static void pass_at_k_counts_subsets(void **state)
{
    (void)state;
    static const struct {
        size_t n, c, k;
        double expected; /* 1 - C(n-c, k) / C(n, k), by hand */
    } rows[] = {{1, 0, 1, 0},       {1, 1, 1, 1},
                {5, 2, 1, 0.4},     {5, 2, 2, 0.7},
                {5, 4, 2, 1},       {10, 3, 5, 1 - 21.0 / 252},
                {200, 1, 100, 0.5}, {10, 0, 5, 0},
                {5, 5, 5, 1},       {20, 6, 10, 1 - 1001.0 / 184756}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(near(stats_pass_at_k(rows[i].n, rows[i].c, rows[i].k), rows[i].expected));
    assert_true(isnan(stats_pass_at_k(4, 4, 5)));
    assert_true(isnan(stats_pass_at_k(0, 0, 1)));
    assert_true(isnan(stats_pass_at_k(5, 2, 0)));
    assert_true(isnan(stats_pass_at_k(5, 6, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pass_at_k_counts_subsets),
        cmocka_unit_test(quantiles_interpolate_as_type_7),
        cmocka_unit_test(sorting_is_ascending_and_in_place),
        cmocka_unit_test(undefined_is_nan_never_a_number),
        cmocka_unit_test(infinity_does_not_poison_its_neighbours),
        cmocka_unit_test(the_geometric_mean_survives_extremes),
        cmocka_unit_test(the_wilson_interval_matches_published_values),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
