/* test_outcome - the closed list
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "common/outcome.h"

static void names_numbers_and_scoring_are_fixed(void **state)
{
    (void)state;
    static const struct {
        outcome value;
        int number;
        const char *name;
        bool scored;
    } rows[] = {{OUTCOME_OK, 0, "ok", true},
                {OUTCOME_PLAN_INVALID, 3, "plan_invalid", true},
                {OUTCOME_HUNG, 8, "hung", true},
                {OUTCOME_WRONG, 13, "wrong", true},
                {OUTCOME_UNSUPPORTED_ON_EMU, 14, "unsupported_on_emu", false},
                {OUTCOME_NOT_RUN, 15, "not_run", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(rows[i].value, rows[i].number);
        assert_string_equal(outcome_name(rows[i].value), rows[i].name);
        assert_int_equal(outcome_is_scored(rows[i].value), rows[i].scored);
    }
}

static void every_value_survives_its_name(void **state)
{
    (void)state;
    for (int i = 0; i <= OUTCOME_NOT_RUN; i++) {
        outcome back = OUTCOME_OK;
        assert_true(outcome_parse(outcome_name((outcome)i), &back));
        assert_int_equal(back, i);
    }
}

static void what_is_not_listed_is_refused(void **state)
{
    (void)state;
    outcome out = OUTCOME_RACE;
    assert_false(outcome_parse("OK", &out));
    assert_false(outcome_parse("", &out));
    assert_false(outcome_parse("unknown", &out));
    assert_int_equal(out, OUTCOME_RACE);
    assert_string_equal(outcome_name((outcome)16), "unknown");
    assert_string_equal(outcome_name((outcome)-1), "unknown");
    assert_false(outcome_is_scored((outcome)16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_numbers_and_scoring_are_fixed),
        cmocka_unit_test(every_value_survives_its_name),
        cmocka_unit_test(what_is_not_listed_is_refused),
    };
    return cmocka_run_group_tests_name("outcome", tests, NULL, NULL);
}
