/* test_task - leases and their fencing tokens
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

typedef struct grant {
    const char *task, *node;
    int64_t token;
} grant;

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    grant *g = arg;
    return task_grant(tx, g->task, g->node, g->token, 2000 + g->token, e);
}

static int return_fn(store_tx *tx, void *arg, err *e)
{
    return task_return(tx, arg, e);
}

static int reclaim_fn(store_tx *tx, void *arg, err *e)
{
    grant *g = arg;
    return task_reclaim(tx, g->task, g->node, g->token, 7000, e);
}

static int fail_fn(store_tx *tx, void *arg, err *e)
{
    return task_fail(tx, arg, "gave up after 3 leases", 5000, e);
}

static int recover_fn(store_tx *tx, void *arg, err *e)
{
    return task_recover(tx, "run1", *(bool *)arg, 6000, e);
}

typedef struct got_task {
    const char *id;
    task_row row;
} got_task;

static int get_fn(store_tx *tx, void *arg, err *e)
{
    got_task *g = arg;
    return task_get(tx, g->id, &g->row, e);
}

static int find_fn(store_tx *tx, void *arg, err *e)
{
    got_task *g = arg;
    return task_find(tx, g->id, &g->row, e);
}

static void expect(fixture *f, const char *id, task_state want, int64_t token, int64_t leases)
{
    got_task g = {.id = id};
    fixture_do(f, get_fn, &g);
    assert_string_equal(task_state_name(g.row.state), task_state_name(want));
    assert_int_equal(g.row.token, token);
    assert_int_equal(g.row.leases, leases);
    task_row_fini(&g.row);
}

static void a_waiting_task_is_leased_under_a_growing_token(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    expect(f, "task1", TASK_WAITING, 0, 0);
    fixture_do(f, grant_fn, &(grant){"task1", "node-a", 1});
    expect(f, "task1", TASK_LEASED, 1, 1);
    assert_non_null(strstr(fixture_fails(f, grant_fn, &(grant){"task1", "node-b", 2}, ERR_CONFLICT),
                           "task task1 is leased"));
    fixture_do(f, return_fn, &(task_return_args){"task1", 1, TASK_RETURNED, "no GPU", 3000});
    expect(f, "task1", TASK_WAITING, 1, 1);
    assert_non_null(strstr(fixture_fails(f, grant_fn, &(grant){"task1", "node-b", 1}, ERR_CONFLICT),
                           "token 1 is not above the newest, 1"));
    fixture_do(f, grant_fn, &(grant){"task1", "node-b", 2});
    expect(f, "task1", TASK_LEASED, 2, 2);
    assert_int_equal(fixture_count(f, "lease WHERE task = 'task1'"), 2);
    assert_int_equal(fixture_count(f, "lease WHERE ending = 'returned' AND ended_ms = 3000"), 1);
    assert_int_equal(fixture_count(f, "task WHERE error = 'no GPU' AND node = 'node-b'"), 1);
}

static void an_older_token_is_refused_and_remembered(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(grant){"task1", "node-a", 1});
    fixture_do(f, return_fn, &(task_return_args){"task1", 1, TASK_LOST, NULL, 3000});
    fixture_do(f, grant_fn, &(grant){"task1", "node-b", 2});
    const char *text = fixture_fails(
        f, return_fn, &(task_return_args){"task1", 1, TASK_RETURNED, "too late", 4000},
        ERR_CONFLICT);
    assert_string_equal(text, "task task1: returned refused: token 1, the newest is 2");
    expect(f, "task1", TASK_LEASED, 2, 2);
    assert_int_equal(fixture_count(f,
                                   "event WHERE kind = 'late' AND task = 'task1' AND run = 'run1' "
                                   "AND at_ms = 4000"),
                     1);
    assert_int_equal(fixture_count(f, "task WHERE error = 'too late'"), 0);
}

static void a_lost_lease_goes_on_when_its_holder_has_it_still(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    grant mine = {"task1", "nodeA", 5}, others = {"task1", "nodeB", 5},
          older = {"task1", "nodeA", 4};
    task_return_args lost = {.task = "task1", .token = 5, .ending = TASK_LOST, .now_ms = 3000};
    fixture_do(f, grant_fn, &mine);
    fixture_fails(f, reclaim_fn, &mine, ERR_CONFLICT); /* it is leased */
    fixture_do(f, return_fn, &lost);
    fixture_fails(f, reclaim_fn, &others, ERR_CONFLICT);
    fixture_fails(f, reclaim_fn, &older, ERR_CONFLICT);
    fixture_do(f, reclaim_fn, &mine);
    expect(f, "task1", TASK_LEASED, 5, 1);
    lost.ending = TASK_RETURNED;
    fixture_do(f, return_fn, &lost);
    fixture_fails(f, reclaim_fn, &mine, ERR_CONFLICT); /* given back is given back */
}

static void unknown_tasks_are_not_found(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_fails(f, grant_fn, &(grant){"nope", "n", 1}, ERR_NOT_FOUND);
    fixture_fails(f, return_fn, &(task_return_args){"nope", 1, TASK_LOST, NULL, 1}, ERR_NOT_FOUND);
    fixture_fails(f, fail_fn, (char[]){"nope"}, ERR_NOT_FOUND);
    fixture_fails(f, get_fn, &(got_task){.id = "nope"}, ERR_NOT_FOUND);
    assert_int_equal(fixture_count(f, "event WHERE kind = 'late'"), 0);
}

