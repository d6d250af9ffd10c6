/* test_call - no answer is recorded twice, none is replaced
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
#include "store/call.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

typedef struct put {
    int64_t token;
    call_row row;
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
    return call_put(tx, "task1", p->token, &p->row, 3000 + p->row.number, e);
}

static put a_call(fixture *f, int64_t token, int64_t number, const char *answer)
{
    return (put){token,
                 {.stage = "codegen",
                  .number = number,
                  .provider = "mock",
                  .model = "m",
                  .prompt = fixture_text(f, "prompt"),
                  .answer = fixture_text(f, answer),
                  .stop = "ok",
                  .tokens_in = 100,
                  .tokens_out = 50,
                  .tokens_cache_read = -1,
                  .tokens_cache_write = -1,
                  .cost_usd = 0.25,
                  .latency_ms = 1200,
                  .record = fixture_text(f, answer)}};
}

typedef struct reading {
    call_list calls;
    usage_list usage;
    usage_sum sum;
} reading;

static int read_fn(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    if (call_list_read(tx, "task1", "codegen", &r->calls, e) < 0)
        return -1;
    if (usage_sum_read(tx, "run1", &r->sum, e) < 0)
        return -1;
    return usage_list_read(tx, "run1", &r->usage, e);
}

static void the_same_answer_again_is_accepted_once(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = a_call(f, 1, 0, "answer");
    fixture_do(f, put_fn, &p);
    fixture_do(f, put_fn, &p);
    assert_int_equal(fixture_count(f, "model_call"), 1);
    fixture_do(f, lose_fn, &(int64_t){1});
    fixture_do(f, put_fn, &p); /* the answer is paid and stored: nothing to refuse */
    assert_int_equal(fixture_count(f, "model_call"), 1);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 0);
}

static void another_answer_under_the_same_key_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = a_call(f, 1, 0, "answer"), q = a_call(f, 1, 0, "other");
    fixture_do(f, put_fn, &p);
    assert_string_equal(fixture_fails(f, put_fn, &q, ERR_CONFLICT),
                        "task task1: call refused: codegen 0 is recorded with another answer");
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 1);
}

static void a_new_answer_under_an_older_token_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    fixture_do(f, lose_fn, &(int64_t){1});
    fixture_do(f, grant_fn, &(int64_t){2});
    put p = a_call(f, 1, 0, "answer");
    assert_string_equal(fixture_fails(f, put_fn, &p, ERR_CONFLICT),
                        "task task1: call refused: token 1, the newest is 2");
    assert_int_equal(fixture_count(f, "model_call"), 0);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 1);
}

static void a_call_without_its_blob_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = a_call(f, 1, 0, "answer");
    p.row.answer = hash_of_text("never put");
    assert_non_null(strstr(fixture_fails(f, put_fn, &p, ERR_NOT_FOUND), "a blob that was not put"));
}

static void unknown_numbers_stay_unknown_in_sums(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(int64_t){1});
    put p = a_call(f, 1, 0, "one"), q = a_call(f, 1, 1, "two");
    q.row.cost_usd = (double)NAN;
    q.row.tokens_out = -1;
    fixture_do(f, put_fn, &p);
    fixture_do(f, put_fn, &q);
    reading r = {0};
    fixture_do(f, read_fn, &r);
    assert_int_equal(r.calls.count, 2);
    assert_int_equal(r.calls.rows[0].number, 0);
    assert_int_equal(r.calls.rows[1].tokens_out, -1);
    assert_true(isnan(r.calls.rows[1].cost_usd));
    assert_int_equal(r.calls.rows[1].tokens_cache_read, -1);
    assert_int_equal(r.calls.rows[1].recorded_ms, 3001);
    assert_int_equal(r.usage.count, 2);
    assert_string_equal(r.usage.rows[0].task, "task1");
    assert_int_equal(r.usage.rows[1].calls, 0);
    assert_int_equal(r.usage.rows[1].cost_unknown, 0);
    assert_int_equal(r.usage.rows[0].calls, 2);
    assert_int_equal(r.usage.rows[0].cost_unknown, 1);
    assert_int_equal(r.usage.rows[0].tokens_unknown, 1);
    assert_int_equal(r.usage.rows[0].tokens_in, 200);
    assert_int_equal(r.usage.rows[0].tokens_out, 50);
    assert_true(r.usage.rows[0].cost_usd == 0.25);
    call_list_fini(&r.calls);
    assert_int_equal(r.sum.calls, 2);
    assert_int_equal(r.sum.cost_unknown, 1);
    assert_true(r.sum.cost_usd == 0.25);
    usage_list_fini(&r.usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_answer_again_is_accepted_once),
        cmocka_unit_test(another_answer_under_the_same_key_is_refused),
        cmocka_unit_test(a_new_answer_under_an_older_token_is_refused),
        cmocka_unit_test(a_call_without_its_blob_is_refused),
        cmocka_unit_test(unknown_numbers_stay_unknown_in_sums),
    };
    return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
