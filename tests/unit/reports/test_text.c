/* test_text - numbers and names as reports print them
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "reports/text.h"

static void expect(buf *out, const char *want)
{
    assert_string_equal(buf_text(out), want);
    buf_clear(out);
}

static void missing_numbers_are_a_dash_and_never_zero(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    text_factor(&out, (double)NAN);
    text_ms(&out, (double)NAN);
    text_share(&out, 0, 0);
    text_date(&out, 0);
    text_cell(&out, NULL);
    expect(&out, "–––––");
}

static void numbers_have_the_digits_that_matter(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    static const struct {
        double value;
        const char *factor, *ms;
    } rows[] = {{1.005, "1.00×", "1.005"},   {0.5, "0.50×", "0.5"},
                {9.994, "9.99×", "9.994"},   {9.996, "10.0×", "9.996"},
                {123.46, "123.5×", "123.5"}, {0.0123456, "0.01×", "0.01235"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text_factor(&out, rows[i].value);
        expect(&out, rows[i].factor);
        text_ms(&out, rows[i].value);
        expect(&out, rows[i].ms);
    }
    text_share(&out, 1, 3);
    expect(&out, "33.3 %");
    text_usd(&out, 0.5, 0);
    expect(&out, "$0.5000");
    text_usd(&out, 1.25, 2);
    expect(&out, "$1.2500 + 2 unknown");
    text_minutes(&out, 90000);
    expect(&out, "1.5 min");
}

static void counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    static const struct {
        int64_t value;
        const char *want;
    } rows[] = {{0, "0"},
                {999, "999"},
                {1000, "1,000"},
                {1002003, "1,002,003"},
                {9007199254740993, "9,007,199,254,740,993"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text_count(&out, rows[i].value);
        expect(&out, rows[i].want);
    }
}

static void foreign_text_cannot_break_a_table(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    text_cell(&out, "a|b\n<script> `x` *y* [z](u) \\");
    expect(&out, "a\\|b \\<script\\> \\`x\\` \\*y\\* \\[z\\](u) \\\\");
}

static void outcomes_carry_their_detail(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    board_row task = {.state = TASK_LEASED};
    text_outcome(&out, &task);
    expect(&out, "not scored");
    task.state = TASK_DONE;
    task.outcome.result = OUTCOME_WRONG;
    text_outcome(&out, &task);
    expect(&out, "wrong");
    task.outcome.detail = "unwritten";
    text_outcome(&out, &task);
    expect(&out, "wrong(unwritten)");
}

/* Nobody may read "clean" where no tool said so, not even as "0 clean". */
static void only_states_that_were_met_are_named(void **state)
{
    (void)state;
    static const struct {
        size_t said[BOARD_SANITIZERS];
        const char *text;
    } rows[] = {
        {{[BOARD_SANITIZER_NONE] = 4}, ""},
        {{[BOARD_SANITIZER_NOT_RUN] = 2}, "2 not run"},
        {{[BOARD_SANITIZER_FINDING] = 1, [BOARD_SANITIZER_NOT_RUN] = 3},
         "1 with a finding, 3 not run"},
        {{[BOARD_SANITIZER_CLEAN] = 5}, "5 clean"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, 100);
        text_sanitizer_counts(&out, rows[i].said);
        assert_string_equal(buf_text(&out), rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_states_that_were_met_are_named),
        cmocka_unit_test(missing_numbers_are_a_dash_and_never_zero),
        cmocka_unit_test(numbers_have_the_digits_that_matter),
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(foreign_text_cannot_break_a_table),
        cmocka_unit_test(outcomes_carry_their_detail),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
