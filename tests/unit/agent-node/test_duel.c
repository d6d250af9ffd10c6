/* test_duel - pairs of blocks on the fake device: what is dealt, stored, voided and concluded
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/duel.h"
#include "common/json.h"
#include "tests/support/judge_spy.h"

#define SCRIPT(candidate, more)                                                                    \
    "{\"default\": {\"candidate_ms\": [" candidate "], \"baselines\": {\"default\": [0.100]}" more \
    "}}"

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    comparison_record got;
    runner_verdict verdict;
    double baseline_ms;
    bool quick;
    err e;
} bench;

static void bench_open(bench *b, const char *script)
{
    *b = (bench){.rig = rig_create(script), .baseline_ms = 0.100};
    rig_spec(b->rig, "silu_fp16", "gold", &b->spec);
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
}

static void bench_close(bench *b)
{
    comparison_record_fini(&b->got);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static int fight(bench *b, int64_t number)
{
    const pipeline *p = &b->work.p;
    atomic_bool never = false;
    lane *held = lanes_acquire(p->node->lanes, p->facts->arch, NULL, &never, &b->e);
    assert_non_null(held);
    comparison_record_fini(&b->got);
    duel_request request = {.p = p,
                            .held = held,
                            .c = p->best,
                            .mode = "default",
                            .baseline_ms = b->baseline_ms,
                            .number = number,
                            .quick = b->quick};
    int rc = duel_run(&request, &b->got, &b->verdict, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

static void expect(bench *b, const char *verdict, const char *reason)
{
    assert_ok(fight(b, 0), b->e);
    assert_true(verdict_is_ok(&b->verdict));
    assert_string_equal(b->got.verdict, verdict);
    assert_int_equal(b->got.reason != NULL, reason != NULL);
    if (reason != NULL) {
        assert_string_equal(b->got.reason, reason);
    }
}

static json *raw_of(bench *b)
{
    SCOPED(scoped_free) char *text = rig_blob(b->rig, &b->got.raw);
    json *raw = json_parse_tree(text, strlen(text), "raw", &b->e);
    assert_non_null(raw);
    return raw;
}

/* ---- the deal ---- */

static void ten_pairs_in_five_fresh_processes_are_enough(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.050", ""));
    expect(&b, "faster", NULL);
    assert_int_equal(b.got.pairs, 10);
    assert_int_equal(b.got.processes, 5);
    assert_int_equal(b.got.voids, 0);
    assert_string_equal(b.got.timing_mode, "E");
    assert_true(fabs(b.got.speedup - 2) < 1e-9);
    assert_true(b.got.ci_low <= b.got.speedup && b.got.speedup <= b.got.ci_high);
    assert_int_equal(b.spy.arms, 5); /* the baseline is captured anew for each process */
    assert_int_equal(b.spy.blocks, 10);
    assert_int_equal(b.spy.settled, 1);    /* the full warm-up in the first only */
    assert_int_equal(b.spy.draw_count, 6); /* the estimate and each process */
    assert_int_equal(b.spy.compares, 8);   /* timed calls whose outputs are looked at */
    for (size_t i = 1; i < b.spy.draw_count; i++) {
        assert_true(b.spy.draws[i].seed != b.spy.draws[i - 1].seed);
    }
    bench_close(&b);
}

static void every_sample_and_state_is_stored(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.050, 0.052, 0.051", ""));
    expect(&b, "faster", NULL);
    SCOPED(json_destroy) json *raw = raw_of(&b);
    const json *pairs = json_get(raw, "pairs");
    size_t baseline_first = 0;
    assert_int_equal(json_size(pairs), 10);
    for (size_t i = 0; i < 10; i++) {
        const json *pair = json_at(pairs, i);
        assert_int_equal(json_size(json_get(json_get(pair, "baseline"), "ms")), DUEL_SAMPLES);
        assert_int_equal(json_size(json_get(json_get(pair, "candidate"), "ms")), DUEL_SAMPLES);
        assert_int_equal(json_int(json_get(pair, "process"), -1), (int64_t)i / 2);
        const json *seen = json_get(json_get(pair, "candidate"), "state");
        assert_true(json_int(json_get(seen, "readings"), 0) >= 2); /* at both edges */
        const char *first = json_str(json_get(pair, "first"), "");
        baseline_first += strcmp(first, "baseline") == 0;
        if (i % 2 == 1) { /* balanced: ABBA or BAAB */
            assert_string_not_equal(first, json_str(json_get(json_at(pairs, i - 1), "first"), ""));
        }
    }
    assert_int_equal(baseline_first, 5);
    assert_int_equal(json_size(json_get(raw, "looks")), 1);
    assert_string_equal(json_str(json_get(raw, "protocol"), ""), "ce-timing-1");
    assert_non_null(json_get(json_get(raw, "state"), "facts"));
    bench_close(&b);
}

static void a_short_call_is_timed_in_chains(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.005", ""));
    expect(&b, "faster", NULL);
    assert_string_equal(b.got.timing_mode, "G");
    assert_true(b.spy.chained);
    assert_int_equal(b.got.slots, 10);        /* 50 µs in a chain */
    assert_int_equal(b.spy.compares, 3 * 10); /* all slots of three chains */
    bench_close(&b);
}

