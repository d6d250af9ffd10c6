/* test_correctness - the hard gate
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/stages/stage.h"
#include "common/json.h"
#include "suites/cases.h"
#include "tests/support/judge_spy.h"

#define WRONG                                                                                      \
    "{\"default\": {\"compare\": {\"equal\": false, \"detail\": \"precision\", \"text\": \"17 of " \
    "128 elements are off\"}}}"
#define RIGHT        "{\"default\": {}}"
#define RULES(rules) "{\"rules\": [" rules "]}"

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    stage_work stage;
    size_t wrong; /* so many checks say "wrong", then all is right */
    err e;
} bench;

static int next_check(judge_spy *self, size_t number, err *e)
{
    const bench *b = self->arg;
    (void)e;
    rig_write(b->rig, "fake.json", number < b->wrong ? WRONG : RIGHT);
    return 0;
}

static void bench_open(bench *b, const char *mock, size_t wrong)
{
    char id[128];
    *b = (bench){.rig = rig_create(RIGHT), .wrong = wrong, .stage = {.id = STAGE_CORRECTNESS}};
    rig_spec(b->rig, "silu_fp16", mock_id(b->rig, mock, id), &b->spec);
    write_gold(b->rig, &b->spec, "variant.md", "a variant");
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
    b->spy.arg = b;
    b->spy.on_open = next_check;
}

static void bench_close(bench *b)
{
    stage_record_fini(&b->stage.record);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static int run_stage(bench *b)
{
    return stage_correctness(&b->work.p, &b->stage, &b->e);
}

static void a_correct_candidate_passes_without_a_call(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES(""), 0);
    assert_ok(run_stage(&b), b.e);
    const stage_record *r = &b.stage.record;
    assert_string_equal(r->status, "passed");
    assert_string_equal(r->text, "correct at 80 shapes");
    assert_int_equal(r->attempt_count, 1);
    assert_int_equal(b.stage.calls, 0);
    assert_string_equal(r->device, "fake");
    assert_false(b.work.p.over);
    bench_close(&b);
}

static void a_wrong_candidate_is_repaired(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES("{\"stage\": \"correctness\", \"file\": \"variant.md\"}"), 1);
    assert_ok(run_stage(&b), b.e);
    const stage_record *r = &b.stage.record;
    assert_string_equal(r->status, "passed");
    assert_int_equal(b.stage.calls, 1);
    assert_int_equal(r->attempt_count, 3); /* gold is wrong; the variant compiles; it is right */
    assert_int_equal(r->attempts[0].result, OUTCOME_WRONG);
    assert_string_equal(r->attempts[0].detail, "precision");
    assert_true(hash_equal(&r->attempts[0].source, &b.spec.gold_source));
    assert_int_equal(r->attempts[1].result, OUTCOME_OK);
    assert_true(r->attempts[1].compile_ms > 0.0 && r->attempts[1].registers > 0);
    assert_int_equal(r->attempts[2].result, OUTCOME_OK);
    assert_true(hash_equal(&r->attempts[2].source, &b.work.p.best->source_hash));
    assert_false(hash_equal(&b.work.p.best->source_hash, &b.spec.gold_source));
    bench_close(&b);
}

static void the_repair_prompt_shows_the_finding_and_the_failing_source(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES("{\"stage\": \"correctness\", \"file\": \"variant.md\"}"), 1);
    assert_ok(run_stage(&b), b.e);
    SCOPED(scoped_free) char *prompt = rig_prompt(b.rig, 0);
    assert_has(prompt, "17 of 128 elements are off");
    SCOPED(cases_fini) cases all = {0};
    cases_build(b.work.p.terms, false, &all);
    SCOPED(scoped_free) char *label = contract_shape_label(b.work.p.terms, &all.shapes[0].shape);
    assert_has(prompt, label);
    assert_has(prompt, "silu8(v0)");                   /* the source */
    assert_has(prompt, "\\\"entry\\\": \\\"silu\\\""); /* the plan */
    bench_close(&b);
}

static void every_check_leaves_its_report(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES("{\"stage\": \"correctness\", \"file\": \"variant.md\"}"), 1);
    assert_ok(run_stage(&b), b.e);
    static const struct {
        size_t attempt, rows;
        const char *last;
    } wanted[] = {{0, 1, "wrong"}, {2, 81, "ok"}};
    for (size_t i = 0; i < 2; i++) {
        const attempt_record *a = &b.stage.record.attempts[wanted[i].attempt];
        SCOPED(scoped_free) char *text = rig_blob(b.rig, &a->report);
        SCOPED(json_destroy) json *report = json_parse_tree(text, strlen(text), "report", &b.e);
        const json *rows = json_get(report, "shapes");
        assert_int_equal(json_size(rows), wanted[i].rows);
        const json *row = json_at(rows, wanted[i].rows - 1);
        assert_string_equal(json_str(json_get(row, "outcome"), ""), wanted[i].last);
    }
    assert_true(hash_is_zero(&b.stage.record.attempts[1].report));
    bench_close(&b);
}

