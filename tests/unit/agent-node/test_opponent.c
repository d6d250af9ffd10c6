/* test_opponent - a kernel against a kernel: the fake device scripts each by its alias
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/duel.h"
#include "agent-node/opponent.h"
#include "tests/support/judge_spy.h"

#define SCRIPT(rival)                                                             \
    "{\"default\": {\"candidate_ms\": [0.100], \"baselines\": {\"eager\": [9]}}," \
    " \"problems\": {\"rival\": {" rival "}}}"

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
    judge_spy spy;
    candidate rival;
    comparison_record got;
    runner_verdict verdict;
    err e;
} bench;

static void bench_open(bench *b, const char *script)
{
    *b = (bench){.rig = rig_create(script)};
    rig_spec(b->rig, "silu_fp16", "gold", &b->spec);
    rig_pipeline(b->rig, &b->spec, &b->work);
    judge_spy_install(&b->spy, rig_node(b->rig)->lanes);
    b->rival = *b->work.p.best; /* shares everything but its name */
    b->rival.alias = "rival";
}

static void bench_close(bench *b)
{
    comparison_record_fini(&b->got);
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
}

static int fight(bench *b)
{
    const pipeline *p = &b->work.p;
    atomic_bool never = false;
    lane *held = lanes_acquire(p->node->lanes, p->facts->arch, NULL, &never, &b->e);
    assert_non_null(held);
    duel_request request = {.p = p,
                            .held = held,
                            .c = p->best,
                            .mode = "rival",
                            .rival = &b->rival,
                            .baseline_ms = (double)INFINITY};
    int rc = duel_run(&request, &b->got, &b->verdict, &b->e);
    lanes_release(p->node->lanes, &held);
    return rc;
}

static void a_kernel_against_its_own_copy_is_the_same(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("\"candidate_ms\": [0.100]"));
    assert_ok(fight(&b), b.e);
    assert_string_equal(b.got.verdict, "same");
    assert_string_equal(b.got.baseline_mode, "rival");
    assert_int_equal(b.got.pairs, 10);
    assert_int_equal(b.got.processes, 5);
    assert_int_equal(b.spy.arms, 0); /* the judge draws and compares, and times nothing */
    assert_int_equal(b.spy.blocks, 0);
    bench_close(&b);
}

static void a_faster_rival_makes_the_candidate_slower(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, SCRIPT("\"candidate_ms\": [0.097]"));
    assert_ok(fight(&b), b.e);
    assert_string_equal(b.got.verdict, "slower");
    assert_true(fabs(b.got.speedup - 0.97) < 1e-9);
    assert_true(fabs(b.got.baseline_ms - 0.097) < 1e-12);
    bench_close(&b);
}

static void a_rival_that_fails_is_our_failure(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        SCRIPT("\"load\": {\"outcome\": \"launch_failed\", \"text\": \"no such entry\"}"),
        SCRIPT("\"time\": {\"outcome\": \"hung\", \"text\": \"it hangs\"}")};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        bench b;
        bench_open(&b, scripts[i]);
        assert_int_equal(fight(&b), -1);
        assert_int_equal(b.e.code, ERR_GPU);
        assert_has(b.e.text, "the kernel that is compared with failed");
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kernel_against_its_own_copy_is_the_same),
                                       cmocka_unit_test(a_faster_rival_makes_the_candidate_slower),
                                       cmocka_unit_test(a_rival_that_fails_is_our_failure)};
    return cmocka_run_group_tests_name("opponent", tests, NULL, NULL);
}
