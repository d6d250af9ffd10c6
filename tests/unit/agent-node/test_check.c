/* test_check - a candidate at every shape of its contract
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/check.h"
#include "common/json.h"
#include "suites/cases.h"
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
    lane *held = lanes_acquire(p->node->lanes, p->facts->arch, NULL, &never, &b->e);
    assert_non_null(held);
    int rc = check_candidate(p, held, p->best, &b->report, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

/* The grid, the benchmark shape, the hidden ones. */
static size_t shapes_checked(const bench *b, cases *all)
{
    cases_build(b->work.p.terms, false, all);
    return all->count + 1 + CASES_HIDDEN;
}

static void every_case_is_drawn_in_order_then_the_benchmark_then_hidden_ones(void **state)
{
    (void)state;
    bench b;
    SCOPED(cases_fini) cases all = {0};
    bench_open(&b, NULL);
    assert_ok(run_check(&b), b.e);
    const contract *terms = b.work.p.terms;
    size_t count = shapes_checked(&b, &all);
    assert_int_equal(b.report.verdict.result, OUTCOME_OK);
    assert_int_equal(b.spy.draw_count, count);
    assert_int_equal(b.spy.compares, count);
    for (size_t i = 0; i < all.count; i++) {
        assert_memory_equal(&b.spy.draws[i].shape, &all.shapes[i].shape, sizeof(contract_shape));
        assert_string_equal(b.spy.draws[i].family, all.shapes[i].family);
    }
    assert_memory_equal(&b.spy.draws[all.count].shape, &terms->benchmark, sizeof(contract_shape));
    assert_string_equal(b.spy.draws[all.count].family, "normal");
    for (size_t i = 0; i < b.spy.draw_count; i++) {
        assert_int_equal(b.spy.draws[i].slots, 1);
        for (size_t k = 0; k < i; k++) {
            assert_true(b.spy.draws[k].seed != b.spy.draws[i].seed);
        }
    }
    bench_close(&b);
}

static void the_report_lists_every_shape(void **state)
{
    (void)state;
    bench b;
    SCOPED(cases_fini) cases all = {0};
    bench_open(&b, NULL);
    assert_ok(run_check(&b), b.e);
    SCOPED(json_destroy)
    json *report = json_parse_tree(b.report.json, strlen(b.report.json), "report", &b.e);
    const json *rows = json_get(report, "shapes");
    assert_string_equal(json_str(json_get(report, "protocol"), ""), "ce-correct-1");
    assert_int_equal(json_typeof(json_get(report, "simulated")), JSON_TYPE_BOOL);
    assert_int_equal(json_size(rows), shapes_checked(&b, &all) + 1);
    for (size_t i = 0; i < json_size(rows); i++) {
        const json *row = json_at(rows, i);
        bool large = i == all.count + 1;
        const char *part = i < all.count ? "grid" : i == all.count ? "benchmark" : "hidden";
        assert_string_equal(json_str(json_get(row, "part"), ""), large ? "large index" : part);
        assert_string_equal(json_str(json_get(row, "outcome"), ""), large ? "not_run" : "ok");
        assert_int_equal(json_typeof(json_get(row, "shape")), JSON_TYPE_OBJECT);
        if (!large) {
            assert_int_equal(json_typeof(json_get(row, "comparison")), JSON_TYPE_OBJECT);
        }
    }
    const char *why = json_str(json_get(json_at(rows, all.count + 1), "text"), "");
    assert_non_null(strstr(why, "range")); /* not run is said, with its reason */
    bench_close(&b);
}

static void what_the_device_has_not_is_not_run_and_said(void **state)
{
    (void)state;
    const struct {
        need_set needs;
        const char *detail, *why;
    } rows[] = {
        {{.memory = INT64_C(99) << 30},
         "memory",
         "not runnable here: needs 99.0 GiB of device memory; the largest device has 80.0 GiB"},
        {{.capability = 120},
         "capability",
         "not runnable here: needs compute capability 12.0; the highest of a device is 9.0"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b, NULL);
        b.work.p.terms->needs = rows[i].needs;
        assert_ok(run_check(&b), b.e);
        assert_int_equal(b.report.verdict.result, OUTCOME_NOT_RUN);
        assert_string_equal(b.report.verdict.detail, rows[i].detail);
        assert_string_equal(b.report.verdict.text, rows[i].why);
        bench_close(&b);
    }
}

