/* test_night_gate - which nights a night is held against
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "coordinator/night_gate.h"

static void good_nights_before_it_count_back_to_the_accepted_one(void **state)
{
    (void)state;
    night_row rows[] = {
        {.id = 9, .verdict = NIGHT_OPEN, .run = "r9"},
        {.id = 8, .verdict = NIGHT_GOOD, .run = "r8"},
        {.id = 7, .verdict = NIGHT_WORSE, .run = "r7"},
        {.id = 6, .verdict = NIGHT_GOOD},
        {.id = 5, .verdict = NIGHT_GOOD, .run = "r5", .accepted = true},
        {.id = 4, .verdict = NIGHT_GOOD, .run = "r4"},
    };
    const night_list nights = {rows, sizeof rows / sizeof rows[0]};
    SCOPED(night_before_fini) night_before all = night_gate_before(&nights, 9, 7);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.runs[0], "r8");
    assert_string_equal(all.runs[1], "r5");
    SCOPED(night_before_fini) night_before one = night_gate_before(&nights, 9, 1);
    assert_int_equal(one.count, 1);
    SCOPED(night_before_fini) night_before early = night_gate_before(&nights, 5, 7);
    assert_int_equal(early.count, 1);
    assert_string_equal(early.runs[0], "r4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_nights_before_it_count_back_to_the_accepted_one),
    };
    return cmocka_run_group_tests_name("night_gate", tests, NULL, NULL);
}
