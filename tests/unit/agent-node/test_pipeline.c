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
    assert_string_equal(result->marks, "uncalibrated");
    assert_string_equal(result->device_kind, "fake");
    assert_string_equal(result->correct_protocol, "ce-correct-1");
    assert_string_equal(result->timing_protocol, "ce-timing-1");
    assert_true(fabs(result->speedup - result->baseline_ms / result->candidate_ms) < 1e-12);
    assert_int_equal(result->calls, 3); /* interview, codegen, polish */
    static const char *const stages[] = {"interview", "codegen", "correctness", "performance",
                                         "polish"};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(rig_stage(r, stages[i]));
        assert_string_equal(rig_stage(r, stages[i])->status, "passed");
    }
    const stage_record *timed = rig_stage(r, "performance");
    assert_int_equal(timed->measurement_count,
                     3); /* the baselines, and the candidate with a warm L2 */
    assert_int_equal(timed->comparison_count, 1);
    assert_string_equal(result->verdict, "faster");
    assert_true(result->ci_low <= result->speedup && result->speedup <= result->ci_high);
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

/* Stores an answer and names it in the spec as one of the run that is replayed. */
static void add_replay(rig *r, task_spec *spec, const char *stage, const char *text)
{
    ledger account;
    err e = {0};
    rig_ledger(r, &account);
    spec->replay = xreallocarray(spec->replay, spec->replay_count + 1, sizeof(*spec->replay));
    spec_replay *row = &spec->replay[spec->replay_count++];
    *row = (spec_replay){.stage = xstrdup(stage), .stop = xstrdup("ok")};
    assert_ok(ledger_put_text(&account, text, &row->answer, &e), e);
}

static void a_replay_that_runs_out_stays_marked_over_leases(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "replay:earlier", &spec);
    SCOPED(scoped_free) char *gold = rig_blob(r, &spec.gold_source);
    SCOPED(scoped_free) char *launches = rig_blob(r, &spec.gold_plan);
    SCOPED(scoped_free)
    char *answer = xasprintf("```cuda\n%s\n```\n```json\n%s\n```\n", gold, launches);
    add_replay(r, &spec, "codegen", answer);
    add_replay(r, &spec, "polish", answer);
    for (int lease = 0; lease < 2; lease++) { /* the interview has no answer: it runs out */
        assert_ok(rig_run(r, &spec, &e), e);
        assert_int_equal(rig_result(r)->result, OUTCOME_OK);
        assert_string_equal(rig_result(r)->marks, "uncalibrated,replay_exhausted");
        rig_forget(r, "polish");
    }
    add_replay(r, &spec, "interview", "```json\n{}\n```");
    add_replay(r, &spec, "interview", "```json\n{}\n```");
    spec.replay[3].index = 1;
    rig_forget(r, "interview");
    rig_forget_calls(r);
    assert_ok(rig_run(r, &spec, &e), e);
    assert_string_equal(rig_result(r)->marks, "uncalibrated");
    rig_destroy(&r);
}

/* What an earlier lease measured elsewhere is not said to be of this card. */
static void the_result_names_the_device_that_measured(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run(r, &spec, &e), e);
    assert_string_equal(rig_result(r)->device, "fake");
    rig_forget(r, "polish");
    rig_change(r, "performance", "\"device\":\"fake\"", "\"device\":\"older card\"");
    rig_change(r, "performance", "\"torch\":null", "\"torch\":\"2.11\"");
    assert_ok(rig_run(r, &spec, &e), e);
    assert_string_equal(rig_result(r)->device, "older card");
    assert_string_equal(rig_result(r)->torch, "2.11");
    rig_destroy(&r);
}

static void without_a_device_a_candidate_is_compiled_and_not_run(void **state)
{
    (void)state;
    rig *r = rig_create_on("cuda", NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    if (lanes_usable(rig_node(r)->lanes, NULL) != NULL) {
        rig_destroy(&r);
        skip(); /* this host has one */
    }
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run(r, &spec, &e), e);
    const result_record *result = rig_result(r);
    assert_int_equal(result->result, OUTCOME_NOT_RUN);
    assert_string_equal(result->stage, "correctness");
    assert_string_equal(result->device_kind, "none");
    assert_has(result->text, "compiled for sm_90a, not run: ");
    assert_true(isnan(result->speedup) && isnan(result->candidate_ms));
    assert_has(result->reason, "not_run");
    assert_null(rig_stage(r, "correctness"));
    assert_string_equal(rig_stage(r, "codegen")->status, "passed");
    rig_destroy(&r);
}

