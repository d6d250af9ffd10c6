/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "agent-node/stages/answer.h"
#include "common/scoped.h"

static void a_candidate_is_taken_out_of_prose(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "Sure!\n\n```cuda\nA\nB\n```\nand\n```json\n{}\n```\nbye",
        "```json\n{}\n```\n```cuda\nA\nB\n```",
        "  ```cpp\r\nA\r\nB\r\n  ```\r\n```JSON\r\n{}\r\n```",
        "````cu\nA\nB\n````\n~~~\n```json title=plan\n{}\n```",
        "```json``` is what you want, so:\n```cuda\nA\nB\n```\n```json\n{}\n```",
        "```python\nprint()\n```\n```c++\nA\nB\n```\n```json\n{}\n```"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        SCOPED(answer_candidate_fini) answer_candidate c = {0};
        char why[ANSWER_WHY_MAX] = "";
        if (answer_read_candidate(answers[i], &c, why) != 0) {
            fail_msg("answer %zu: %s", i, why);
        }
        assert_string_equal(c.source, "A\nB\n");
        assert_string_equal(c.plan, "{}\n");
    }
}

static void what_is_missing_double_or_cut_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        const char *why;
    } cases[] = {{"", "0 ```cuda blocks"},
                 {"no fences at all", "0 ```cuda blocks"},
                 {"```cuda\nA\n```", "0 ```json blocks"},
                 {"```cuda\nA\n```\n```cuda\nB\n```\n```json\n{}\n```", "2 ```cuda blocks"},
                 {"```cuda\nA\n```\n```json\n{}\n```\n```json\n{}\n```", "2 ```json blocks"},
                 {"```cuda\nA\n```\n```json\n{", "not closed"},
                 {"``cuda\nA\n``\n```json\n{}\n```", "0 ```cuda blocks"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        answer_candidate c = {0};
        char why[ANSWER_WHY_MAX] = "";
        assert_int_equal(answer_read_candidate(cases[i].answer, &c, why), -1);
        assert_null(c.source);
        if (strstr(why, cases[i].why) == NULL) {
            fail_msg("case %zu says: %s", i, why);
        }
    }
}

static void a_source_past_the_limit_is_refused(void **state)
{
    (void)state;
    static const char head[] = "```json\n{}\n```\n```cuda\n";
    size_t size = sizeof(head) + ANSWER_SOURCE_MAX + 16;
    SCOPED(scoped_free) char *answer = malloc(size);
    answer_candidate c = {0};
    char why[ANSWER_WHY_MAX] = "";
    memset(answer, 'a', size);
    memcpy(answer, head, sizeof(head) - 1);
    memcpy(answer + size - 6, "\n```\n", 6);
    assert_int_equal(answer_read_candidate(answer, &c, why), -1);
    assert_non_null(strstr(why, "larger than"));
}

#define SPEC                                                                                      \
    "{\"name\": \"n\", \"semantics\": \"s\", \"inputs\": [{\"name\": \"x\", \"dtype\": \"f16\", " \
    "\"shape\": [\"rows\", 3]}], \"outputs\": [], \"hazards\": [\"h\"], \"plan_of_attack\": "     \
    "\"p\"}"

static void a_specification_is_read_bare_or_out_of_prose(void **state)
{
    (void)state;
    static const char *const answers[] = {"x\n```json\n" SPEC "\n```\n", SPEC, "\n " SPEC " \n",
                                          "So:\n```\n" SPEC "\n```\nwhere\n```\nrows\n```\n"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        char why[ANSWER_WHY_MAX] = "";
        SCOPED(json_destroy) json *spec = answer_read_spec(answers[i], why);
        if (spec == NULL) {
            fail_msg("answer %zu: %s", i, why);
        }
        assert_string_equal(json_str(json_get(spec, "name"), ""), "n");
    }
}

