/* test_trial - a candidate on a device, and the secrets it never sees
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/trial.h"

static task_spec sample_spec(void)
{
    static char problem[] = "silu_fp16";
    return (task_spec){.problem = problem, .seed = 7, .sample = 1};
}

static void equal_arguments_give_equal_seeds(void **state)
{
    (void)state;
    const task_spec a = sample_spec();
    const task_spec b = sample_spec();
    assert_true(trial_seed(&a, "check", 3) == trial_seed(&b, "check", 3));
    /* A fixed point: a changed derivation would make old runs unrepeatable. */
    assert_true(trial_seed(&a, "check", 0) == INT64_C(2331217433922960803));
}

static void every_argument_makes_another_seed(void **state)
{
    (void)state;
    static char other[] = "silu_fp32";
    task_spec s = sample_spec();
    const int64_t base = trial_seed(&s, "check", 3);
    assert_true(trial_seed(&s, "check", 4) != base);
    assert_true(trial_seed(&s, "time", 3) != base);
    assert_true(trial_seed(&s, "chec", 3) != base);
    s.seed = 8;
    assert_true(trial_seed(&s, "check", 3) != base);
    s = sample_spec();
    s.sample = 2;
    assert_true(trial_seed(&s, "check", 3) != base);
    s = sample_spec();
    s.problem = other;
    assert_true(trial_seed(&s, "check", 3) != base);
}

static void a_problem_seed_is_shared_by_its_samples(void **state)
{
    (void)state;
    static char other[] = "silu_fp32";
    task_spec s = sample_spec();
    const int64_t base = trial_problem_seed(&s, "grid", 3);
    s.sample = 2;
    assert_true(trial_problem_seed(&s, "grid", 3) == base);
    assert_true(trial_problem_seed(&s, "grid", 4) != base);
    assert_true(trial_problem_seed(&s, "benchmark", 3) != base);
    s.problem = other;
    assert_true(trial_problem_seed(&s, "grid", 3) != base);
    s = sample_spec();
    s.seed = 8;
    assert_true(trial_problem_seed(&s, "grid", 3) != base);
}

static void seeds_have_62_bits(void **state)
{
    (void)state;
    const task_spec s = sample_spec();
    int64_t all = 0;
    for (int64_t i = 0; i < 1000; i++) {
        int64_t seed = trial_seed(&s, "check", i);
        assert_true(seed >= 0 && seed < INT64_C(1) << 62);
        all |= seed;
    }
    assert_true(all == (INT64_C(1) << 62) - 1);
}

/* Opens a trial of the gold kernel; the runner's script decides what loading comes to. */
static int open_gold(const char *script, runner_verdict *verdict, err *e)
{
    rig *r = rig_create(script);
    task_spec spec SCOPED(task_spec_fini) = {0};
    rig_work work;
    trial t;
    rig_spec(r, "silu_fp16", "gold", &spec);
    rig_pipeline(r, &spec, &work);
    atomic_bool never = false;
    lane *held = lanes_acquire(rig_node(r)->lanes, work.p.facts->arch, NULL, &never, e);
    verdict_ok(verdict);
    int rc = trial_open(&t, &work.p, held, work.p.best, verdict, e);
    trial_fini(&t);
    trial_fini(&t); /* twice is fine */
    lanes_release(rig_node(r)->lanes, &held);
    rig_pipeline_fini(&work);
    rig_destroy(&r);
    return rc;
}

static void a_good_candidate_loads(void **state)
{
    (void)state;
    runner_verdict verdict;
    err e = {0};
    assert_ok(open_gold(NULL, &verdict, &e), e);
    assert_true(verdict_is_ok(&verdict));
}

static void what_loading_comes_to_is_the_candidates(void **state)
{
    (void)state;
    runner_verdict verdict;
    err e = {0};
    assert_ok(open_gold("{\"default\": {\"load\": {\"outcome\": \"launch_failed\", \"detail\": "
                        "\"resources\", \"text\": \"too many registers\"}}}",
                        &verdict, &e),
              e);
    assert_int_equal(verdict.result, OUTCOME_LAUNCH_FAILED);
    assert_string_equal(verdict.detail, "resources");
    assert_ok(open_gold("{\"default\": {\"load\": {\"crash\": true}}}", &verdict, &e), e);
    assert_int_equal(verdict.result, OUTCOME_CRASHED);
}

