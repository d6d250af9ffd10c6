/* test_performance - the soft gate
 *
 * The fake device's times change from step to step: before each opening of the problem by the judge the
 * script of that step is put in place. The steps are 0 baselines, 1 the time of the candidate, 2 its
 * profile; then for each repaired candidate its check (two openings), when that went well its time, and,
 * when it became the best and another is asked for, its profile; last the winner's time again, and its
 * profile.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/stages/stage.h"
#include "tests/support/judge_spy.h"
#include "suites/cases.h"

#define BASELINES "\"baselines\": {\"eager\": [0.020], \"default\": [0.015]}"
#define TIME(ms)  "{\"default\": {\"candidate_ms\": [" ms "], " BASELINES "}}"
#define WRONG(ms)                                           \
    "{\"default\": {\"candidate_ms\": [" ms "], " BASELINES \
    ", \"compare\": {\"equal\": false, \"detail\": \"class\", \"text\": \"NaN\"}}}"
#define ALWAYS(answer) "{\"rules\": [{\"stage\": \"performance\", " answer "}]}"

/* Timed calls whose outputs a comparison of ten pairs looks at. */
enum { SAMPLES_COMPARED = 3 * 4 }; /* three chains of four slots */

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    stage_work stage;
    const char *const *steps; /* scripts by step; the last one stays; NULL ends */
    err e;
} bench;

static int next_step(judge_spy *self, size_t number, err *e)
{
    const bench *b = self->arg;
    (void)e;
    for (size_t i = 0; i <= number; i++) {
        if (b->steps[i] == NULL) {
            return 0;
        }
    }
    rig_write(b->rig, "fake.json", b->steps[number]);
    return 0;
}

static void bench_open(bench *b, const char *mock, const char *const *steps)
{
    char id[128];
    *b = (bench){.rig = rig_create(steps[0]), .steps = steps, .stage = {.id = STAGE_PERFORMANCE}};
    rig_spec(b->rig, "silu_fp16", mock_id(b->rig, mock, id), &b->spec);
    write_gold(b->rig, &b->spec, "variant.md", "a variant");
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
    b->spy.arg = b;
    b->spy.on_open = next_step;
}

