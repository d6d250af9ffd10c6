/* test_dist - against printed tables
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

#include "common/dist.h"

static bool near(double a, double b, double by)
{
    return fabs(a - b) <= by;
}

static void quantiles_of_t_are_the_tables(void **state)
{
    (void)state;
    static const double rows[][3] = {{0.975, 1, 12.7062},  {0.975, 4, 2.7764},  {0.975, 9, 2.2622},
                                     {0.975, 14, 2.1448},  {0.995, 4, 4.6041},  {0.95, 10, 1.8125},
                                     {0.975, 1e6, 1.9600}, {0.025, 9, -2.2622}, {0.5, 3, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!near(dist_t_quantile(rows[i][0], rows[i][1]), rows[i][2], 6e-5))
            fail_msg("row %zu: %f", i, dist_t_quantile(rows[i][0], rows[i][1]));
}

static void tails_of_f_are_the_tables(void **state)
{
    (void)state;
    static const double rows[][4] = {{5.1922, 4, 5, 0.05},
                                     {3.0204, 9, 10, 0.05},
                                     {10.0480, 3, 10, 0.0023},
                                     {161.4476, 1, 1, 0.05},
                                     {0, 3, 7, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!near(dist_f_tail(rows[i][0], rows[i][1], rows[i][2]), rows[i][3], 1e-4))
            fail_msg("row %zu: %f", i, dist_f_tail(rows[i][0], rows[i][1], rows[i][2]));
    assert_true(dist_f_tail((double)INFINITY, 2, 3) == 0);
    /* t with d degrees, squared, is F with 1 and d. */
    double t = dist_t_quantile(0.975, 9);
    assert_true(near(dist_f_tail(t * t, 1, 9), 0.05, 1e-9));
}

static void beta_is_exact_where_it_is_a_polynomial(void **state)
{
    (void)state;
    for (int i = 0; i <= 8; i++) {
        double x = i / 8.0;
        assert_true(near(dist_beta(x, 1, 1), x, 1e-14));
        assert_true(near(dist_beta(x, 2, 2), x * x * (3 - 2 * x), 1e-14));
        assert_true(near(dist_beta(x, 3, 1), x * x * x, 1e-14));
    }
}

static void outside_the_domain_is_nan(void **state)
{
    (void)state;
    assert_true(isnan(dist_beta(1.5, 1, 1)));
    assert_true(isnan(dist_beta(0.5, 0, 1)));
    assert_true(isnan(dist_f_tail(-1, 1, 1)));
    assert_true(isnan(dist_f_tail((double)NAN, 1, 1)));
    assert_true(isnan(dist_t_quantile(0, 3)));
    assert_true(isnan(dist_t_quantile(1, 3)));
    assert_true(isnan(dist_t_quantile(0.5, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_t_are_the_tables),
        cmocka_unit_test(tails_of_f_are_the_tables),
        cmocka_unit_test(beta_is_exact_where_it_is_a_polynomial),
        cmocka_unit_test(outside_the_domain_is_nan),
    };
    return cmocka_run_group_tests_name("dist", tests, NULL, NULL);
}
