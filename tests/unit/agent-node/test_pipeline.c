/* SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

static void gold_passes_all_five_stages(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run(r, &spec, &e), e);
    const result_record *result = rig_result(r);
    assert_int_equal(result->result, OUTCOME_OK);
    assert_string_equal(result->marks, "uncertified");
    assert_string_equal(result->device_kind, "fake");
    assert_string_equal(result->correct_protocol, "ce-correct-0");
    assert_string_equal(result->timing_protocol, "ce-timing-0");
    assert_true(fabs(result->speedup - result->baseline_ms / result->candidate_ms) < 1e-12);
    assert_int_equal(result->calls, 3); /* interview, codegen, polish */
    static const char *const stages[] = {"interview", "codegen", "correctness", "performance",
                                         "polish"};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(rig_stage(r, stages[i]));
        assert_string_equal(rig_stage(r, stages[i])->status, "passed");
    }
    assert_true(rig_stage(r, "performance")->measurement_count >= 2);
    rig_destroy(&r);
}

static void a_new_lease_repeats_no_finished_stage_and_no_answer(void **state)
{
    (void)state;
    static const char *const from[] = {"polish", "performance", "correctness", "codegen",
                                       "interview"};
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run(r, &spec, &e), e);
    size_t calls = rig_call_count(r);
    hash source = rig_result(r)->source;
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        rig_forget(r, from[i]);
        assert_null(rig_result(r));
        assert_ok(rig_run(r, &spec, &e), e);
        assert_int_equal(rig_call_count(r), calls);
        assert_int_equal(rig_result(r)->result, OUTCOME_OK);
        assert_int_equal(rig_result(r)->calls, 3);
        assert_true(hash_equal(&rig_result(r)->source, &source));
    }
    rig_destroy(&r);
}

static void a_stale_lease_ends_the_task_at_its_next_commit(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    rig_refuse(r, true);
    assert_int_equal(rig_run(r, &spec, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_null(rig_result(r));
    assert_int_equal(rig_call_count(r), 0);
    rig_destroy(&r);
}

static void a_failed_stage_ends_the_task_with_its_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        outcome result;
        const char *stage;
    } cases[] = {
        {"{\"default\": {\"load\": {\"outcome\": \"launch_failed\"}}}", OUTCOME_LAUNCH_FAILED,
         "correctness"},
        {"{\"default\": {\"check\": {\"outcome\": \"out_of_bounds\", \"detail\": \"write\"}}}",
         OUTCOME_OUT_OF_BOUNDS, "correctness"},
        {"{\"default\": {\"check\": {\"crash\": true}}}", OUTCOME_CRASHED, "correctness"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig *r = rig_create(cases[i].script);
        task_spec spec SCOPED(task_spec_fini);
        err e = {0};
        rig_spec(r, "silu_fp16", "gold", &spec);
        assert_ok(rig_run(r, &spec, &e), e);
        const result_record *result = rig_result(r);
        assert_int_equal(result->result, cases[i].result);
        assert_string_equal(result->stage, cases[i].stage);
        assert_true(isnan(result->speedup));
        assert_non_null(result->reason);
        assert_null(result->marks);
        assert_null(rig_stage(r, "performance"));
        rig_destroy(&r);
    }
}

static void a_replay_serves_the_stored_answers(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "replay:earlier", &spec);
    assert_ok(rig_run(r, &spec, &e), e);
    assert_int_equal(rig_result(r)->result, OUTCOME_NO_ANSWER);
    assert_string_equal(rig_result(r)->marks, "replay_exhausted");
    rig_destroy(&r);
}

static void a_contract_task_tells_what_the_reference_does(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run_contract(r, &spec, &e), e);
    assert_int_equal(rig_result(r)->result, OUTCOME_OK);
    assert_non_null(strstr(rig_result(r)->text, "shapes"));
    rig_destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gold_passes_all_five_stages),
        cmocka_unit_test(a_new_lease_repeats_no_finished_stage_and_no_answer),
        cmocka_unit_test(a_stale_lease_ends_the_task_at_its_next_commit),
        cmocka_unit_test(a_failed_stage_ends_the_task_with_its_outcome),
        cmocka_unit_test(a_replay_serves_the_stored_answers),
        cmocka_unit_test(a_contract_task_tells_what_the_reference_does)};
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
