/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include "common/scoped.h"

static const provider_recorded recorded[] = {{"codegen", 0, "ok", "first"},
                                             {"codegen", 1, "length", "second"},
                                             {"polish", 0, "odd", "third"}};

static int ask(const char *stage, int64_t index, provider_answer *answer, err *e)
{
    provider_material material = fixture_material();
    material.recorded = recorded;
    material.recorded_count = 3;
    provider_request request = fixture_request(&material, stage, index);
    SCOPED(provider_destroy) provider *p = provider_create("replay:01", NULL, e);
    assert_non_null(p);
    return provider_ask(p, &request, answer, e);
}

static void answers_come_by_stage_and_index(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    assert_int_equal(ask("codegen", 1, &answer, &e), 0);
    assert_string_equal(answer.text, "second");
    assert_int_equal(answer.stop, PROVIDER_STOP_LENGTH);
    assert_true(answer.cost_usd == 0.0);
}

static void the_end_of_a_recording_is_an_answer(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    assert_int_equal(ask("codegen", 2, &answer, &e), 0);
    assert_int_equal(answer.stop, PROVIDER_STOP_EXHAUSTED);
}

static void an_unknown_stop_is_an_error(void **state)
{
    (void)state;
    err e = {0};
    provider_answer answer = {0};
    assert_int_equal(ask("polish", 0, &answer, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_null(answer.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_come_by_stage_and_index),
                                       cmocka_unit_test(the_end_of_a_recording_is_an_answer),
                                       cmocka_unit_test(an_unknown_stop_is_an_error)};
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
