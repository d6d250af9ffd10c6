/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <pthread.h>
#include <string.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "providers/limit.h"

static const hint nothing_told = {-1, -1, -1, -1, -1};

static fault of(fault_class class)
{
    fault f;
    fault_set(&f, class, "the reason");
    return f;
}

static void learn(limit_state *s, fault_class class, int64_t begun, int64_t now)
{
    const fault f = of(class);
    limit_state_learn(s, &f, &nothing_told, begun, now);
}

static void success_adds_one_a_round_and_complaints_halve(void **state)
{
    (void)state;
    limit_state s;
    limit_state_init(&s);
    for (int i = 0; i < LIMIT_FIRST + 1; i++) {
        learn(&s, FAULT_NONE, 0, 1);
    }
    assert_true(s.allowed > LIMIT_FIRST + 0.9 && s.allowed < LIMIT_FIRST + 1.2);
    double before = s.allowed;
    learn(&s, FAULT_RATE_LIMIT, 50, 100);
    assert_true(s.allowed == before / 2.0);
    learn(&s, FAULT_RATE_LIMIT, 60, 110); /* began before the cut: the same burst */
    assert_true(s.allowed == before / 2.0);
    learn(&s, FAULT_OVERLOADED, 120, 130);
    assert_true(s.allowed == before / 4.0);
    learn(&s, FAULT_SERVER, 140, 150);
    assert_true(s.allowed == before / 4.0);
    for (int64_t t = 200; t < 300; t++) {
        learn(&s, FAULT_RATE_LIMIT, t, t);
    }
    assert_true(s.allowed == 1.0);
    for (int i = 0; i < 100000; i++) {
        learn(&s, FAULT_NONE, 400, 400);
    }
    assert_true(s.allowed == LIMIT_MOST);
}

static void room_is_given_up_to_what_is_allowed(void **state)
{
    (void)state;
    limit_state s;
    limit_state_init(&s);
    for (int i = 0; i < LIMIT_FIRST; i++) {
        assert_int_equal(limit_state_wait(&s, 0), 0);
        s.running++;
    }
    assert_true(limit_state_wait(&s, 0) > 0);
}

static void a_wait_that_was_asked_for_holds_for_all(void **state)
{
    (void)state;
    limit_state s;
    fault f = of(FAULT_RATE_LIMIT);
    f.wait_ms = 700;
    limit_state_init(&s);
    limit_state_learn(&s, &f, &nothing_told, 900, 1000);
    assert_int_equal(limit_state_wait(&s, 1000), 700);
    assert_int_equal(limit_state_wait(&s, 1699), 1);
    assert_int_equal(limit_state_wait(&s, 1700), 0);
    f.wait_ms = 10; /* a shorter one does not shorten it */
    limit_state_learn(&s, &f, &nothing_told, 900, 1000);
    assert_int_equal(limit_state_wait(&s, 1000), 700);
}

static void nothing_left_waits_for_the_reset(void **state)
{
    (void)state;
    static const struct {
        hint told;
        int64_t wait;
    } cases[] = {{{-1, 0, 3000, -1, -1}, 3000},
                 {{-1, 1, 3000, -1, -1}, 0},
                 {{-1, -1, -1, 0, 2000}, 2000},
                 {{-1, 0, -1, 0, -1}, 0},
                 {{-1, 0, 3000, 0, 5000}, 5000}};
    const fault fine = of(FAULT_NONE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        limit_state s;
        limit_state_init(&s);
        limit_state_learn(&s, &fine, &cases[i].told, 0, 100);
        assert_int_equal(limit_state_wait(&s, 100), cases[i].wait);
    }
}

static void one_key_has_one_limit(void **state)
{
    (void)state;
    SCOPED(limit_table_destroy) limit_table *table = limit_table_create();
    limit *a = limit_of(table, "a");
    assert_ptr_equal(limit_of(table, "a"), a);
    assert_ptr_not_equal(limit_of(table, "b"), a);
}

