/* test_rng - the same numbers for the same seed, spread as promised
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/rng.h"

static void the_first_numbers_are_those_of_the_algorithm(void **state)
{
    (void)state;
    rng r = {{1, 2, 3, 4}};
    /* From the authors' definition, by hand: rotl(2 * 5, 7) * 9, then rotl(0 * 5, 7) * 9. */
    assert_true(rng_next(&r) == 11520);
    assert_true(rng_next(&r) == 0);
    assert_true(rng_next(&r) == 1509978240);
    rng_init(&r, 0);
    assert_true(r.state[0] == 0xE220A8397B1DCDAFu); /* splitmix64's check value */
}

static void equal_seeds_agree_and_others_do_not(void **state)
{
    (void)state;
    rng a, b, c;
    rng_init(&a, 7);
    rng_init(&b, 7);
    rng_init(&c, 8);
    int same = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = rng_next(&a);
        assert_true(x == rng_next(&b));
        same += x == rng_next(&c);
    }
    assert_int_equal(same, 0);
}

static void every_result_is_about_as_likely(void **state)
{
    (void)state;
    rng r;
    int hits[6] = {0};
    rng_init(&r, 1);
    for (int i = 0; i < 60000; i++)
        hits[rng_below(&r, 6)]++;
    for (int i = 0; i < 6; i++)
        assert_in_range(hits[i], 9600, 10400); /* four standard deviations */
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double u = rng_unit(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(sum > 4880 && sum < 5120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_numbers_are_those_of_the_algorithm),
        cmocka_unit_test(equal_seeds_agree_and_others_do_not),
        cmocka_unit_test(every_result_is_about_as_likely),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
