/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <string.h>

#include "common/scoped.h"
#include "providers/gold.h"

static provider_answer ask(const provider_material *material, const char *stage, int64_t index)
{
    provider_request request = fixture_request(material, stage, index);
    provider_answer answer = {0};
    err e = {0};
    assert_int_equal(gold_answer(NULL, &request, &answer, &e), 0);
    return answer;
}

static void codegen_is_answered_in_the_fenced_format(void **state)
{
    (void)state;
    provider_material material = fixture_material();
    SCOPED(provider_answer_fini) provider_answer answer = ask(&material, "codegen", 0);
    assert_int_equal(answer.stop, PROVIDER_STOP_OK);
    assert_non_null(strstr(answer.text, "```cuda\n__global__ void k() {}\n```"));
    assert_non_null(strstr(answer.text, "```json\n{\"kernels\": []}\n```"));
}

static void interview_tells_the_contract(void **state)
{
    (void)state;
    provider_material material = fixture_material();
    SCOPED(provider_answer_fini) provider_answer answer = ask(&material, "interview", 0);
    assert_non_null(strstr(answer.text, "\"name\": \"copy\""));
    assert_non_null(strstr(answer.text, "\"plan_of_attack\""));
}

static void there_is_nothing_to_repair_with(void **state)
{
    (void)state;
    provider_material material = fixture_material();
    static const struct {
        const char *stage;
        int64_t index;
    } cases[] = {{"correctness", 0}, {"performance", 0}, {"codegen", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED(provider_answer_fini)
        provider_answer answer = ask(&material, cases[i].stage, cases[i].index);
        assert_int_equal(answer.stop, PROVIDER_STOP_EXHAUSTED);
        assert_string_equal(answer.text, "");
    }
}

static void a_problem_without_gold_is_refused(void **state)
{
    (void)state;
    provider_material material = fixture_material();
    material.gold_source = NULL;
    SCOPED(provider_answer_fini) provider_answer answer = ask(&material, "codegen", 0);
    assert_int_equal(answer.stop, PROVIDER_STOP_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codegen_is_answered_in_the_fenced_format),
                                       cmocka_unit_test(interview_tells_the_contract),
                                       cmocka_unit_test(there_is_nothing_to_repair_with),
                                       cmocka_unit_test(a_problem_without_gold_is_refused)};
    return cmocka_run_group_tests_name("gold", tests, NULL, NULL);
}