static void a_used_up_quota_closes_the_door(void **state)
{
    (void)state;
    SCOPED(limit_table_destroy) limit_table *table = limit_table_create();
    limit *l = limit_of(table, "a");
    const fault f = of(FAULT_QUOTA);
    err e = {0};
    assert_int_equal(limit_enter(l, NULL, clock_mono_ms() + 1000, &e), 0);
    limit_leave(l, &f, &nothing_told, clock_mono_ms());
    assert_int_equal(limit_enter(l, NULL, clock_mono_ms() + 1000, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_false(e.retry);
    assert_non_null(strstr(e.text, "the reason"));
}

static void a_long_wait_is_told_at_once(void **state)
{
    (void)state;
    SCOPED(limit_table_destroy) limit_table *table = limit_table_create();
    limit *l = limit_of(table, "a");
    const fault f = of(FAULT_NONE);
    const hint daily = {-1, 0, 3600 * 1000, -1, -1};
    err e = {0};
    assert_int_equal(limit_enter(l, NULL, clock_mono_ms() + 1000, &e), 0);
    limit_leave(l, &f, &daily, clock_mono_ms());
    int64_t before = clock_mono_ms();
    assert_int_equal(limit_enter(l, NULL, before + 7200 * 1000, &e), -1);
    assert_true(clock_mono_ms() - before < 1000);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_true(e.retry && e.retry_after_ms > 3500 * 1000);
}

typedef struct waiter {
    limit *limit;
    atomic_bool cancelled, entered;
    err e;
    int rc;
} waiter;

static void *wait_for_room(void *arg)
{
    waiter *self = arg;
    self->rc = limit_enter(self->limit, &self->cancelled, clock_mono_ms() + 30000, &self->e);
    atomic_store(&self->entered, true);
    return NULL;
}

static void fill(limit *l)
{
    for (int i = 0; i < LIMIT_FIRST; i++) {
        assert_int_equal(limit_enter(l, NULL, clock_mono_ms() + 1000, NULL), 0);
    }
}

static void whoever_waits_enters_when_another_leaves(void **state)
{
    (void)state;
    SCOPED(limit_table_destroy) limit_table *table = limit_table_create();
    waiter w = {.limit = limit_of(table, "a")};
    const fault fine = of(FAULT_SERVER);
    pthread_t thread;
    fill(w.limit);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_room, &w), 0);
    assert_false(atomic_load(&w.entered));
    limit_leave(w.limit, &fine, &nothing_told, clock_mono_ms());
    pthread_join(thread, NULL);
    assert_int_equal(w.rc, 0);
}

static void a_wait_can_be_cancelled_and_ends_with_its_deadline(void **state)
{
    (void)state;
    SCOPED(limit_table_destroy) limit_table *table = limit_table_create();
    waiter w = {.limit = limit_of(table, "a")};
    pthread_t thread;
    err e = {0};
    fill(w.limit);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_room, &w), 0);
    atomic_store(&w.cancelled, true);
    pthread_join(thread, NULL);
    assert_int_equal(w.rc, -1);
    assert_int_equal(w.e.code, ERR_CONFLICT);
    assert_int_equal(limit_enter(w.limit, NULL, clock_mono_ms() - 1, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_adds_one_a_round_and_complaints_halve),
        cmocka_unit_test(room_is_given_up_to_what_is_allowed),
        cmocka_unit_test(a_wait_that_was_asked_for_holds_for_all),
        cmocka_unit_test(nothing_left_waits_for_the_reset),
        cmocka_unit_test(one_key_has_one_limit),
        cmocka_unit_test(a_used_up_quota_closes_the_door),
        cmocka_unit_test(a_long_wait_is_told_at_once),
        cmocka_unit_test(whoever_waits_enters_when_another_leaves),
        cmocka_unit_test(a_wait_can_be_cancelled_and_ends_with_its_deadline)};
    return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