static void a_wrong_specification_is_told_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *why;
    } cases[] = {{"no idea", "the answer has 0 ```json blocks; give exactly one"},
                 {"{\"name\": }", "KernelSpec:1: "},
                 {"{\"name\": 7}", "KernelSpec:1: /name: expected a string, found int"},
                 {"{\"nam\": \"x\"}", "KernelSpec:1: /nam: unknown key (did you mean \"name\"?)"},
                 {"```json\n{\"name\": \"x\"}\n```", "KernelSpec:1: \"semantics\" is missing"},
                 {"```json\n{}\n```\n```json\n{}\n```", "2 ```json blocks"},
                 {"```json\n{}", "not closed"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char why[ANSWER_WHY_MAX] = "";
        assert_null(answer_read_spec(cases[i].answer, why));
        if (strstr(why, cases[i].why) == NULL) {
            fail_msg("case %zu says: %s", i, why);
        }
    }
}

static void a_candidate_may_be_one_object(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{\"source\": \"A\\nB\", \"plan\": {\"kernels\": []}}",
        "\n{\"plan\": {\"kernels\": []}, \"source\": \"A\\nB\\n\"}\n",
        "Here:\n```json\n{\"source\": \"A\\nB\", \"plan\": {\"kernels\": []}}\n```\n"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        SCOPED(answer_candidate_fini) answer_candidate c = {0};
        char why[ANSWER_WHY_MAX] = "";
        if (answer_read_candidate(answers[i], &c, why) != 0) {
            fail_msg("answer %zu: %s", i, why);
        }
        assert_string_equal(c.source, "A\nB\n");
        assert_string_equal(c.plan, "{\n  \"kernels\": []\n}\n");
    }
}

static void a_wrong_object_is_told_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *why;
    } cases[] = {
        {"{\"source\": \"A\", \"plan\": {}", "answer:1: "},
        {"{\"source\": \"A\"}", "answer:1: \"plan\" is missing"},
        {"{\"plan\": {}}", "answer:1: \"source\" is missing"},
        {"{\"source\": 7, \"plan\": {}}", "answer:1: /source: expected a string, found int"},
        {"{\"source\": \"A\", \"plan\": \"{}\"}", "/plan: expected an object, found string"},
        {"{\"source\": \"A\", \"plan\": {}, \"thought\": 1}", "/thought: unknown key"},
        {"```json\n{\"kernels\": []}\n```", "0 ```cuda blocks"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        answer_candidate c = {0};
        char why[ANSWER_WHY_MAX] = "";
        assert_int_equal(answer_read_candidate(cases[i].answer, &c, why), -1);
        assert_null(c.source);
        assert_null(c.plan);
        if (strstr(why, cases[i].why) == NULL) {
            fail_msg("case %zu says: %s", i, why);
        }
    }
}

static void each_form_has_a_schema_of_its_members(void **state)
{
    (void)state;
    static const char *const members[][3] = {[ANSWER_CANDIDATE] = {"source", "plan", NULL},
                                             [ANSWER_SPEC] = {"semantics", "plan_of_attack", NULL}};
    for (int form = ANSWER_CANDIDATE; form <= ANSWER_SPEC; form++) {
        SCOPED(scoped_free) char *text = answer_form_schema((answer_form)form);
        SCOPED(json_destroy) json *schema = json_parse_tree(text, strlen(text), "schema", NULL);
        assert_non_null(schema);
        for (size_t i = 0; members[form][i] != NULL; i++) {
            assert_non_null(json_get(json_get(schema, "properties"), members[form][i]));
        }
        assert_true(strlen(answer_form_name((answer_form)form)) > 0);
        assert_true(strlen(answer_form_note((answer_form)form)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_candidate_is_taken_out_of_prose),
        cmocka_unit_test(what_is_missing_double_or_cut_is_said),
        cmocka_unit_test(a_source_past_the_limit_is_refused),
        cmocka_unit_test(a_specification_is_read_bare_or_out_of_prose),
        cmocka_unit_test(a_wrong_specification_is_told_exactly),
        cmocka_unit_test(a_candidate_may_be_one_object),
        cmocka_unit_test(a_wrong_object_is_told_exactly),
        cmocka_unit_test(each_form_has_a_schema_of_its_members)};
    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
