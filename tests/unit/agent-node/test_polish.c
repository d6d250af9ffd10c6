/* test_polish - comments and names, and not one instruction
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/stages/stage.h"
#include "tests/support/judge_spy.h"

#define POLISH(answer) "{\"rules\": [{\"stage\": \"polish\", " answer "}]}"

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    stage_work stage;
    char *gold, *launches;
    err e;
} bench;

static void bench_open(bench *b, const char *mock)
{
    char id[128];
    *b = (bench){.rig = rig_create(NULL), .stage = {.id = STAGE_POLISH}};
    rig_spec(b->rig, "silu_fp16", mock_id(b->rig, mock, id), &b->spec);
    rig_pipeline(b->rig, &b->spec, &b->work);
    b->gold = rig_blob(b->rig, &b->spec.gold_source);
    b->launches = rig_blob(b->rig, &b->spec.gold_plan);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
}

static void bench_close(bench *b)
{
    stage_record_fini(&b->stage.record);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    free(b->gold);
    free(b->launches);
    rig_destroy(&b->rig);
}

static void run_stage(bench *b)
{
    assert_ok(stage_polish(&b->work.p, &b->stage, &b->e), b->e);
    assert_int_equal(b->stage.device_us, 0); /* no device is needed */
    assert_int_equal(b->spy.opens, 0);
}

static bool best_is_gold(const bench *b)
{
    return hash_equal(&b->work.p.best->source_hash, &b->spec.gold_source) &&
           strcmp(b->work.p.best->source, b->gold) == 0;
}

/* Answers with the gold kernel after one replacement in its source and one in its plan. */
static void polish(bench *b, const char *from, const char *to, const char *plan_from,
                   const char *plan_to)
{
    bench_open(b, POLISH("\"file\": \"polished.md\""));
    SCOPED(scoped_free) char *source = replaced(b->gold, from, to);
    SCOPED(scoped_free) char *launches = replaced(b->launches, plan_from, plan_to);
    write_answer(b->rig, "polished.md", source, launches);
    run_stage(b);
}

static void expect_accepted(const bench *b)
{
    if (strcmp(b->stage.record.status, "passed") != 0) {
        fail_msg("%s", b->stage.record.text);
    }
    assert_int_equal(b->stage.calls, 1);
    assert_int_equal(b->stage.record.attempt_count, 1);
}

static void a_comment_is_accepted(void **state)
{
    (void)state;
    bench b;
    polish(&b, "namespace {", "// The constants of one launch.\n\nnamespace {", "", "");
    expect_accepted(&b);
    assert_false(best_is_gold(&b));
    assert_has(b.work.p.best->source, "The constants of one launch");
    bench_close(&b);
}

static void a_better_name_of_a_local_variable_is_accepted(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, POLISH("\"file\": \"polished.md\""));
    SCOPED(scoped_free) char *first = replaced(b.gold, "const float2 f =", "const float2 pair =");
    SCOPED(scoped_free) char *second = replaced(first, "silu1(f.x)", "silu1(pair.x)");
    SCOPED(scoped_free) char *third = replaced(second, "silu1(f.y)", "silu1(pair.y)");
    write_answer(b.rig, "polished.md", third, b.launches);
    run_stage(&b);
    expect_accepted(&b);
    assert_false(best_is_gold(&b));
    bench_close(&b);
}

static void the_layout_of_the_plan_does_not_matter(void **state)
{
    (void)state;
    bench b;
    polish(&b, "", "", "{\"entry\"", "{\n\"entry\"");
    expect_accepted(&b);
    bench_close(&b);
}

static void anything_more_falls_back_to_the_verified_kernel(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *plan_from, *plan_to, *reason;
    } cases[] = {{"1.0f + __expf(-x)", "1.001f + __expf(-x)", "", "", "machine code was changed"},
                 {"__fdividef(x, 1.0f + __expf(-x))", "x / (1.0f + __expf(-x))", "", "",
                  "machine code was changed"},
                 {"", "", "[256]", "[128]", "launch plan was changed"},
                 {"namespace {", "namespace { oops", "", "", "no candidate that compiles"},
                 {"silu(const", "swish(const", "", "", "no candidate that compiles"},
                 {"", "", "\"kernels\"", "\"kernel\"", "no candidate that compiles"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench b;
        polish(&b, cases[i].from, cases[i].to, cases[i].plan_from, cases[i].plan_to);
        assert_string_equal(b.stage.record.status, "fallback");
        assert_int_equal(b.stage.record.result, OUTCOME_OK);
        assert_has(b.stage.record.text, cases[i].reason);
        assert_true(best_is_gold(&b));
        assert_int_equal(b.stage.record.attempt_count, 1);
        bench_close(&b);
    }
}

static void no_answer_falls_back_too(void **state)
{
    (void)state;
    static const char *const scripts[] = {"{\"rules\": []}",
                                          POLISH("\"text\": \"Looks fine to me.\""),
                                          POLISH("\"text\": \"\", \"stop\": \"refused\"")};
    for (size_t i = 0; i < 3; i++) {
        bench b;
        bench_open(&b, scripts[i]);
        run_stage(&b);
        assert_string_equal(b.stage.record.status, "fallback");
        assert_true(best_is_gold(&b));
        bench_close(&b);
    }
}

static void without_a_budget_it_is_skipped(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, POLISH("\"gold\": true"));
    b.spec.budgets[STAGE_POLISH] = 0;
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "skipped");
    assert_int_equal(rig_call_count(b.rig), 0);
    assert_true(best_is_gold(&b));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comment_is_accepted),
        cmocka_unit_test(a_better_name_of_a_local_variable_is_accepted),
        cmocka_unit_test(the_layout_of_the_plan_does_not_matter),
        cmocka_unit_test(anything_more_falls_back_to_the_verified_kernel),
        cmocka_unit_test(no_answer_falls_back_too),
        cmocka_unit_test(without_a_budget_it_is_skipped)};
    return cmocka_run_group_tests_name("polish", tests, NULL, NULL);
}
