/* test_result - a result is recorded exactly once
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

typedef struct put {
    int64_t token;
    result_row row;
} put;

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    return task_grant(tx, "task1", "node", *(int64_t *)arg, 2000, e);
}

static int put_fn(store_tx *tx, void *arg, err *e)
{
    put *p = arg;
    return result_put(tx, "task1", p->token, &p->row, 3000, e);
}

static int get_fn(store_tx *tx, void *arg, err *e)
{
    return task_get(tx, "task1", arg, e);
}

static void a_result_comes_back_as_it_went_in(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = {1, fixture_ok_result(0.5, 0.75)};
    p.row.source = fixture_text(f, "kernel");
    fixture_do(f, put_fn, &p);
    task_row row;
    fixture_do(f, get_fn, &row);
    assert_int_equal(row.state, TASK_DONE);
    assert_int_equal(row.finished_ms, 3000);
    assert_int_equal(row.outcome.result, OUTCOME_OK);
    assert_true(row.outcome.speedup == 1.5);
    assert_null(row.outcome.reason);
    assert_string_equal(row.outcome.baseline_mode, "eager");
    assert_true(hash_equal(&row.outcome.source, &p.row.source));
    assert_true(hash_is_zero(&row.outcome.plan));
    task_row_fini(&row);
    assert_int_equal(fixture_count(f, "lease WHERE ending = 'done' AND ended_ms = 3000"), 1);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'done' AND detail = 'ok'"), 1);
}

static void a_failure_keeps_null_and_its_reason(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = {1, fixture_failed_result(OUTCOME_WRONG, "correctness")};
    fixture_do(f, put_fn, &p);
    task_row row;
    fixture_do(f, get_fn, &row);
    assert_true(isnan(row.outcome.speedup));
    assert_true(isnan(row.outcome.candidate_ms));
    assert_string_equal(row.outcome.reason, "the candidate is not correct");
    task_row_fini(&row);
    assert_int_equal(fixture_count(f, "task WHERE speedup IS NULL AND outcome = 'wrong'"), 1);
}

static void a_second_result_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = {1, fixture_ok_result(0.5, 0.75)};
    fixture_do(f, put_fn, &p);
    p.row = fixture_ok_result(0.1, 0.75);
    assert_string_equal(fixture_fails(f, put_fn, &p, ERR_CONFLICT),
                        "task task1: result refused: the task is done");
    assert_int_equal(fixture_count(f, "task WHERE candidate_ms = 0.5"), 1);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 1);
}

static void tokens_that_do_not_hold_the_lease_are_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    put p = {1, fixture_ok_result(0.5, 0.75)};
    fixture_fails(f, put_fn, &p, ERR_CONFLICT); /* never granted */
    fixture_do(f, grant_fn, &(int64_t){7});
    fixture_fails(f, put_fn, &p, ERR_CONFLICT); /* older */
    p.token = 8;
    fixture_fails(f, put_fn, &p, ERR_CONFLICT); /* not yet */
    p.token = 7;
    fixture_do(f, put_fn, &p);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 3);
}

static void results_that_lie_are_refused_by_the_schema(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put rows[4] = {{1, fixture_ok_result(0.5, 0.75)},
                   {1, fixture_ok_result(0.5, 0.75)},
                   {1, fixture_failed_result(OUTCOME_WRONG, "correctness")},
                   {1, fixture_failed_result(OUTCOME_WRONG, "correctness")}};
    rows[0].row.speedup = 0;       /* no placeholder */
    rows[1].row.candidate_ms = -1; /* nor this one */
    rows[2].row.speedup = 1;       /* a wrong candidate has no speed */
    rows[3].row.reason = NULL;     /* NULL needs its reason */
    for (size_t i = 0; i < 4; i++)
        fixture_fails(f, put_fn, &rows[i], ERR_PROTOCOL);
    assert_int_equal(fixture_count(f, "task WHERE state = 'leased' AND outcome IS NULL"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_comes_back_as_it_went_in),
        cmocka_unit_test(a_failure_keeps_null_and_its_reason),
        cmocka_unit_test(a_second_result_is_refused),
        cmocka_unit_test(tokens_that_do_not_hold_the_lease_are_refused),
        cmocka_unit_test(results_that_lie_are_refused_by_the_schema),
    };
    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
