/* test_late - what comes too late is kept with who said it, and changes nothing
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "store/late.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

static int put(store_tx *tx, void *arg, err *e)
{
    return late_put(tx, arg, e);
}

static int grant(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    return task_grant(tx, "task1", "second", 7, 2000, e);
}

static int read_all(store_tx *tx, void *arg, err *e)
{
    return late_list_read(tx, "task1", arg, e);
}

static const late_row result = {.at_ms = 3000,
                                .task = "task1",
                                .kind = LATE_RESULT,
                                .node = "first",
                                .token = 5,
                                .outcome = "ok",
                                .reason = "token 5, the newest is 7",
                                .record = "{}"};

static void a_late_result_is_kept_with_what_the_task_was_then(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(late_list_fini) late_list list = {0};
    late_row row = result;
    fixture_seed(f);
    fixture_do(f, grant, NULL);
    fixture_do(f, put, &row);
    fixture_do(f, read_all, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.rows[0].kind, LATE_RESULT);
    assert_int_equal(list.rows[0].token, 5);
    assert_int_equal(list.rows[0].newest, 7);
    assert_string_equal(list.rows[0].state, "leased");
    assert_string_equal(list.rows[0].node, "first");
    assert_string_equal(list.rows[0].outcome, "ok");
    assert_int_equal(fixture_count(f, "task WHERE id = 'task1' AND state = 'leased' AND outcome "
                                      "IS NULL"),
                     1);
    assert_int_equal(fixture_count(f, "ranked"), 0);
}

static void it_goes_with_its_task_and_needs_one(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    late_row row = result;
    fixture_seed(f);
    fixture_do(f, put, &row);
    row.task = "task9";
    assert_string_equal(fixture_fails(f, put, &row, ERR_NOT_FOUND), "there is no task task9");
    fixture_exec(f, "DELETE FROM task WHERE id = 'task1'");
    assert_int_equal(fixture_count(f, "late"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_result_is_kept_with_what_the_task_was_then),
        cmocka_unit_test(it_goes_with_its_task_and_needs_one),
    };
    return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