static void a_runner_started_ahead_is_the_next_one(void **state)
{
    (void)state;
    rig *r = rig_create("{\"problems\": {\"slow\": {\"load\": {\"outcome\": \"launch_failed\"}}}}");
    task_spec spec SCOPED(task_spec_fini) = {0};
    rig_work work;
    trial t;
    runner_verdict verdict;
    err e = {0};
    atomic_bool never = false;
    rig_spec(r, "silu_fp16", "gold", &spec);
    rig_pipeline(r, &spec, &work);
    lane *held = lanes_acquire(rig_node(r)->lanes, work.p.facts->arch, NULL, &never, &e);
    verdict_ok(&verdict);
    assert_ok(trial_open(&t, &work.p, held, work.p.best, &verdict, &e), e);
    assert_ok(trial_ahead(&t, held, &e), e);
    runner_proc *ahead = t.next;
    assert_non_null(ahead);
    assert_ok(trial_ahead(&t, held, &e), e);
    assert_ptr_equal(t.next, ahead); /* one is enough */
    assert_ok(trial_renew(&t, held, &verdict, &e), e);
    assert_true(verdict_is_ok(&verdict));
    assert_ptr_equal(t.runner, ahead);
    assert_null(t.next);
    candidate renamed = *work.p.best;
    renamed.alias = "slow"; /* the fake device knows it by this name */
    t.c = &renamed;
    assert_ok(trial_renew(&t, held, &verdict, &e), e);
    assert_int_equal(verdict.result, OUTCOME_LAUNCH_FAILED);
    trial_fini(&t);
    lanes_release(rig_node(r)->lanes, &held);
    rig_pipeline_fini(&work);
    rig_destroy(&r);
}

static void a_runner_on_another_card_is_refused(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini) = {0};
    rig_work work;
    trial t;
    runner_verdict verdict;
    err e = {0};
    atomic_bool never = false;
    rig_spec(r, "silu_fp16", "gold", &spec);
    rig_pipeline(r, &spec, &work);
    lane *held = lanes_acquire(rig_node(r)->lanes, work.p.facts->arch, NULL, &never, &e);
    lane_facts *facts = (lane_facts *)(uintptr_t)lane_get_facts(held);
    snprintf(facts->uuid, sizeof(facts->uuid), "GPU-elsewhere");
    verdict_ok(&verdict);
    assert_int_equal(trial_open(&t, &work.p, held, work.p.best, &verdict, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_has(e.text, "GPU-elsewhere");
    assert_has(e.text, "GPU-fake");
    trial_fini(&t);
    lanes_release(rig_node(r)->lanes, &held);
    rig_pipeline_fini(&work);
    rig_destroy(&r);
}

static void a_verdict_says_where(void **state)
{
    (void)state;
    rig *r = rig_create(NULL);
    task_spec spec SCOPED(task_spec_fini) = {0};
    rig_work work;
    runner_verdict verdict = {.elapsed_us = 5};
    rig_spec(r, "silu_fp16", "gold", &spec);
    rig_pipeline(r, &spec, &work);
    verdict_set(&verdict, OUTCOME_WRONG, "element", "off by one");
    trial_say(&work.p, &work.p.terms->shapes[1], "zeros", &verdict);
    SCOPED(scoped_free)
    char *label = contract_shape_label(work.p.terms, &work.p.terms->shapes[1]);
    SCOPED(scoped_free) char *wanted = xasprintf("at %s (zeros values): off by one", label);
    assert_string_equal(verdict.text, wanted);
    memset(verdict.text, 'x', sizeof(verdict.text) - 1); /* a long text is cut, not overrun */
    trial_say(&work.p, &work.p.terms->shapes[1], "zeros", &verdict);
    assert_int_equal(strlen(verdict.text), sizeof(verdict.text) - 1);
    assert_int_equal(verdict.elapsed_us, 5);
    rig_pipeline_fini(&work);
    rig_destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_arguments_give_equal_seeds),
                                       cmocka_unit_test(every_argument_makes_another_seed),
                                       cmocka_unit_test(a_problem_seed_is_shared_by_its_samples),
                                       cmocka_unit_test(seeds_have_62_bits),
                                       cmocka_unit_test(a_good_candidate_loads),
                                       cmocka_unit_test(what_loading_comes_to_is_the_candidates),
                                       cmocka_unit_test(a_runner_started_ahead_is_the_next_one),
                                       cmocka_unit_test(a_runner_on_another_card_is_refused),
                                       cmocka_unit_test(a_verdict_says_where)};
    return cmocka_run_group_tests_name("trial", tests, NULL, NULL);
}
