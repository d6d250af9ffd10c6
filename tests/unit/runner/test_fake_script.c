/* test_fake_script - the fake device's script, strictly read
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/runner/fake_script.h"

static int read_script(fake_script *s, const char *text, const char *problem, err *e)
{
    return fake_script_read(s, text, strlen(text), "fake.json", problem, e);
}

static void an_empty_script_means_the_defaults(void **state)
{
    (void)state;
    fake_script s;
    assert_int_equal(read_script(&s, "{}", "any", NULL), 0);
    assert_int_equal(s.load.verdict.result, OUTCOME_OK);
    assert_int_equal(s.check.verdict.result, OUTCOME_OK);
    assert_int_equal(s.check.verdict.elapsed_us, 10);
    assert_int_equal(s.candidate_count, 1);
    assert_true(s.candidate_ms[0] > 0.0099 && s.candidate_ms[0] < 0.0101);
    assert_false(s.check.crash || s.check.hang);
}

static const char layered[] =
    "{\"default\":{\"check\":{\"outcome\":\"wrong\",\"detail\":\"unwritten\",\"elapsed_us\":5},"
    "\"delay_ms\":7,\"compare\":{\"equal\":true},\"baselines\":{\"eager\":[0.02]}},"
    "\"problems\":{\"p\":{\"check\":{\"outcome\":\"hung\"},\"candidate_ms\":[1,2.5]},"
    "\"q\":{\"crash\":true,\"load\":{\"hang\":true}}}}";

static void a_problem_overrides_member_by_member(void **state)
{
    (void)state;
    fake_script s;
    assert_int_equal(read_script(&s, layered, "p", NULL), 0);
    assert_int_equal(s.check.verdict.result, OUTCOME_HUNG);
    assert_string_equal(s.check.verdict.detail, "unwritten");
    assert_int_equal(s.check.verdict.elapsed_us, 5);
    assert_int_equal(s.delay_ms, 7);
    assert_int_equal(s.candidate_count, 2);
    assert_int_equal(read_script(&s, layered, "q", NULL), 0);
    assert_int_equal(s.check.verdict.result, OUTCOME_WRONG);
    assert_true(s.check.crash && s.load.hang && !s.load.crash);
    assert_int_equal(read_script(&s, layered, NULL, NULL), 0);
    assert_int_equal(s.check.verdict.result, OUTCOME_WRONG);
    assert_false(s.check.crash);
}

typedef struct bad_case {
    const char *text;
    const char *says; /* part of the sentence */
} bad_case;

static const bad_case bad[] = {
    {"", "fake.json"},
    {"[]", "fake.json"},
    {"{\"defaults\":{}}", "defaults"},
    {"{\"default\":{\"chek\":{}}}", "/default"},
    {"{\"default\":{\"check\":{\"outcome\":\"fine\"}}}", "/default/check/outcome"},
    {"{\"default\":{\"check\":{\"outcome\":1}}}", "/default/check/outcome"},
    {"{\"default\":{\"check\":{\"elapsed_us\":-1}}}", "/default/check/elapsed_us"},
    {"{\"default\":{\"candidate_ms\":[]}}", "/default/candidate_ms"},
    {"{\"default\":{\"candidate_ms\":[0.1,0]}}", "/default/candidate_ms/1"},
    {"{\"default\":{\"candidate_ms\":[-1]}}", "/default/candidate_ms/0"},
    {"{\"default\":{\"delay_ms\":99999999}}", "/default/delay_ms"},
    {"{\"default\":{\"crash\":1}}", "/default/crash"},
    {"{\"default\":{\"baselines\":{\"eager\":0.02}}}", "/default/baselines/eager"},
    {"{\"problems\":{\"other\":{\"hang\":\"yes\"}}}", "/problems/other/hang"},
};

static void a_mistake_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_script s;
        err e = {0};
        assert_int_equal(read_script(&s, bad[i].text, "p", &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        if (strstr(e.text, bad[i].says) == NULL)
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, e.text, bad[i].says);
    }
}

static void an_absent_file_is_not_found(void **state)
{
    (void)state;
    fake_script s;
    err e = {0};
    assert_int_equal(fake_script_load(&s, "/nonexistent/fake.json", NULL, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_script_means_the_defaults),
        cmocka_unit_test(a_problem_overrides_member_by_member),
        cmocka_unit_test(a_mistake_is_told_with_its_place),
        cmocka_unit_test(an_absent_file_is_not_found),
    };
    return cmocka_run_group_tests_name("fake_script", tests, NULL, NULL);
}
