/* test_check - a candidate at every shape of its contract
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/check.h"
#include "common/json.h"
#include "tests/support/judge_spy.h"

/* The gold kernel of one problem, ready to be checked, with a spy at the judge. */
typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    check_report report;
    err e;
} bench;

static void bench_open(bench *b, const char *script)
{
    *b = (bench){.rig = rig_create(script)};
    rig_spec(b->rig, "silu_fp16", "gold", &b->spec);
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
    b->spy.arg = b->rig;
}

static void bench_close(bench *b)
{
    check_report_fini(&b->report);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static int run_check(bench *b)
{
    const pipeline *p = &b->work.p;
    atomic_bool never = false;
    lane *held = lanes_acquire(p->node->lanes, p->facts->arch, &never, &b->e);
    assert_non_null(held);
    int rc = check_candidate(p, held, p->best, &b->report, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

static void families_are_dealt_in_turn_and_the_benchmark_is_normal(void **state)
{
    (void)state;
    const char *families[] = {"zeros", "normal", "ties"};
    contract terms = {.families = {families, 3}, .shape_count = 5};
    static const char *const wanted[] = {"zeros", "normal", "ties", "zeros", "normal", "normal"};
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(check_family(&terms, i), wanted[i]);
    }
    terms.families.count = 1; /* no normal: what there is */
    assert_string_equal(check_family(&terms, 5), "zeros");
}

static void every_shape_is_drawn_in_order_with_its_own_seed(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    assert_ok(run_check(&b), b.e);
    const contract *terms = b.work.p.terms;
    assert_int_equal(b.report.verdict.result, OUTCOME_OK);
    assert_int_equal(b.spy.draw_count, terms->shape_count + 1);
    assert_int_equal(b.spy.compares, terms->shape_count + 1);
    for (size_t i = 0; i < b.spy.draw_count; i++) {
        const judge_spy_draw *seen = &b.spy.draws[i];
        const contract_shape *shape =
            i < terms->shape_count ? &terms->shapes[i] : &terms->benchmark;
        assert_memory_equal(&seen->shape, shape, sizeof(*shape));
        assert_string_equal(seen->family, check_family(terms, i));
        assert_int_equal(seen->slots, 1);
        for (size_t k = 0; k < i; k++) {
            assert_true(b.spy.draws[k].seed != seen->seed);
        }
    }
    bench_close(&b);
}

static void the_report_lists_every_shape(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    assert_ok(run_check(&b), b.e);
    const contract *terms = b.work.p.terms;
    SCOPED(json_destroy)
    json *report = json_parse_tree(b.report.json, strlen(b.report.json), "report", &b.e);
    const json *rows = json_get(report, "shapes");
    assert_string_equal(json_str(json_get(report, "protocol"), ""), "ce-correct-0");
    assert_int_equal(json_typeof(json_get(report, "simulated")), JSON_TYPE_BOOL);
    assert_int_equal(json_size(rows), terms->shape_count + 1);
    for (size_t i = 0; i < json_size(rows); i++) {
        const json *row = json_at(rows, i);
        SCOPED(json_destroy)
        json *shape = contract_shape_json(terms, i < terms->shape_count ? &terms->shapes[i]
                                                                        : &terms->benchmark);
        assert_true(json_equal(json_get(row, "shape"), shape));
        assert_string_equal(json_str(json_get(row, "outcome"), ""), "ok");
        assert_string_equal(json_str(json_get(row, "family"), ""), check_family(terms, i));
        assert_int_equal(json_typeof(json_get(row, "comparison")), JSON_TYPE_OBJECT);
    }
    bench_close(&b);
}

static void another_attempt_meets_other_values(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    assert_ok(run_check(&b), b.e);
    size_t first = b.spy.draw_count;
    check_report_fini(&b.report);
    b.work.p.attempts++;
    assert_ok(run_check(&b), b.e);
    for (size_t i = 0; i < first; i++) {
        assert_true(b.spy.draws[i].seed != b.spy.draws[first + i].seed);
    }
    bench_close(&b);
}

static void the_first_wrong_shape_ends_it(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.spy.wrong_from = 2;
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_WRONG);
    assert_string_equal(b.report.verdict.detail, "element");
    SCOPED(scoped_free)
    char *label = contract_shape_label(b.work.p.terms, &b.work.p.terms->shapes[2]);
    assert_non_null(strstr(b.report.verdict.text, label));
    assert_non_null(strstr(b.report.verdict.text, check_family(b.work.p.terms, 2)));
    assert_non_null(strstr(b.report.verdict.text, "off by 2 ulp"));
    assert_int_equal(b.spy.draw_count, 3);
    SCOPED(json_destroy)
    json *report = json_parse_tree(b.report.json, strlen(b.report.json), "report", &b.e);
    const json *rows = json_get(report, "shapes");
    assert_int_equal(json_size(rows), 3);
    assert_string_equal(json_str(json_get(json_at(rows, 2), "outcome"), ""), "wrong");
    assert_string_equal(json_str(json_get(json_at(rows, 2), "detail"), ""), "element");
    bench_close(&b);
}

static void a_failed_launch_is_not_compared(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"default\": {\"check\": {\"outcome\": \"out_of_bounds\", \"detail\": "
                   "\"write\", \"text\": \"past the end of y\"}}}");
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_OUT_OF_BOUNDS);
    assert_string_equal(b.report.verdict.detail, "write");
    assert_int_equal(b.spy.draw_count, 1);
    assert_int_equal(b.spy.compares, 0);
    bench_close(&b);
}

