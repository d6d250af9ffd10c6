/* test_decimal - the same text as printf's, and back
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/decimal.h"
#include "common/rng.h"

enum { DRAWS = 20000 };

static void check(double value)
{
    char mine[DECIMAL_TEXT], theirs[DECIMAL_TEXT];
    for (int digits = 1; digits <= DECIMAL_DIGITS_MAX; digits++) {
        snprintf(theirs, sizeof theirs, "%.*g", digits, value);
        const size_t size = decimal_write(value, digits, mine);
        assert_string_equal(mine, theirs);
        assert_int_equal(size, strlen(theirs));
    }
    for (int digits = 15; digits <= DECIMAL_DIGITS_MAX; digits++) {
        snprintf(theirs, sizeof theirs, "%.*g", digits, value);
        if (strtod(theirs, NULL) == value)
            break;
    }
    assert_int_equal(decimal_shortest(value, mine), strlen(theirs));
    assert_string_equal(mine, theirs);
}

static void hard_numbers_are_written_as_printf_writes_them(void **state)
{
    (void)state;
    static const double rows[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.1,
                                  0.5,
                                  2.5,
                                  0.125,
                                  9.5,
                                  99.96,
                                  1e-4,
                                  9.9999999999999991e-5,
                                  1e-5,
                                  0.001,
                                  123456789,
                                  999999999.5,
                                  1e9,
                                  999999999999999.9,
                                  1e15,
                                  1e16,
                                  1.4999999999999991,
                                  0.037500000000000006,
                                  1e300,
                                  5e-324,
                                  9007199254740993.0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(rows[i]);
    for (int exponent = -20; exponent <= 55; exponent++) { /* the gap below is half the gap above */
        const double two = ldexp(1, exponent);
        check(two);
        check(nextafter(two, 0));
        check(nextafter(two, 1e300));
    }
    double ten = 1e-6;
    for (int exponent = -6; exponent < 17; exponent++, ten *= 10) {
        check(ten);
        check(nextafter(ten, 0));
        check(nextafter(ten, 1e300));
    }
}

static void drawn_numbers_are_written_as_printf_writes_them(void **state)
{
    (void)state;
    rng random;
    rng_init(&random, 7);
    for (size_t i = 0; i < DRAWS; i++) {
        const double mantissa = 0.5 + rng_unit(&random);
        check(ldexp(mantissa, (int)(rng_next(&random) % 70) - 17));
        check((double)(rng_next(&random) % 100000000) / 1e6); /* millionths, as clocks give them */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_numbers_are_written_as_printf_writes_them),
        cmocka_unit_test(drawn_numbers_are_written_as_printf_writes_them),
    };
    return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
