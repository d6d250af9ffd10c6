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

static void a_lone_json_block_is_read(void **state)
{
    (void)state;
    char why[ANSWER_WHY_MAX] = "";
    SCOPED(scoped_free) char *block = answer_read_json("x\n```json\n{\"a\": 1}\n```\n", why);
    assert_string_equal(block, "{\"a\": 1}\n");
    assert_null(answer_read_json("{\"a\": 1}", why));
    assert_non_null(strstr(why, "```json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_candidate_is_taken_out_of_prose),
                                       cmocka_unit_test(what_is_missing_double_or_cut_is_said),
                                       cmocka_unit_test(a_source_past_the_limit_is_refused),
                                       cmocka_unit_test(a_lone_json_block_is_read)};
    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