static void recovery_ends_open_leases_and_revives_on_request(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_do(f, grant_fn, &(grant){"task1", "node-a", 1});
    fixture_do(f, fail_fn, (char[]){"task2"});
    fixture_do(f, recover_fn, &(bool){false});
    expect(f, "task1", TASK_WAITING, 1, 1);
    expect(f, "task2", TASK_FAILED, 0, 0);
    assert_int_equal(fixture_count(f, "lease WHERE ending = 'lost' AND ended_ms = 6000"), 1);
    fixture_fails(f, grant_fn, &(grant){"task2", "node-a", 1}, ERR_CONFLICT);
    fixture_do(f, recover_fn, &(bool){true});
    expect(f, "task2", TASK_WAITING, 0, 0);
    fixture_do(f, recover_fn, &(bool){true}); /* nothing left to do */
    assert_int_equal(fixture_count(f, "event WHERE kind = 'revived'"), 1);
}

static void a_task_is_found_by_prefix_and_latest(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_fails(f, find_fn, &(got_task){.id = "latest"}, ERR_NOT_FOUND);
    fixture_seed(f);
    static const char *const rows[][2] = {
        {"task1", "task1"}, {"task2", "task2"}, {"latest", "task2"}, {NULL, "task2"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        got_task g = {.id = rows[i][0]};
        fixture_do(f, find_fn, &g);
        assert_string_equal(g.row.id, rows[i][1]);
        task_row_fini(&g.row);
    }
    assert_string_equal(fixture_fails(f, find_fn, &(got_task){.id = "task"}, ERR_CONFLICT),
                        "'task' fits more than one task: task1, task2");
    assert_string_equal(fixture_fails(f, find_fn, &(got_task){.id = "x%"}, ERR_NOT_FOUND),
                        "there is no task x%");
}

static int insert_fn(store_tx *tx, void *arg, err *e)
{
    return task_insert(tx, arg, e);
}

static void impossible_tasks_are_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    hash spec = hash_of_text("prompt");
    task_row rows[] = {
        {.id = "a", .run = "run1", .kind = "synthesize", .problem = "add", .spec = spec},
        {.id = "b",
         .run = "run1",
         .kind = "contract",
         .problem = "add",
         .entrant = 1,
         .spec = spec},
        {.id = "c", .run = "run1", .kind = "contract", .problem = "unknown", .spec = spec},
        {.id = "d", .run = "run1", .kind = "dance", .problem = "add", .spec = spec},
        {.id = "e",
         .run = "run1",
         .kind = "synthesize",
         .problem = "add",
         .entrant = 1,
         .spec = spec},
        {.id = "f",
         .run = "run1",
         .kind = "contract",
         .problem = "add",
         .spec = hash_of_text("never stored")},
    };
    static const err_code want[] = {ERR_PROTOCOL, ERR_PROTOCOL, ERR_NOT_FOUND,
                                    ERR_PROTOCOL, ERR_CONFLICT, ERR_NOT_FOUND};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        fixture_fails(f, insert_fn, &rows[i], want[i]);
    task_row contract = {
        .id = "g", .run = "run1", .kind = "contract", .problem = "add", .spec = spec};
    fixture_do(f, insert_fn, &contract);
    contract.id = "h"; /* the same contract task under another id */
    fixture_fails(f, insert_fn, &contract, ERR_CONFLICT);
}

static int same_row(store_tx *tx, const task_brief *row, void *arg, err *e)
{
    task_row **next = arg;
    const task_row *want = (*next)++;
    (void)tx;
    (void)e;
    assert_string_equal(row->id, want->id);
    assert_string_equal(row->kind, want->kind);
    assert_string_equal(row->problem, want->problem);
    assert_int_equal(row->entrant, want->entrant);
    assert_int_equal(row->state, want->state);
    assert_int_equal(row->token, want->token);
    assert_int_equal(row->leases, want->leases);
    assert_true(hash_equal(&row->spec, &want->spec));
    return 0;
}

static int compare_fn(store_tx *tx, void *arg, err *e)
{
    SCOPED(task_list_fini) task_list list = {.rows = NULL};
    size_t *count = arg;
    if (task_list_read(tx, "run1", NULL, &list, e) < 0)
        return -1;
    task_row *next = list.rows;
    *count = list.count;
    if (task_each(tx, "run1", same_row, &next, e) < 0)
        return -1;
    return next == list.rows + list.count ? 0 : err_set(e, ERR_INTERNAL, "some were left out");
}

static void one_by_one_is_the_order_of_the_list(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    hash spec = fixture_text(f, "spec");
    const task_row rows[] = {
        {.id = "a", .run = "run1", .kind = "contract", .problem = "sum", .spec = spec},
        {.id = "z", .run = "run1", .kind = "contract", .problem = "add", .spec = spec},
        {.id = "y",
         .run = "run1",
         .kind = "synthesize",
         .problem = "add",
         .entrant = 1,
         .sample = 9,
         .spec = spec},
        {.id = "b",
         .run = "run1",
         .kind = "synthesize",
         .problem = "add",
         .entrant = 1,
         .sample = 5,
         .spec = spec},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        task_row row = rows[i];
        fixture_do(f, insert_fn, &row);
    }
    size_t count = 0;
    fixture_do(f, compare_fn, &count);
    assert_int_equal(count, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_task_is_leased_under_a_growing_token),
        cmocka_unit_test(an_older_token_is_refused_and_remembered),
        cmocka_unit_test(a_lost_lease_goes_on_when_its_holder_has_it_still),
        cmocka_unit_test(unknown_tasks_are_not_found),
        cmocka_unit_test(recovery_ends_open_leases_and_revives_on_request),
        cmocka_unit_test(a_task_is_found_by_prefix_and_latest),
        cmocka_unit_test(impossible_tasks_are_refused),
        cmocka_unit_test(one_by_one_is_the_order_of_the_list),
    };
    return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