/* What the judge has found for one candidate serves the next; the hidden part is new each time. */
static void another_attempt_meets_the_same_grid_and_other_hidden_values(void **state)
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
        bool hidden = i >= first - CASES_HIDDEN;
        assert_true((b.spy.draws[i].seed != b.spy.draws[first + i].seed) == hidden);
    }
    bench_close(&b);
}

static void the_first_wrong_shape_ends_it(void **state)
{
    (void)state;
    bench b;
    SCOPED(cases_fini) cases all = {0};
    bench_open(&b, NULL);
    shapes_checked(&b, &all);
    b.spy.wrong_from = 2;
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_WRONG);
    assert_string_equal(b.report.verdict.detail, "element");
    SCOPED(scoped_free)
    char *label = contract_shape_label(b.work.p.terms, &all.shapes[2].shape);
    assert_non_null(strstr(b.report.verdict.text, label));
    assert_non_null(strstr(b.report.verdict.text, all.shapes[2].family));
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

static void what_only_the_hidden_run_finds_is_wrong_and_says_so(void **state)
{
    (void)state;
    bench b;
    SCOPED(cases_fini) cases all = {0};
    bench_open(&b, NULL);
    b.spy.wrong_from = shapes_checked(&b, &all) - CASES_HIDDEN;
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_WRONG);
    assert_non_null(strstr(b.report.verdict.text, "hidden run: at "));
    bench_close(&b);
}

/* Two requests a shape, each compared by the error bound. */
static void an_order_free_problem_is_compared_twice(void **state)
{
    (void)state;
    bench b;
    SCOPED(cases_fini) cases all = {0};
    bench_open(&b, NULL);
    b.work.p.terms->order_free = true;
    assert_ok(run_check(&b), b.e);
    size_t count = shapes_checked(&b, &all);
    assert_int_equal(b.spy.draw_count, count);
    assert_int_equal(b.spy.compares, 2 * count);
    bench_close(&b);
}

/* Of two runs that differ the judge is asked about the first: what nobody wrote is named as that. */
static void leftovers_are_unwritten_or_uninitialised(void **state)
{
    (void)state;
    static const char script[] =
        "{\"default\": {\"check\": {\"outcome\": \"uninitialised\", \"detail\": \"leftovers\"}}}";
    bench b;
    bench_open(&b, script);
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.spy.compares, 1);
    assert_int_equal(b.report.verdict.result, OUTCOME_UNINITIALISED);
    bench_close(&b);
    bench_open(&b, script);
    b.spy.wrong_from = 1;
    b.spy.compares = 1;
    b.spy.wrong_detail = "unwritten";
    assert_ok(run_check(&b), b.e);
    assert_int_equal(b.report.verdict.result, OUTCOME_WRONG);
    assert_string_equal(b.report.verdict.detail, "unwritten");
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
    SCOPED(cases_fini) cases all = {0};
    assert_int_equal(b.spy.opens, 3); /* the hidden run opens again */
    assert_int_equal(b.spy.draw_count, 2 + shapes_checked(&b, &all));
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
        cmocka_unit_test(every_case_is_drawn_in_order_then_the_benchmark_then_hidden_ones),
        cmocka_unit_test(the_report_lists_every_shape),
        cmocka_unit_test(what_the_device_has_not_is_not_run_and_said),
        cmocka_unit_test(another_attempt_meets_the_same_grid_and_other_hidden_values),
        cmocka_unit_test(the_first_wrong_shape_ends_it),
        cmocka_unit_test(what_only_the_hidden_run_finds_is_wrong_and_says_so),
        cmocka_unit_test(an_order_free_problem_is_compared_twice),
        cmocka_unit_test(leftovers_are_unwritten_or_uninitialised),
        cmocka_unit_test(a_failed_launch_is_not_compared),
        cmocka_unit_test(a_candidate_that_does_not_load_is_never_launched),
        cmocka_unit_test(a_judge_that_was_restarted_checks_all_again),
        cmocka_unit_test(a_judge_that_dies_twice_is_the_harness),
        cmocka_unit_test(what_trying_again_cannot_mend_is_not_tried_again),
        cmocka_unit_test(a_cancelled_task_stops_before_the_next_shape)};
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
