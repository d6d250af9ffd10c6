/* test_verdict - outcomes with a sentence
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/runner/verdict.h"

static void ok_says_nothing(void **state)
{
    (void)state;
    runner_verdict v;
    memset(&v, 0xFF, sizeof v);
    verdict_ok(&v);
    assert_true(verdict_is_ok(&v));
    assert_string_equal(v.detail, "");
    assert_string_equal(v.text, "");
    assert_int_equal(v.elapsed_us, 0);
}

static void a_long_sentence_is_cut_and_terminated(void **state)
{
    (void)state;
    runner_verdict v;
    char text[4 * RUNNER_TEXT_MAX];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    verdict_ok(&v);
    verdict_set(&v, OUTCOME_CRASHED, text, "%s", text);
    assert_false(verdict_is_ok(&v));
    assert_int_equal(strlen(v.text), RUNNER_TEXT_MAX - 1);
    assert_int_equal(strlen(v.detail), OUTCOME_DETAIL_MAX - 1);
    verdict_set(&v, OUTCOME_HUNG, NULL, "short");
    assert_string_equal(v.detail, "");
    assert_string_equal(v.text, "short");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ok_says_nothing),
        cmocka_unit_test(a_long_sentence_is_cut_and_terminated),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
