/* test_measure - candidate and baselines at the benchmark shape
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/measure.h"
#include "common/json.h"
#include "tests/support/judge_spy.h"

#define TIMES                                                                                    \
    "{\"default\": {\"candidate_ms\": [0.010, 0.030, 0.020], \"baselines\": {\"eager\": [0.05, " \
    "0.07], \"default\": [0.04], \"max-autotune-no-cudagraphs\": [0.045]}}}"

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    stage_record record;
    measurement_record row;
    runner_verdict verdict;
    baseline_origin origin;
    err e;
} bench;

static void bench_open(bench *b, const char *script)
{
    *b = (bench){.rig = rig_create(script)};
    rig_spec(b->rig, "silu_fp16", "gold", &b->spec);
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
}

static void bench_close(bench *b)
{
    stage_record_fini(&b->record);
    measurement_record_fini(&b->row);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static lane *hold(bench *b)
{
    const pipeline *p = &b->work.p;
    atomic_bool never = false;
    lane *held = lanes_acquire(p->node->lanes, p->facts->arch, NULL, &never, &b->e);
    assert_non_null(held);
    return held;
}

static int time_gold(bench *b, int64_t number)
{
    const pipeline *p = &b->work.p;
    lane *held = hold(b);
    measurement_record_fini(&b->row);
    int rc = measure_candidate(p, held, p->best, number, &b->row, &b->verdict, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

static int find_baseline(bench *b)
{
    const pipeline *p = &b->work.p;
    lane *held = hold(b);
    stage_record_fini(&b->record);
    int rc = measure_baseline(p, held, &b->record, &b->origin, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

static bool is(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

/* ---- the candidate ---- */

static void the_row_tells_the_median_and_keeps_every_sample(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, TIMES);
    assert_ok(time_gold(&b, 0), b.e);
    assert_true(verdict_is_ok(&b.verdict));
    assert_string_equal(b.row.side, "candidate");
    assert_string_equal(b.row.mode, "plan");
    assert_string_equal(b.row.shape, "rows=4096 cols=4096");
    assert_string_equal(b.row.l2, "cold");
    assert_null(b.row.reason);
    assert_true(is(b.row.median_ms, 0.020));
    assert_int_equal(b.row.sample_count, MEASURE_SAMPLES);
    assert_true(b.row.event_floor_ms > 0.0);
    SCOPED(scoped_free) char *text = rig_blob(b.rig, &b.row.samples);
    SCOPED(json_destroy) json *samples = json_parse_tree(text, strlen(text), "samples", &b.e);
    assert_int_equal(json_size(samples), MEASURE_SAMPLES);
    assert_true(is(json_real(json_at(samples, 1), 0.0), 0.030)); /* in the order taken */
    bench_close(&b);
}

static void slots_rotate_fresh_secret_inputs(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    assert_ok(time_gold(&b, 0), b.e);
    assert_ok(time_gold(&b, 1), b.e);
    assert_int_equal(b.spy.draw_count, 2);
    const judge_spy_draw *draws = b.spy.draws;
    assert_memory_equal(&draws[0].shape, &b.work.p.terms->benchmark, sizeof(draws[0].shape));
    assert_string_equal(draws[0].family, "normal");
    assert_true(draws[0].slots > 1 && draws[0].slots == b.row.slots);
    assert_true(draws[0].seed != draws[1].seed);
    bench_close(&b);
}

static void what_was_timed_is_compared(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.spy.wrong_from = 1;
    assert_ok(time_gold(&b, 0), b.e);
    assert_true(verdict_is_ok(&b.verdict));
    assert_ok(time_gold(&b, 1), b.e);
    assert_int_equal(b.verdict.result, OUTCOME_WRONG);
    assert_non_null(strstr(b.verdict.text, "in a timed call"));
    assert_null(b.row.side); /* no time of a wrong kernel */
    bench_close(&b);
}

static void a_candidate_that_fails_while_it_is_timed_has_no_time(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        outcome result;
    } cases[] = {
        {"{\"default\": {\"time\": {\"outcome\": \"hung\"}}}", OUTCOME_HUNG},
        {"{\"default\": {\"time\": {\"crash\": true}}}", OUTCOME_CRASHED},
        {"{\"default\": {\"load\": {\"outcome\": \"launch_failed\"}}}", OUTCOME_LAUNCH_FAILED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench b;
        bench_open(&b, cases[i].script);
        assert_ok(time_gold(&b, 0), b.e);
        assert_int_equal(b.verdict.result, cases[i].result);
        assert_null(b.row.side);
        bench_close(&b);
    }
}

/* ---- baselines ---- */

static const measurement_record *row_of(const bench *b, const char *mode)
{
    for (size_t i = 0; i < b->record.measurement_count; i++) {
        if (strcmp(b->record.measurements[i].mode, mode) == 0) {
            return &b->record.measurements[i];
        }
    }
    return NULL;
}