static void a_candidate_that_does_not_load_is_never_launched(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"default\": {\"load\": {\"outcome\": \"launch_failed\"}}}");
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_LAUNCH_FAILED);
    assert_int_equal(b.spy.draw_count, 0);
    assert_non_null(strstr(b.report.json, "\"shapes\":[]"));
    bench_close(&b);
}

/* ---- the harness fails ---- */

static int die_once(judge_spy *self, size_t number, err *e)
{
    (void)self;
    if (number != 1) {
        return 0;
    }
    err_set(e, ERR_UNAVAILABLE, "the judge died");
    e->retry = true;
    return -1;
}

static int die_always(judge_spy *self, size_t number, err *e)
{
    return die_once(self, 1 + 0 * number, e);
}

static int refuse(judge_spy *self, size_t number, err *e)
{
    (void)self;
    (void)number;
    return err_set(e, ERR_CONFIG, "reference.py:3: reference raised TypeError");
}

static void a_judge_that_was_restarted_checks_all_again(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.spy.on_draw = die_once;
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_OK);
    assert_int_equal(b.spy.opens, 2);
    assert_int_equal(b.spy.draw_count, 2 + b.work.p.terms->shape_count + 1);
    assert_true(b.spy.draws[0].seed == b.spy.draws[2].seed);
    bench_close(&b);
}

static void a_judge_that_dies_twice_is_the_harness(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.spy.on_compare = die_always;
    assert_int_equal(run_check(&b), -1);
    assert_int_equal(b.spy.opens, 2);
    assert_int_equal(b.e.code, ERR_UNAVAILABLE);
    assert_true(b.e.retry);
    assert_null(b.report.json);
    bench_close(&b);
}

static void what_trying_again_cannot_mend_is_not_tried_again(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.spy.on_open = refuse;
    assert_int_equal(run_check(&b), -1);
    assert_int_equal(b.spy.opens, 1);
    assert_int_equal(b.e.code, ERR_CONFIG);
    bench_close(&b);
}

static int cancel(judge_spy *self, size_t number, err *e)
{
    (void)e;
    if (number == 1) {
        rig_cancel(self->arg, true);
    }
    return 0;
}

static void a_cancelled_task_stops_before_the_next_shape(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.spy.on_draw = cancel;
    assert_int_equal(run_check(&b), -1);
    assert_int_equal(b.e.code, ERR_CONFLICT);
    assert_int_equal(b.spy.draw_count, 2);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_dealt_in_turn_and_the_benchmark_is_normal),
        cmocka_unit_test(every_shape_is_drawn_in_order_with_its_own_seed),
        cmocka_unit_test(the_report_lists_every_shape),
        cmocka_unit_test(another_attempt_meets_other_values),
        cmocka_unit_test(the_first_wrong_shape_ends_it),
        cmocka_unit_test(a_failed_launch_is_not_compared),
        cmocka_unit_test(a_candidate_that_does_not_load_is_never_launched),
        cmocka_unit_test(a_judge_that_was_restarted_checks_all_again),
        cmocka_unit_test(a_judge_that_dies_twice_is_the_harness),
        cmocka_unit_test(what_trying_again_cannot_mend_is_not_tried_again),
        cmocka_unit_test(a_cancelled_task_stops_before_the_next_shape)};
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
