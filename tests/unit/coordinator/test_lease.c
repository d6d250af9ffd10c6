/* test_lease - leases, tokens and time without a clock
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "coordinator/lease.h"

enum { TTL = 1000 };

typedef struct ended_list {
    lease rows[16];
    size_t count;
} ended_list;

static void note_end(void *arg, const lease *ended)
{
    ended_list *list = arg;
    assert_true(list->count < 16);
    list->rows[list->count++] = *ended;
}

static void tokens_only_grow(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(41, TTL);
    lease a, b;
    assert_int_equal(lease_grant(t, 7, 0, 0, &a, NULL), 0);
    assert_int_equal(a.token, 42);
    assert_int_equal(a.expires_ms, TTL);
    assert_int_equal(lease_release(t, 7, a.token, NULL), 0);
    assert_int_equal(lease_grant(t, 7, 1, 5, &b, NULL), 0);
    assert_int_equal(b.token, 43);
}

static void an_older_lease_goes_on_under_its_token(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(41, TTL);
    const lease old = {.task = 7, .node = 3, .token = 40};
    lease now;
    assert_int_equal(lease_resume(t, &old, 5, NULL), 0);
    assert_int_equal(lease_check(t, 7, 40, &now, NULL), 0);
    assert_int_equal(now.expires_ms, 5 + TTL);
    assert_int_equal(lease_resume(t, &old, 5, NULL), -1);
    assert_int_equal(lease_grant(t, 8, 0, 0, &now, NULL), 0);
    assert_int_equal(now.token, 42);
}

static void a_slow_lease_is_told_once(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(0, TTL);
    ended_list told = {.count = 0};
    lease a;
    assert_int_equal(lease_grant(t, 7, 0, 100, &a, NULL), 0);
    assert_int_equal(lease_slow(t, 50, 149, note_end, &told), 0);
    assert_int_equal(lease_slow(t, 50, 150, note_end, &told), 1);
    assert_int_equal(lease_slow(t, 50, 999, note_end, &told), 0);
    assert_int_equal(told.rows[0].task, 7);
    assert_int_equal(lease_count(t), 1);
}

static void a_held_task_is_not_granted_again(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(0, TTL);
    lease a, b;
    err e = {0};
    assert_int_equal(lease_grant(t, 7, 0, 0, &a, &e), 0);
    assert_int_equal(lease_grant(t, 7, 1, 0, &b, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(lease_count(t), 1);
}

static void an_older_token_is_fenced_off(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(0, TTL);
    lease old, now, seen;
    ended_list list = {.count = 0};
    err e = {0};
    assert_int_equal(lease_grant(t, 7, 0, 0, &old, &e), 0);
    assert_int_equal(lease_expire(t, TTL, note_end, &list), 1);
    assert_int_equal(lease_grant(t, 7, 1, TTL, &now, &e), 0);
    assert_int_equal(lease_check(t, 7, old.token, &seen, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(lease_release(t, 7, old.token, &e), -1);
    assert_int_equal(lease_check(t, 7, now.token, &seen, &e), 0);
    assert_int_equal(seen.node, 1);
}

static void a_beat_renews_every_lease_of_its_node_only(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(0, TTL);
    lease row;
    ended_list list = {.count = 0};
    lease_grant(t, 1, 0, 0, &row, NULL);
    lease_grant(t, 2, 0, 0, &row, NULL);
    lease_grant(t, 3, 1, 0, &row, NULL);
    lease_renew(t, 0, 900);
    assert_int_equal(lease_expire(t, 999, note_end, &list), 0);
    assert_int_equal(lease_expire(t, 1000, note_end, &list), 1);
    assert_int_equal(list.rows[0].task, 3);
    assert_int_equal(lease_expire(t, 1899, note_end, &list), 0);
    assert_int_equal(lease_expire(t, 1900, note_end, &list), 2);
    assert_int_equal(lease_count(t), 0);
}

static void a_node_that_goes_loses_all_its_leases_at_once(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(0, TTL);
    lease row;
    ended_list list = {.count = 0};
    for (size_t task = 0; task < 10; task++)
        assert_int_equal(lease_grant(t, task, task % 2, 0, &row, NULL), 0);
    assert_int_equal(lease_count_node(t, 1), 5);
    assert_int_equal(lease_drop_node(t, 1, note_end, &list), 5);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(list.rows[i].node, 1);
    assert_int_equal(lease_count_node(t, 1), 0);
    assert_int_equal(lease_drop_all(t, note_end, &list), 5);
    assert_int_equal(lease_count(t), 0);
}

static void releasing_twice_is_a_conflict(void **state)
{
    (void)state;
    SCOPED(lease_table_destroy) lease_table *t = lease_table_create(0, TTL);
    lease row;
    err e = {0};
    lease_grant(t, 1, 0, 0, &row, NULL);
    assert_int_equal(lease_release(t, 1, row.token, &e), 0);
    assert_int_equal(lease_release(t, 1, row.token, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_only_grow),
        cmocka_unit_test(an_older_lease_goes_on_under_its_token),
        cmocka_unit_test(a_slow_lease_is_told_once),
        cmocka_unit_test(a_held_task_is_not_granted_again),
        cmocka_unit_test(an_older_token_is_fenced_off),
        cmocka_unit_test(a_beat_renews_every_lease_of_its_node_only),
        cmocka_unit_test(a_node_that_goes_loses_all_its_leases_at_once),
        cmocka_unit_test(releasing_twice_is_a_conflict),
    };
    return cmocka_run_group_tests_name("coordinator/lease", tests, NULL, NULL);
}
