/* test_fence - refusals are remembered although their job is undone
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
#include "store/fence.h"
#include "tests/unit/store/fixture.h"

static int write_and_refuse(store_tx *tx, void *arg, err *e)
{
    event_row row = {.at_ms = 1, .kind = "note"};
    int64_t times = *(int64_t *)arg;
    if (event_add(tx, &row, e) < 0)
        return -1;
    for (int64_t i = 0; i < times; i++)
        fence_refuse(tx, "task1", 100 + i, e, "refusal %lld", (long long)i);
    return -1;
}

static void the_refusal_stays_and_the_write_goes(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    assert_string_equal(fixture_fails(f, write_and_refuse, &(int64_t){1}, ERR_CONFLICT),
                        "task task1: refusal 0");
    assert_int_equal(fixture_count(f, "event WHERE kind = 'note'"), 0);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late' AND detail = 'refusal 0' AND "
                                      "run = 'run1' AND task = 'task1' AND at_ms = 100"),
                     1);
}

static void one_job_remembers_only_so_many(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_fails(f, write_and_refuse, &(int64_t){DB_LATE_MAX + 3}, ERR_CONFLICT);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), DB_LATE_MAX);
    fixture_fails(f, write_and_refuse, &(int64_t){1},
                  ERR_CONFLICT); /* and forgets them afterwards */
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), DB_LATE_MAX + 1);
}

static int check_fn(store_tx *tx, void *arg, err *e)
{
    fence f;
    return fence_check(tx, "task1", *(int64_t *)arg, "thing", 5, &f, e);
}

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    return task_grant(tx, "task1", "node", *(int64_t *)arg, 2000, e);
}

static void only_the_newest_token_of_a_leased_task_passes(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    assert_string_equal(fixture_fails(f, check_fn, &(int64_t){0}, ERR_CONFLICT),
                        "task task1: thing refused: the task is waiting");
    fixture_do(f, grant_fn, &(int64_t){5});
    fixture_do(f, check_fn, &(int64_t){5});
    fixture_fails(f, check_fn, &(int64_t){4}, ERR_CONFLICT);
    fixture_fails(f, check_fn, &(int64_t){6}, ERR_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_refusal_stays_and_the_write_goes),
        cmocka_unit_test(one_job_remembers_only_so_many),
        cmocka_unit_test(only_the_newest_token_of_a_leased_task_passes),
    };
    return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
