/* test_budget - what is charged and promised never passes the limit
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "common/scoped.h"
#include "coordinator/budget.h"

enum { TASKS = 64, STEPS = 20000 };

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void a_call_that_does_not_fit_waits_or_is_refused(void **state)
{
    (void)state;
    SCOPED(budget_destroy) budget *b = budget_create(3, 1.0, 0.1);
    assert_int_equal(budget_reserve(b, 0, 7, 0.2), BUDGET_RESERVED); /* 0.4 */
    assert_true(budget_holds(b, 0));
    assert_true(budget_covers(b, 0, 0.2) && !budget_covers(b, 0, 0.2000001));
    assert_int_equal(budget_reserve(b, 1, 8, 0.3), BUDGET_WAIT);     /* 0.6: 0 may cost less */
    assert_int_equal(budget_reserve(b, 1, 8, 0.46), BUDGET_REACHED); /* 0.92 and 0.1: never */
    assert_false(budget_settle(b, 0, 6, 0.05, 0));                   /* another lease */
    assert_true(budget_settle(b, 0, 7, 0.05, 0));
    assert_false(budget_settle(b, 0, 7, 0.05, 0));
    assert_int_equal(budget_reserve(b, 1, 8, 0.3), BUDGET_RESERVED);
    assert_true(near(budget_charged(b), 0.15) && near(budget_reserved(b), 0.6));
}

static void what_nobody_knows_counts_at_its_worst(void **state)
{
    (void)state;
    const struct {
        double usd;
        int64_t bills;
        double charged;
    } rows[] = {
        {0.1, 0, 0.1}, {0.1, 1, 0.6}, {(double)NAN, 0, 0.5}, {(double)NAN, 1, 1.0}, {0, 2, 1.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(budget_destroy) budget *b = budget_create(1, 10.0, 0);
        assert_int_equal(budget_reserve(b, 0, 1, 0.5), BUDGET_RESERVED);
        assert_true(budget_settle(b, 0, 1, rows[i].usd, rows[i].bills));
        assert_true(near(budget_charged(b), rows[i].charged));
    }
    SCOPED(budget_destroy) budget *b = budget_create(1, 10.0, 0);
    budget_reserve(b, 0, 1, 0.5);
    assert_true(budget_abandon(b, 0, 1) && near(budget_charged(b), 1.0));
    budget_reserve(b, 0, 2, 0.5);
    assert_true(budget_release(b, 0, 2) && near(budget_charged(b), 1.0));
}

static void without_a_price_there_is_no_budget_but_calls_without_limit(void **state)
{
    (void)state;
    SCOPED(budget_destroy) budget *limited = budget_create(1, 10.0, 0);
    assert_int_equal(budget_reserve(limited, 0, 1, (double)NAN), BUDGET_REACHED);
    SCOPED(budget_destroy) budget *open = budget_create(1, 0, 5.0);
    assert_int_equal(budget_reserve(open, 0, 1, (double)NAN), BUDGET_RESERVED);
    assert_true(budget_settle(open, 0, 1, (double)NAN, 2));
    assert_true(near(budget_charged(open), 5.0));
}

/* Any order of reserving and settling, with answers up to the worst case. */
static void no_order_of_events_passes_the_limit(void **state)
{
    (void)state;
    srand(20261130);
    SCOPED(budget_destroy) budget *b = budget_create(TASKS, 3.0, 0);
    double worst[TASKS] = {0};
    int64_t token = 0, reserved = 0;
    for (int i = 0; i < STEPS; i++) {
        size_t task = (size_t)(rand() % TASKS);
        if (!budget_holds(b, task)) {
            worst[task] = 0.00005 + (double)(rand() % 1000) * 1e-6;
            reserved += budget_reserve(b, task, ++token, worst[task]) == BUDGET_RESERVED;
        } else if (rand() % 4 != 0) {
            for (int64_t t = token; t > 0 && budget_holds(b, task); t--) {
                if (rand() % 8 == 0)
                    budget_abandon(b, task, t);
                else
                    budget_settle(b, task, t, worst[task] * (rand() % 1001) / 1000.0, rand() % 2);
            }
        }
        assert_true(budget_charged(b) + budget_reserved(b) <= 3.0);
    }
    assert_true(reserved > 1000);
    assert_true(budget_charged(b) > 2.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_does_not_fit_waits_or_is_refused),
        cmocka_unit_test(what_nobody_knows_counts_at_its_worst),
        cmocka_unit_test(without_a_price_there_is_no_budget_but_calls_without_limit),
        cmocka_unit_test(no_order_of_events_passes_the_limit),
    };
    return cmocka_run_group_tests_name("coordinator/budget", tests, NULL, NULL);
}
