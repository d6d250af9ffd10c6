/* test_run - runs, entrants, problems; what may be ranked
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "store/query.h"
#include "store/run.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

static int finish_fn(store_tx *tx, void *arg, err *e)
{
    const char *task = arg;
    result_row row = fixture_ok_result(1, 2);
    if (strcmp(task, "task2") == 0)
        row = fixture_failed_result(OUTCOME_WRONG, "correctness");
    if (task_grant(tx, task, "node", 1, 2000, e) < 0)
        return -1;
    return result_put(tx, task, 1, &row, 3000, e);
}

static int complete_fn(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    return run_set_state(tx, "run1", RUN_COMPLETE, 4000, e);
}

static int resume_fn(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    return run_set_state(tx, "run1", RUN_RUNNING, 5000, e);
}

static int delete_fn(store_tx *tx, void *arg, err *e)
{
    return run_delete(tx, arg, e);
}

typedef struct facts {
    run_row run;
    entrant_list entrants;
    problem_list problems;
    run_counts counts;
    ranked_list ranked;
} facts;

static int facts_fn(store_tx *tx, void *arg, err *e)
{
    facts *f = arg;
    if (run_find(tx, "r", &f->run, e) < 0 || entrant_list_read(tx, "run1", &f->entrants, e) < 0 ||
        problem_list_read(tx, "run1", &f->problems, e) < 0)
        return -1;
    return run_count(tx, "run1", &f->counts, e) < 0 ? -1
                                                    : ranked_list_read(tx, "run1", &f->ranked, e);
}

static void facts_fini(facts *f)
{
    run_row_fini(&f->run);
    entrant_list_fini(&f->entrants);
    problem_list_fini(&f->problems);
    ranked_list_fini(&f->ranked);
}

static void a_run_comes_back_with_entrants_and_problems_in_order(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    SCOPED(facts_fini) facts got = {0};
    fixture_do(f, facts_fn, &got);
    assert_string_equal(got.run.id, "run1");
    assert_int_equal(got.run.state, RUN_RUNNING);
    assert_int_equal(got.run.finished_ms, 0);
    hash suite = hash_of_text("internal 0.1");
    assert_true(hash_equal(&got.run.suite_hash, &suite));
    assert_int_equal(got.entrants.count, 1);
    assert_int_equal(got.problems.count, 2);
    assert_string_equal(got.problems.rows[1].id, "sum");
    assert_true(hash_is_zero(&got.problems.rows[1].gold_source));
    assert_int_equal(got.counts.planned, 2);
    assert_int_equal(got.counts.waiting, 2);
    assert_int_equal(got.counts.scored, 0);
}

static void only_complete_runs_on_a_real_device_are_ranked(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, finish_fn, (char[]){"task1"});
    fixture_do(f, finish_fn, (char[]){"task2"});
    assert_int_equal(fixture_count(f, "ranked"), 0);
    fixture_do(f, complete_fn, NULL);
    assert_int_equal(fixture_count(f, "ranked"), 2);
    fixture_do(f, resume_fn, NULL);
    assert_int_equal(fixture_count(f, "run WHERE finished_ms IS NULL"), 1);
    assert_int_equal(fixture_count(f, "ranked"), 0);
    fixture_do(f, complete_fn, NULL);
    fixture_exec(f, "UPDATE task SET device_kind = 'fake'");
    assert_int_equal(fixture_count(f, "ranked"), 0);
    fixture_exec(f, "UPDATE task SET device_kind = 'cuda'; UPDATE task SET outcome = 'not_run', "
                    "speedup = NULL, "
                    "reason = 'no GPU' WHERE id = 'task1'");
    SCOPED(facts_fini) facts got = {0};
    fixture_do(f, facts_fn, &got);
    assert_int_equal(got.ranked.count, 1);
    assert_string_equal(got.ranked.rows[0].entrant, "gold");
    assert_int_equal(got.ranked.rows[0].tasks, 1);
    assert_int_equal(got.counts.done, 2);
    assert_int_equal(got.counts.scored, 1);
}

static void deleting_a_run_takes_everything_but_artifacts(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, finish_fn, (char[]){"task1"});
    fixture_fails(f, delete_fn, (char[]){"run2"}, ERR_NOT_FOUND);
    fixture_do(f, delete_fn, (char[]){"run1"});
    static const char *const tables[] = {"run",   "entrant", "problem",     "task",
                                         "lease", "event",   "stage_result"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        assert_int_equal(fixture_count(f, tables[i]), 0);
    assert_int_equal(fixture_count(f, "artifact"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_comes_back_with_entrants_and_problems_in_order),
        cmocka_unit_test(only_complete_runs_on_a_real_device_are_ranked),
        cmocka_unit_test(deleting_a_run_takes_everything_but_artifacts),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