static void a_damaged_checkpoint_is_the_harness(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run(r, &spec, &e), e);
    rig_forget(r, "polish");
    rig_change(r, "codegen", "\"calls\":1", "\"calls\":\"1\"");
    assert_int_equal(rig_run(r, &spec, &e), -1);
    assert_has(e.text, "checkpoint of stage codegen");
    assert_has(e.text, "/calls");
    assert_null(rig_result(r));
    rig_destroy(&r);
}

static void a_contract_task_tells_what_the_reference_does(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *python = judge_find_python(NULL, NULL);
    if (python == NULL) {
        skip(); /* references run on the CPU even for the fake device: no PyTorch here */
    }
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini);
    err e = {0};
    rig_spec(r, "silu_fp16", "gold", &spec);
    assert_ok(rig_run_contract(r, &spec, &e), e);
    assert_int_equal(rig_result(r)->result, OUTCOME_OK);
    assert_non_null(strstr(rig_result(r)->text, "shapes"));
    rig_destroy(&r);
}

/* ---- what the lease says of the card ---- */

static struct row_card a_card(char *uuid, char *failure)
{
    return (struct row_card){.uuid = uuid,
                             .failure = failure,
                             .margin_short = 0.02,
                             .margin_middle = 0.001,
                             .margin_long = 0.03,
                             .runs_short = 12,
                             .runs_middle = 10,
                             .runs_long = 9};
}

static void a_verdicts_margin_is_of_its_card_and_length(void **state)
{
    (void)state;
    static const struct {
        const char *uuid;
        double ms, margin;
        bool calibrated;
    } rows[] = {{"GPU-1", 0.010, 0.02, true},
                {"GPU-1", 0.100, 0.01, true}, /* never below 1 % */
                {"GPU-1", 1.000, 0.03, false},
                {"GPU-2", 0.010, 0.01, false}};
    char uuid[] = "GPU-1", failure[] = "";
    const struct row_card card = a_card(uuid, failure);
    const checkpoint done = {.cards = &card, .card_count = 1};
    const pipeline p = {.done = &done};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool calibrated = !rows[i].calibrated;
        assert_true(pipeline_margin(&p, rows[i].uuid, rows[i].ms, &calibrated) == rows[i].margin);
        assert_int_equal(calibrated, rows[i].calibrated);
    }
}

static void a_card_that_failed_its_self_test_is_not_trusted(void **state)
{
    (void)state;
    char uuid[] = "GPU-1", failure[] = "warm 10 MB";
    const struct row_card card = a_card(uuid, failure);
    const checkpoint done = {.cards = &card, .card_count = 1};
    const pipeline p = {.done = &done}, nothing = {.done = NULL};
    assert_string_equal(pipeline_distrust(&p, "GPU-1"), "warm 10 MB");
    assert_null(pipeline_distrust(&p, "GPU-2"));
    assert_null(pipeline_distrust(&nothing, "GPU-1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gold_passes_all_five_stages),
        cmocka_unit_test(a_new_lease_repeats_no_finished_stage_and_no_answer),
        cmocka_unit_test(a_stale_lease_ends_the_task_at_its_next_commit),
        cmocka_unit_test(a_failed_stage_ends_the_task_with_its_outcome),
        cmocka_unit_test(a_replay_serves_the_stored_answers),
        cmocka_unit_test(a_replay_that_runs_out_stays_marked_over_leases),
        cmocka_unit_test(the_result_names_the_device_that_measured),
        cmocka_unit_test(without_a_device_a_candidate_is_compiled_and_not_run),
        cmocka_unit_test(a_damaged_checkpoint_is_the_harness),
        cmocka_unit_test(a_verdicts_margin_is_of_its_card_and_length),
        cmocka_unit_test(a_card_that_failed_its_self_test_is_not_trusted),
        cmocka_unit_test(a_contract_task_tells_what_the_reference_does)};
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