static void every_mode_has_a_row_and_the_fastest_wins(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, TIMES);
    assert_ok(find_baseline(&b), b.e);
    assert_int_equal(b.origin, BASELINE_FOUND);
    assert_int_equal(b.record.measurement_count, 3);
    const measurement_record *eager = row_of(&b, "eager");
    assert_true(is(eager->median_ms, 0.06) && !eager->winner);
    assert_string_equal(eager->side, "baseline");
    const measurement_record *best = row_of(&b, "default");
    assert_true(is(best->median_ms, 0.04) && best->winner);
    SCOPED(scoped_free) char *samples = rig_blob(b.rig, &eager->samples);
    assert_string_equal(samples, "[0.05,0.07]");
    bench_close(&b);
}

static void a_stored_baseline_is_used_the_second_time(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, TIMES);
    assert_ok(find_baseline(&b), b.e);
    assert_string_equal(b.spy.winner, "");
    assert_ok(find_baseline(&b), b.e);
    assert_int_equal(b.origin, BASELINE_KNOWN);
    assert_string_equal(b.spy.winner, "default"); /* the judge is told whom to time again */
    assert_int_equal(b.record.measurement_count, 2);
    assert_non_null(row_of(&b, "eager"));
    assert_true(row_of(&b, "default")->winner);
    bench_close(&b);
}

static void a_baseline_of_another_contract_is_not_used(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, TIMES);
    assert_ok(find_baseline(&b), b.e);
    b.spec.contract_hash.bytes[0] ^= 1;
    assert_ok(find_baseline(&b), b.e);
    assert_int_equal(b.origin, BASELINE_FOUND);
    assert_string_equal(b.spy.winner, "");
    bench_close(&b);
}

static void when_every_mode_fails_nothing_is_stored(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"default\": {\"baselines\": {}}}");
    assert_ok(find_baseline(&b), b.e);
    assert_int_equal(b.record.measurement_count, 0);
    rig_write(b.rig, "fake.json", TIMES);
    assert_ok(find_baseline(&b), b.e);
    assert_int_equal(b.origin, BASELINE_FOUND);
    assert_int_equal(b.record.measurement_count, 3);
    bench_close(&b);
}

static void the_key_changes_with_everything_that_changes_the_time(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    pipeline *p = &b.work.p;
    judge_facts facts = {.driver = "13.0", .torch = "2.11", .triton = "3.6"};
    lane_facts other = *p->facts;
    const hash base = measure_key(p, &facts);
    hash again = measure_key(p, &facts);
    assert_true(hash_equal(&base, &again));
    hash keys[7];
    b.spec.contract_hash.bytes[3] ^= 1;
    keys[0] = measure_key(p, &facts);
    b.spec.contract_hash.bytes[3] ^= 1;
    b.spec.reference.bytes[3] ^= 1;
    keys[1] = measure_key(p, &facts);
    b.spec.reference.bytes[3] ^= 1;
    facts.driver = "12.8";
    keys[2] = measure_key(p, &facts);
    facts.driver = "13.0";
    facts.torch = "2.10";
    keys[3] = measure_key(p, &facts);
    facts.torch = "2.11";
    p->terms->benchmark.dims[0]++;
    keys[4] = measure_key(p, &facts);
    p->terms->benchmark.dims[0]--;
    snprintf(other.name, sizeof(other.name), "another card");
    facts.triton = "3.5";
    keys[5] = measure_key(p, &facts);
    facts.triton = "3.6";
    p->facts = &other;
    keys[6] = measure_key(p, &facts);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (hash_equal(&base, &keys[i])) {
            fail_msg("change %zu keeps the key", i);
        }
    }
    bench_close(&b);
}

static void a_shape_that_does_not_fit_the_device_is_said(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    lane_facts small = *b.work.p.facts;
    small.limits.memory_bytes = 1024;
    b.work.p.facts = &small;
    assert_int_equal(time_gold(&b, 0), -1);
    assert_int_equal(b.e.code, ERR_LIMIT);
    assert_non_null(strstr(b.e.text, "silu_fp16"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_tells_the_median_and_keeps_every_sample),
        cmocka_unit_test(slots_rotate_fresh_secret_inputs),
        cmocka_unit_test(what_was_timed_is_compared),
        cmocka_unit_test(a_candidate_that_fails_while_it_is_timed_has_no_time),
        cmocka_unit_test(every_mode_has_a_row_and_the_fastest_wins),
        cmocka_unit_test(a_stored_baseline_is_used_the_second_time),
        cmocka_unit_test(a_baseline_of_another_contract_is_not_used),
        cmocka_unit_test(when_every_mode_fails_nothing_is_stored),
        cmocka_unit_test(the_key_changes_with_everything_that_changes_the_time),
        cmocka_unit_test(a_shape_that_does_not_fit_the_device_is_said)};
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
