/* SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#define FENCED(source, plan) "```cuda\\n" source "\\n```\\n```json\\n" plan "\\n```\\n"
#define KERNEL               "extern \\\"C\\\" __global__ void k() {}"
#define PLAN(grid)                                                           \
    "{\\\"kernels\\\": [{\\\"entry\\\": \\\"k\\\", \\\"grid\\\": [\\\"" grid \
    "\\\"], \\\"block\\\": [32], \\\"shared\\\": \\\"0\\\", \\\"args\\\": []}]}"

static void every_way_to_fail_has_its_own_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        outcome result;
        const char *detail; /* NULL: not looked at */
    } cases[] = {
        {"no code here", OUTCOME_PARSE_FAILED, NULL},
        {FENCED(KERNEL, "{\\\"kernel\\\": []}"), OUTCOME_PLAN_INVALID, NULL},
        {FENCED(KERNEL, PLAN("9223372036854775807 * 2")), OUTCOME_PLAN_INVALID,
         "/kernels/0/grid/0"},
        {FENCED(KERNEL, PLAN("1 / 0")), OUTCOME_PLAN_INVALID, "/kernels/0/grid/0"},
        {FENCED("extern \\\"C\\\" __global__ void k() { nonsense; }", PLAN("1")),
         OUTCOME_COMPILE_FAILED, NULL},
        {FENCED("extern \\\"C\\\" __global__ void other() {}", PLAN("1")), OUTCOME_REJECTED, NULL},
        {FENCED("#include \\\"/etc/passwd\\\"\\n" KERNEL, PLAN("1")), OUTCOME_COMPILE_FAILED,
         NULL}};
    rig *r = NULL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        task_spec spec SCOPED(task_spec_fini) = {0};
        err e = {0};
        SCOPED(scoped_free)
        char *script =
            xasprintf("{\"rules\": [{\"stage\": \"codegen\", \"text\": \"%s\"}]}", cases[i].text);
        r = rig_create(NULL);
        assert_ok(run_mock(r, "silu_fp16", script, &spec, &e), e);
        const result_record *result = rig_result(r);
        if (result->result != cases[i].result) {
            fail_msg("case %zu: %s: %s", i, outcome_name(result->result),
                     result->text != NULL ? result->text : "");
        }
        if (cases[i].detail != NULL) {
            assert_string_equal(result->detail, cases[i].detail);
        }
        assert_int_equal(rig_stage(r, "codegen")->attempt_count, 3); /* the whole budget */
        rig_destroy(&r);
    }
}

static void a_repair_turn_quotes_what_was_wrong(void **state)
{
    (void)state;
    task_spec spec SCOPED(task_spec_fini) = {0};
    err e = {0};
    rig *r = rig_create(NULL);
    assert_ok(run_mock(r, "silu_fp16",
                       "{\"rules\": [{\"stage\": \"codegen\", \"index\": 0, \"text\": \"" FENCED(
                           KERNEL, PLAN("1 / 0")) "\"},"
                                                  "{\"stage\": \"codegen\", \"index\": 1, "
                                                  "\"text\": \"none\", \"stop\": \"length\"}]}",
                       &spec, &e),
              e);
    const stage_record *stage = rig_stage(r, "codegen");
    assert_int_equal(stage->attempt_count, 3);
    assert_int_equal(stage->attempts[0].result, OUTCOME_PLAN_INVALID);
    assert_int_equal(stage->attempts[1].result, OUTCOME_NO_ANSWER);
    assert_string_equal(stage->attempts[1].detail, "length");
    assert_string_equal(stage->attempts[2].detail, "exhausted");
    assert_int_equal(rig_result(r)->result, OUTCOME_NO_ANSWER);
    rig_destroy(&r);
}

static void a_failing_provider_is_the_harness_not_the_candidate(void **state)
{
    (void)state;
    task_spec spec SCOPED(task_spec_fini) = {0};
    err e = {0};
    rig *r = rig_create(NULL);
    assert_int_equal(run_mock(r, "silu_fp16",
                              "{\"rules\": [{\"stage\": \"codegen\", \"fault\": \"overloaded\"}]}",
                              &spec, &e),
                     -1);
    assert_true(e.retry);
    assert_non_null(strstr(e.text, "codegen"));
    assert_null(rig_result(r));
    rig_destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_fail_has_its_own_outcome),
        cmocka_unit_test(a_repair_turn_quotes_what_was_wrong),
        cmocka_unit_test(a_failing_provider_is_the_harness_not_the_candidate)};
    return cmocka_run_group_tests_name("codegen", tests, NULL, NULL);
}
