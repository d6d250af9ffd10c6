/* test_calm - medians, and when they no longer move
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent-node/runner/timing/calm.h"

static void the_middle_of_an_even_number_lies_between(void **state)
{
    (void)state;
    double odd[] = {5, 1, 9}, even[] = {4, 1, 9, 2};
    assert_true(calm_middle(odd, 3) == 5);
    assert_true(calm_middle(even, 4) == 3);
}

typedef struct calm_case {
    double older, newer; /* the medians of each half */
    int count;
    bool calm;
} calm_case;

static void calm_means_two_halves_within_two_per_cent(void **state)
{
    (void)state;
    static const calm_case cases[] = {
        {100, 100, 10, true},  {100, 100, 9, false},  {101.9, 100, 10, true},
        {103, 100, 10, false}, {100, 103, 10, false}, {100, 101.9, 10, true},
        {103, 100, 13, false}, /* the ring has gone round: three newer ones stand first */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const calm_case *c = &cases[i];
        double medians[CALM_MEDIANS] = {0};
        for (int k = 0; k < c->count; k++)
            medians[k % CALM_MEDIANS] = k < c->count - CALM_MEDIANS / 2 ? c->older : c->newer;
        if (calm_reached(medians, c->count) != c->calm)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_of_an_even_number_lies_between),
        cmocka_unit_test(calm_means_two_halves_within_two_per_cent),
    };
    return cmocka_run_group_tests_name("calm", tests, NULL, NULL);
}