static void when_the_budget_ends_the_outcome_stands(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES("{\"stage\": \"correctness\", \"file\": \"variant.md\"}"), 100);
    assert_ok(run_stage(&b), b.e);
    const stage_record *r = &b.stage.record;
    assert_string_equal(r->status, "failed");
    assert_int_equal(r->result, OUTCOME_WRONG);
    assert_string_equal(r->detail, "precision");
    assert_has(r->text, "17 of 128");
    assert_int_equal(b.stage.calls, 3);
    assert_true(b.work.p.over);
    bench_close(&b);
}

static void without_a_budget_the_first_check_decides(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES("{\"gold\": true}"), 1);
    b.spec.budgets[STAGE_CORRECTNESS] = 0;
    assert_ok(run_stage(&b), b.e);
    assert_string_equal(b.stage.record.status, "failed");
    assert_int_equal(rig_call_count(b.rig), 0);
    bench_close(&b);
}

static void answers_that_do_not_compile_are_told_back_and_count(void **state)
{
    (void)state;
    bench b;
    bench_open(&b,
               RULES("{\"index\": 0, \"text\": \"Let me think.\"},"
                     "{\"index\": 1, \"file\": \"broken.md\"},"
                     "{\"index\": 2, \"file\": \"variant.md\"}"),
               1);
    SCOPED(scoped_free) char *launches = rig_blob(b.rig, &b.spec.gold_plan);
    write_answer(b.rig, "broken.md", "extern \"C\" __global__ void silu() { oops; }", launches);
    assert_ok(run_stage(&b), b.e);
    const stage_record *r = &b.stage.record;
    assert_string_equal(r->status, "passed");
    assert_int_equal(b.stage.calls, 3);
    assert_int_equal(r->attempt_count, 5);
    assert_int_equal(r->attempts[1].result, OUTCOME_PARSE_FAILED);
    assert_int_equal(r->attempts[2].result, OUTCOME_COMPILE_FAILED);
    assert_false(hash_is_zero(&r->attempts[2].log));
    SCOPED(scoped_free) char *last = rig_prompt(b.rig, 2);
    assert_has(last, "0 ```cuda blocks");
    assert_has(last, "oops");
    assert_has(last, "is undefined");
    bench_close(&b);
}

static void a_script_without_further_answers_ends_the_asking(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES(""), 1);
    assert_ok(run_stage(&b), b.e);
    assert_int_equal(b.stage.calls, 1);
    assert_string_equal(b.stage.record.status, "failed");
    assert_int_equal(b.stage.record.attempt_count, 1);
    bench_close(&b);
}

static int fail_harness(judge_spy *self, size_t number, err *e)
{
    (void)self;
    (void)number;
    return err_set(e, ERR_GPU, "out of memory");
}

static void a_failing_harness_is_no_outcome(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES(""), 0);
    b.spy.on_draw = fail_harness;
    assert_int_equal(run_stage(&b), -1);
    assert_int_equal(b.e.code, ERR_GPU);
    assert_int_equal(b.stage.record.attempt_count, 0);
    assert_false(b.work.p.over);
    bench_close(&b);
}

static void a_cancelled_task_gives_the_lane_back(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, RULES(""), 0);
    rig_cancel(b.rig, true);
    assert_int_equal(run_stage(&b), -1);
    assert_int_equal(b.e.code, ERR_CONFLICT);
    rig_cancel(b.rig, false);
    assert_ok(run_stage(&b), b.e);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correct_candidate_passes_without_a_call),
        cmocka_unit_test(a_wrong_candidate_is_repaired),
        cmocka_unit_test(the_repair_prompt_shows_the_finding_and_the_failing_source),
        cmocka_unit_test(every_check_leaves_its_report),
        cmocka_unit_test(when_the_budget_ends_the_outcome_stands),
        cmocka_unit_test(without_a_budget_the_first_check_decides),
        cmocka_unit_test(answers_that_do_not_compile_are_told_back_and_count),
        cmocka_unit_test(a_script_without_further_answers_ends_the_asking),
        cmocka_unit_test(a_failing_harness_is_no_outcome),
        cmocka_unit_test(a_cancelled_task_gives_the_lane_back)};
    return cmocka_run_group_tests_name("correctness", tests, NULL, NULL);
}