static void bench_close(bench *b)
{
    result_record_fini(&b->work.p.result);
    stage_record_fini(&b->stage.record);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static void run_stage(bench *b)
{
    assert_ok(stage_performance(&b->work.p, &b->stage, &b->e), b->e);
    result_record *r = &b->work.p.result;
    r->candidate_ms = r->baseline_ms = r->speedup = (double)NAN;
    b->stage.record.source = b->work.p.best->source_hash; /* as the pipeline closes a record */
    b->stage.record.plan = b->work.p.best->plan_hash;
    performance_result(&b->work.p, &b->stage.record);
}

static bool is(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static bool best_is_gold(const bench *b)
{
    return hash_equal(&b->work.p.best->source_hash, &b->spec.gold_source);
}

static const attempt_record *last_attempt(const bench *b)
{
    assert_true(b->stage.record.attempt_count > 0);
    return &b->stage.record.attempts[b->stage.record.attempt_count - 1];
}

static void at_the_target_nothing_is_asked(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.010"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "passed");
    assert_int_equal(b.stage.calls, 0);
    assert_int_equal(b.stage.record.measurement_count, 3); /* with the warm L2, too */
    assert_int_equal(b.stage.record.comparison_count, 1);
    assert_has(b.stage.record.notes, "found anew");
    assert_true(is(b.work.p.result.speedup, 1.5));
    assert_string_equal(b.work.p.result.verdict, "faster");
    assert_string_equal(b.work.p.result.baseline_mode, "default");
    assert_string_equal(b.work.p.result.marks, "uncalibrated");
    assert_string_equal(b.stage.record.device_kind, "fake");
    assert_true(b.stage.device_us > 0);
    bench_close(&b);
}

static void below_the_target_the_whole_budget_is_asked(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "passed");
    assert_int_equal(b.stage.calls, 3);
    assert_true(best_is_gold(&b)); /* as fast is not faster */
    assert_true(is(b.work.p.result.speedup, 0.3));
    assert_string_equal(b.work.p.result.marks, "uncalibrated,below_target");
    SCOPED(scoped_free) char *prompt = rig_prompt(b.rig, 0);
    assert_has(prompt, "0.0500 ms");
    assert_has(prompt, "0.0150 ms");
    bench_close(&b);
}

static void a_target_of_half_is_met_by_half(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.030"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    b.spec.target = 0.5;
    run_stage(&b);
    assert_int_equal(b.stage.calls, 0);
    assert_string_equal(b.work.p.result.verdict, "slower");
    assert_string_equal(b.work.p.result.marks, "uncalibrated");
    bench_close(&b);
}

/* The time that chose it is not the time that is published: that would be the luckiest of several. */
static void a_faster_correct_candidate_is_chosen_and_timed_again(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"), TIME("0.050"),
                                        TIME("0.050"), TIME("0.010"), TIME("0.012"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_int_equal(b.stage.calls, 1);
    assert_false(best_is_gold(&b));
    assert_int_equal(b.spy.opens, 8); /* the check opens twice: its hidden run is another process */
    assert_true(is(b.work.p.result.candidate_ms, 0.012));
    assert_true(is(b.work.p.result.speedup, 0.015 / 0.012));
    const stage_record *record = &b.stage.record;
    assert_int_equal(record->comparison_count, 3);
    assert_string_equal(record->comparisons[0].purpose, "published");
    assert_string_equal(record->comparisons[1].purpose, "estimate");
    assert_true(is(record->comparisons[1].candidate_ms, 0.010));
    assert_string_equal(record->comparisons[2].purpose, "published");
    assert_false(hash_equal(&record->comparisons[0].source, &record->comparisons[1].source));
    const judge_spy_draw *last = &b.spy.draws[b.spy.draw_count - 1];
    assert_true(last->slots > 1);
    for (size_t i = 0; i + 1 < b.spy.draw_count; i++) {
        assert_true(b.spy.draws[i].seed != last->seed); /* fresh inputs */
    }
    bench_close(&b);
}

static void what_was_only_lucky_is_marked_below_the_target(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"), TIME("0.050"),
                                        TIME("0.050"), TIME("0.010"), TIME("0.030"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_true(is(b.work.p.result.speedup, 0.5));
    assert_string_equal(b.work.p.result.marks, "uncalibrated,below_target");
    bench_close(&b);
}

static void the_better_of_two_below_the_target_stands(void **state)
{
    (void)state;
    static const char *const steps[] = {
        TIME("0.050"), TIME("0.050"), TIME("0.050"),                /* baselines, time, profile */
        TIME("0.050"), TIME("0.050"), TIME("0.040"), TIME("0.040"), /* first repair: better */
        TIME("0.045"), TIME("0.045"), TIME("0.045"),                /* second: worse */
        TIME("0.060"), TIME("0.060"), TIME("0.060"),                /* third: worst */
        TIME("0.041"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_int_equal(b.stage.calls, 3);
    assert_false(best_is_gold(&b));
    assert_true(is(b.work.p.result.candidate_ms, 0.041));
    const comparison_record *rows = b.stage.record.comparisons;
    assert_int_equal(b.stage.record.comparison_count, 5);
    const struct {
        double gain;
        bool kept;
    } wanted[] = {{0, true},
                  {0.050 / 0.040, true},
                  {0.040 / 0.045, false},
                  {0.040 / 0.060, false},
                  {0, true}};
    for (size_t i = 0; i < 5; i++) {
        assert_true(is(rows[i].gain, wanted[i].gain));
        assert_int_equal(rows[i].kept, wanted[i].kept);
    }
    SCOPED(json_destroy)
    json *steps_told =
        json_parse_tree(b.work.p.result.lineage, strlen(b.work.p.result.lineage), "lineage", NULL);
    assert_int_equal(json_size(steps_told), 5);
    assert_true(is(json_real(json_get(json_at(steps_told, 1), "gain"), 0), 0.050 / 0.040));
    assert_int_equal(json_typeof(json_get(json_at(steps_told, 0), "gain")), JSON_TYPE_NULL);
    assert_false(json_bool(json_get(json_at(steps_told, 2), "kept"), true));
    bench_close(&b);
}

#define SPANS(agrees)                                                                    \
    "{\"unavailable\": null, \"event_ms\": 0.055, \"span_ms\": 0.05, \"busy_ms\": 0.05," \
    "\"floor_event_ms\": 0.006, \"floor_span_ms\": 0.001, \"nodes\": 1, \"calls\": 1,"   \
    "\"agrees\": " agrees "}"
#define PROFILED(ms, agrees)                                                                     \
    "{\"default\": {\"candidate_ms\": [" ms "], " BASELINES                                      \
    ", \"profile\": {\"spans\": " SPANS(agrees) ", \"baseline\": " SPANS(                        \
        "true") ", \"kernels\": [{\"name\": \"k\", \"launches\": 1, \"ms\": 0.05, \"grid\":"     \
                "[4096, 1, 1], \"block\": [256, 1, 1], \"registers\": 96, \"shared_static\": 0," \
                "\"shared_dynamic\": 0, \"local_bytes\": 0}], \"library\": null, \"counters\":"  \
                "{\"unavailable\": null, \"chip\": \"GH100\", \"passes\": 14, \"values\":"       \
                "{\"memory_pct\": 81.5, \"dram_pct\": 40, \"sm_pct\": 12, \"sm_cycles\": 5, "    \
                "\"sm_cycles_active_max\": 5, \"load_sectors\": 3200,"                           \
                "\"load_requests\": 100, \"stall_long_scoreboard\": 9.5}}}}}"

static void the_model_is_told_what_bounds_its_kernel(void **state)
{
    (void)state;
    static const char *const steps[] = {PROFILED("0.050", "true"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    SCOPED(scoped_free) char *prompt = rig_prompt(b.rig, 0);
    assert_has(prompt, "it is bound by memory: move fewer bytes");
    assert_has(prompt, "loads 32.0");
    assert_has(prompt, "memory pipeline 82 %");
    assert_has(prompt, "96 registers a thread");
    assert_has(prompt, "limited by registers");
    assert_has(prompt, "long_scoreboard 9.5");
    assert_has(b.work.p.result.profile, "\"bound\":\"memory\"");
    assert_has(b.work.p.result.lineage, "\"bound\":\"memory\"");
    assert_string_equal(b.work.p.result.verdict, "slower");
    bench_close(&b);
}

static void two_clocks_that_disagree_leave_no_verdict(void **state)
{
    (void)state;
    static const char *const steps[] = {PROFILED("0.010", "false"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_string_equal(b.work.p.result.verdict, "inconclusive");
    assert_string_equal(b.work.p.result.verdict_reason, "timing_suspect");
    assert_int_equal(b.stage.calls, 0); /* what is not known to be slow is not repaired */
    bench_close(&b);
}

static void without_a_profile_the_job_goes_on_and_says_why(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.010"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_string_equal(b.work.p.result.verdict, "faster");
    assert_has(b.work.p.result.profile, "\"status\":\"unavailable\"");
    assert_has(b.work.p.result.profile, "not scripted");
    bench_close(&b);
}

static void a_wrong_candidate_is_never_chosen(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"), WRONG("0.001"),
                                        NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_true(best_is_gold(&b));
    assert_int_equal(b.stage.calls, 3);
    assert_int_equal(b.spy.opens, 3 + 3); /* it is not even timed */
    assert_int_equal(last_attempt(&b)->result, OUTCOME_WRONG);
    assert_string_equal(last_attempt(&b)->detail, "class");
    assert_true(is(b.work.p.result.candidate_ms, 0.050));
    assert_string_equal(b.stage.record.status, "passed");
    bench_close(&b);
}

/* Right when it is checked, wrong when it is timed: it knows that it is timed. */
static void a_candidate_that_is_wrong_only_while_timed_is_never_chosen(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"), TIME("0.001"),
                                        NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    b.spec.budgets[STAGE_PERFORMANCE] = 1;
    SCOPED(cases_fini) cases all = {0};
    cases_build(b.work.p.terms, false, &all);
    b.spy.wrong_from = SAMPLES_COMPARED + all.count + 1 + CASES_HIDDEN;
    run_stage(&b);
    assert_true(best_is_gold(&b));
    assert_int_equal(last_attempt(&b)->result, OUTCOME_WRONG);
    assert_has(last_attempt(&b)->text, "in a timed call");
    assert_true(is(b.work.p.result.candidate_ms, 0.050));
    bench_close(&b);
}

/* The fastest one fails when it is timed for the board: the one before it stands, with its own number. */
static void when_the_fastest_fails_at_last_the_one_before_it_stands(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"),  TIME("0.050"),
                                        TIME("0.050"), TIME("0.010"), WRONG("0.010"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "passed");
    assert_false(b.work.p.over);
    assert_true(best_is_gold(&b));
    assert_true(is(b.work.p.result.candidate_ms, 0.050));
    assert_string_equal(b.work.p.result.verdict, "slower");
    assert_has(b.stage.record.notes, "the one before it stands");
    bench_close(&b);
}

static void an_answer_that_does_not_compile_costs_a_call(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"text\": \"I have no idea.\""), steps);
    run_stage(&b);
    assert_int_equal(b.stage.calls, 3);
    assert_int_equal(b.stage.record.attempt_count, 3);
    assert_int_equal(last_attempt(&b)->result, OUTCOME_PARSE_FAILED);
    assert_string_equal(b.stage.record.status, "passed");
    assert_true(best_is_gold(&b));
    bench_close(&b);
}

static void the_model_is_told_why_its_answer_failed(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"text\": \"I have no idea.\""), steps);
    run_stage(&b);
    SCOPED(scoped_free) char *last = rig_prompt(b.rig, 2);
    assert_has(last, "The answer could not be read: the answer has 0 ```cuda blocks");
    bench_close(&b);
}

static void the_model_is_told_why_its_kernel_was_not_taken(void **state)
{
    (void)state;
    static const char *const wrong[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"), WRONG("0.001"),
                                        NULL};
    static const char *const slow[] = {TIME("0.050"), TIME("0.050"), TIME("0.050"), TIME("0.070"),
                                       NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), wrong);
    run_stage(&b);
    SCOPED(scoped_free) char *told = rig_prompt(b.rig, 1);
    assert_has(told, "Your last attempt to make it faster was not correct (wrong): ");
    bench_close(&b);
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), slow);
    run_stage(&b);
    SCOPED(scoped_free) char *time = rig_prompt(b.rig, 1);
    assert_has(time, "Your last attempt to make it faster took 0.0700 ms.");
    bench_close(&b);
}

static void a_script_without_further_answers_ends_the_asking(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.050"), NULL};
    bench b;
    bench_open(&b, "{\"rules\": []}", steps);
    run_stage(&b);
    assert_int_equal(b.stage.calls, 1);
    assert_int_equal(b.stage.record.attempt_count, 0);
    assert_string_equal(b.stage.record.status, "passed");
    bench_close(&b);
}

static void without_a_baseline_there_is_no_speedup_but_a_reason(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "{\"default\": {\"candidate_ms\": [0.010], \"baselines\": {}}}", NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    const result_record *r = &b.work.p.result;
    assert_string_equal(b.stage.record.status, "passed");
    assert_int_equal(b.stage.calls, 0); /* nothing to be below of */
    assert_true(isnan(r->speedup));
    assert_has(r->reason, "every baseline mode failed");
    assert_true(isnan(r->baseline_ms) && is(r->candidate_ms, 0.010));
    assert_null(r->baseline_mode);
    assert_null(r->marks);
    bench_close(&b);
}

static void a_candidate_that_fails_while_it_is_timed_fails_the_stage(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "{\"default\": {\"time\": {\"outcome\": \"hung\", \"text\": \"no end\"}}}", NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    assert_string_equal(b.stage.record.status, "failed");
    assert_int_equal(b.stage.record.result, OUTCOME_HUNG);
    assert_true(b.work.p.over);
    assert_int_equal(b.stage.calls, 0);
    assert_true(isnan(b.work.p.result.speedup));
    bench_close(&b);
}

static void a_known_baseline_is_noted(void **state)
{
    (void)state;
    static const char *const steps[] = {TIME("0.010"), NULL};
    bench b;
    bench_open(&b, ALWAYS("\"file\": \"variant.md\""), steps);
    run_stage(&b);
    stage_record_fini(&b.stage.record);
    result_record_fini(&b.work.p.result);
    b.work.p.result = (result_record){0};
    b.stage = (stage_work){.id = STAGE_PERFORMANCE};
    run_stage(&b);
    assert_has(b.stage.record.notes, "baseline known");
    assert_true(is(b.work.p.result.speedup, 1.5));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_target_nothing_is_asked),
        cmocka_unit_test(below_the_target_the_whole_budget_is_asked),
        cmocka_unit_test(a_target_of_half_is_met_by_half),
        cmocka_unit_test(a_faster_correct_candidate_is_chosen_and_timed_again),
        cmocka_unit_test(what_was_only_lucky_is_marked_below_the_target),
        cmocka_unit_test(the_better_of_two_below_the_target_stands),
        cmocka_unit_test(the_model_is_told_what_bounds_its_kernel),
        cmocka_unit_test(two_clocks_that_disagree_leave_no_verdict),
        cmocka_unit_test(without_a_profile_the_job_goes_on_and_says_why),
        cmocka_unit_test(a_wrong_candidate_is_never_chosen),
        cmocka_unit_test(a_candidate_that_is_wrong_only_while_timed_is_never_chosen),
        cmocka_unit_test(when_the_fastest_fails_at_last_the_one_before_it_stands),
        cmocka_unit_test(an_answer_that_does_not_compile_costs_a_call),
        cmocka_unit_test(the_model_is_told_why_its_answer_failed),
        cmocka_unit_test(the_model_is_told_why_its_kernel_was_not_taken),
        cmocka_unit_test(a_script_without_further_answers_ends_the_asking),
        cmocka_unit_test(without_a_baseline_there_is_no_speedup_but_a_reason),
        cmocka_unit_test(a_candidate_that_fails_while_it_is_timed_fails_the_stage),
        cmocka_unit_test(a_known_baseline_is_noted)};
    return cmocka_run_group_tests_name("performance", tests, NULL, NULL);
}