/* Mode and K belong to the pair: a fast baseline chains a slow candidate too. */
static void the_faster_side_decides_how_both_are_timed(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.500", ""));
    b.baseline_ms = 0.010;
    expect(&b, "slower", NULL);
    assert_string_equal(b.got.timing_mode, "G");
    assert_int_equal(b.got.slots, 5);
    bench_close(&b);
}

static void what_stays_open_is_looked_at_three_times(void **state)
{
    (void)state;
    bench b;
    /* A quarter of the blocks is ten times slower: never a clear picture. */
    bench_open(&b, SCRIPT("0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, "
                          "0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, "
                          "0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, 0.16, "
                          "0.16",
                          ""));
    assert_ok(fight(&b, 0), b.e);
    assert_string_equal(b.got.verdict, "inconclusive");
    assert_int_equal(b.got.pairs, 40);
    assert_int_equal(b.got.processes, 15);
    SCOPED(json_destroy) json *raw = raw_of(&b);
    assert_int_equal(json_size(json_get(raw, "looks")), 3);
    bench_close(&b);
}

static void another_number_means_other_inputs_and_the_same_one_the_same(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.050", ""));
    expect(&b, "faster", NULL);
    int64_t first = b.spy.draws[1].seed;
    b.spy.draw_count = 0;
    assert_ok(fight(&b, 0), b.e);
    assert_true(b.spy.draws[1].seed == first);
    b.spy.draw_count = 0;
    assert_ok(fight(&b, 1), b.e);
    assert_true(b.spy.draws[1].seed != first);
    bench_close(&b);
}

/* ---- what may not be said ---- */

static void a_throttled_or_shared_card_gives_no_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *script, *reason;
    } rows[] = {{SCRIPT("0.050", ", \"state\": {\"reasons\": 64}"), "throttle"},
                {SCRIPT("0.050", ", \"state\": {\"sm_mhz\": 1200}"), "throttle"},
                {SCRIPT("0.050", ", \"state\": {\"foreign\": 1}"), "contention"},
                {SCRIPT("0.050", ", \"state\": {\"mig\": 1}"), "mig"},
                {SCRIPT("0.050", ", \"state\": {\"mps\": 1}"), "mps"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench b;
        bench_open(&b, rows[i].script);
        expect(&b, "inconclusive", rows[i].reason);
        assert_int_equal(b.got.pairs, 0);
        assert_true(isnan(b.got.speedup));
        assert_true(b.got.voids <= 4);
        bench_close(&b);
    }
}

static void faster_than_the_memory_is_impossible(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.005", ""));
    atomic_bool never = false;
    lane *held = lanes_acquire(b.work.p.node->lanes, b.work.p.facts->arch, NULL, &never, &b.e);
    lane_facts *facts = (lane_facts *)(uintptr_t)lane_get_facts(held);
    facts->memory_rate = 4.9e12; /* 32 MiB take 6.8 µs */
    lanes_release(b.work.p.node->lanes, &held);
    expect(&b, "impossible", "floor");
    assert_true(b.got.floor_ms > 0.0068 && b.got.floor_ms < 0.0069);
    bench_close(&b);
}

/* ---- candidates that fail ---- */

static void a_wrong_answer_in_a_timed_call_is_the_outcome(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("0.050", ""));
    b.spy.wrong_from = 5;
    assert_ok(fight(&b, 0), b.e);
    assert_int_equal(b.verdict.result, OUTCOME_WRONG);
    assert_string_equal(b.verdict.detail, "element");
    assert_has(b.verdict.text, "in a timed call");
    assert_has(b.verdict.text, "rows=4096");
    assert_null(b.got.verdict);
    bench_close(&b);
}

static void what_happens_while_timing_is_the_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        outcome result;
    } rows[] = {
        {SCRIPT("0.050", ", \"time\": {\"outcome\": \"hung\"}"), OUTCOME_HUNG},
        {SCRIPT("0.050", ", \"time\": {\"crash\": true}"), OUTCOME_CRASHED},
        {SCRIPT("0.050", ", \"load\": {\"outcome\": \"launch_failed\"}"), OUTCOME_LAUNCH_FAILED}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench b;
        bench_open(&b, rows[i].script);
        assert_ok(fight(&b, 0), b.e);
        assert_int_equal(b.verdict.result, rows[i].result);
        assert_null(b.got.verdict);
        bench_close(&b);
    }
}

static void a_judge_that_fails_is_our_failure(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"default\": {\"candidate_ms\": [0.05], \"baselines\": {\"eager\": [0.1]}}}");
    assert_int_equal(fight(&b, 0), -1); /* the script has no times of `default` */
    assert_int_equal(b.e.code, ERR_CONFIG);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_pairs_in_five_fresh_processes_are_enough),
        cmocka_unit_test(every_sample_and_state_is_stored),
        cmocka_unit_test(a_short_call_is_timed_in_chains),
        cmocka_unit_test(the_faster_side_decides_how_both_are_timed),
        cmocka_unit_test(what_stays_open_is_looked_at_three_times),
        cmocka_unit_test(another_number_means_other_inputs_and_the_same_one_the_same),
        cmocka_unit_test(a_throttled_or_shared_card_gives_no_verdict),
        cmocka_unit_test(faster_than_the_memory_is_impossible),
        cmocka_unit_test(a_wrong_answer_in_a_timed_call_is_the_outcome),
        cmocka_unit_test(what_happens_while_timing_is_the_outcome),
        cmocka_unit_test(a_judge_that_fails_is_our_failure)};
    return cmocka_run_group_tests_name("duel", tests, NULL, NULL);
}
