/* test_stage - a finished stage is a checkpoint with all it brought
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
#include "store/stage.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

typedef struct put {
    int64_t token;
    stage_row row;
} put;

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    return task_grant(tx, "task1", "node", *(int64_t *)arg, 2000, e);
}

static int lose_fn(store_tx *tx, void *arg, err *e)
{
    task_return_args args = {"task1", *(int64_t *)arg, TASK_LOST, NULL, 2500};
    return task_return(tx, &args, e);
}

static int put_fn(store_tx *tx, void *arg, err *e)
{
    put *p = arg;
    return stage_put(tx, "task1", p->token, &p->row, 3000, e);
}

static put a_stage(fixture *f, int64_t token, const char *stage, const char *record)
{
    return (put){token,
                 {.stage = stage,
                  .status = "passed",
                  .result = OUTCOME_OK,
                  .record = fixture_text(f, record),
                  .wall_ms = 10,
                  .device_ms = 1,
                  .calls = 1}};
}

typedef struct reading {
    stage_list stages;
    attempt_list attempts;
    measurement_list measurements;
} reading;

static int read_fn(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    if (stage_list_read(tx, "task1", &r->stages, e) < 0 ||
        attempt_list_read(tx, "task1", &r->attempts, e) < 0)
        return -1;
    return measurement_list_read(tx, "task1", &r->measurements, e);
}

static void a_stage_comes_back_with_attempts_and_measurements(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    double none = (double)NAN;
    attempt_row attempts[2] = {{.number = 0,
                                .stage = "codegen",
                                .result = OUTCOME_COMPILE_FAILED,
                                .detail = "limit",
                                .compile_ms = none,
                                .registers = -1,
                                .local_bytes = -1},
                               {.number = 1,
                                .stage = "codegen",
                                .result = OUTCOME_OK,
                                .compile_ms = 50,
                                .registers = 32,
                                .local_bytes = 0}};
    measurement_row measurements[2] = {{.side = "candidate",
                                        .mode = "plan",
                                        .shape = "n=4",
                                        .median_ms = 0.5,
                                        .sample_count = 3,
                                        .slots = 2,
                                        .l2 = "cold",
                                        .event_floor_ms = 0.002},
                                       {.side = "baseline",
                                        .mode = "default",
                                        .shape = "n=4",
                                        .median_ms = none,
                                        .reason = "the compiler failed",
                                        .event_floor_ms = none}};
    put p = a_stage(f, 1, "codegen", "record");
    p.row.attempts = attempts;
    p.row.attempt_count = 2;
    p.row.measurements = measurements;
    p.row.measurement_count = 2;
    fixture_do(f, put_fn, &p);
    put q = a_stage(f, 1, "correctness", "record 2");
    fixture_do(f, put_fn, &q);
    reading r = {0};
    fixture_do(f, read_fn, &r);
    assert_int_equal(r.stages.count, 2);
    assert_string_equal(r.stages.rows[1].stage, "correctness");
    assert_int_equal(r.stages.rows[1].position, 1);
    assert_int_equal(r.attempts.count, 2);
    assert_int_equal(r.attempts.rows[0].registers, -1);
    assert_int_equal(r.attempts.rows[1].registers, 32);
    assert_true(isnan(r.attempts.rows[0].compile_ms));
    assert_int_equal(r.measurements.count, 2);
    assert_string_equal(r.measurements.rows[0].stage, "codegen");
    assert_string_equal(r.measurements.rows[1].reason, "the compiler failed");
    stage_list_fini(&r.stages);
    attempt_list_fini(&r.attempts);
    measurement_list_fini(&r.measurements);
}

static void the_same_stage_again_is_accepted_without_a_second_row(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = a_stage(f, 1, "codegen", "record");
    attempt_row attempt = {.stage = "codegen", .result = OUTCOME_OK, .compile_ms = 5};
    p.row.attempts = &attempt;
    p.row.attempt_count = 1;
    fixture_do(f, put_fn, &p);
    fixture_do(f, put_fn, &p);
    assert_int_equal(fixture_count(f, "stage_result"), 1);
    assert_int_equal(fixture_count(f, "attempt"), 1);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 0);
}

static void another_record_or_token_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = a_stage(f, 1, "codegen", "record"), other = a_stage(f, 1, "codegen", "differs");
    fixture_do(f, put_fn, &p);
    fixture_fails(f, put_fn, &other, ERR_CONFLICT);
    fixture_do(f, lose_fn, &(int64_t){1});
    fixture_do(f, grant_fn, &(int64_t){2});
    put stale = a_stage(f, 1, "correctness", "record");
    assert_string_equal(fixture_fails(f, put_fn, &stale, ERR_CONFLICT),
                        "task task1: stage refused: token 1, the newest is 2");
    put repeated = a_stage(f, 2, "codegen", "record"); /* told not to repeat it */
    fixture_fails(f, put_fn, &repeated, ERR_CONFLICT);
    assert_int_equal(fixture_count(f, "stage_result"), 1);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 3);
}

static void a_bad_attempt_undoes_the_whole_stage(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    attempt_row attempts[2] = {
        {.stage = "codegen", .result = OUTCOME_OK, .compile_ms = 1},
        {.number = 1, .stage = "codegen", .result = OUTCOME_OK, .compile_ms = -1}};
    put p = a_stage(f, 1, "codegen", "record");
    p.row.attempts = attempts;
    p.row.attempt_count = 2;
    fixture_fails(f, put_fn, &p, ERR_PROTOCOL);
    assert_int_equal(fixture_count(f, "stage_result"), 0);
    assert_int_equal(fixture_count(f, "attempt"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_comes_back_with_attempts_and_measurements),
        cmocka_unit_test(the_same_stage_again_is_accepted_without_a_second_row),
        cmocka_unit_test(another_record_or_token_is_refused),
        cmocka_unit_test(a_bad_attempt_undoes_the_whole_stage),
    };
    return cmocka_run_group_tests_name("stage", tests, NULL, NULL);
}
