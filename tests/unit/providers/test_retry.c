/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include "providers/retry.h"

static const retry_rules rules = {
    .attempts = 5, .billed_retries = 1, .elapsed_ms = 100000, .base_ms = 500, .cap_ms = 3000};

static fault of(fault_class class)
{
    fault f;
    fault_set(&f, class, "x");
    return f;
}

static void waits_double_up_to_the_cap_with_full_jitter(void **state)
{
    (void)state;
    static const int64_t bounds[] = {500, 1000, 2000, 3000};
    const fault f = of(FAULT_SERVER);
    for (int quarter = 0; quarter < 4; quarter++) {
        const double random = quarter / 4.0;
        retry r;
        int64_t wait = -1;
        retry_init(&r, &rules, 1000);
        for (size_t i = 0; i < 4; i++) {
            assert_true(retry_next(&r, &f, 1000, random, &wait));
            assert_int_equal(wait, (int64_t)((double)bounds[i] * random));
        }
        assert_false(retry_next(&r, &f, 1000, random, &wait)); /* five calls in all */
    }
}

static void the_providers_own_wait_counts_up_to_the_cap(void **state)
{
    (void)state;
    static const struct {
        int64_t asked;
        bool again;
        int64_t wait;
    } cases[] = {
        {-1, true, 250}, {0, true, 250}, {2999, true, 2999}, {3000, true, 3000}, {3001, false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        retry r;
        int64_t wait = 0;
        fault f = of(FAULT_RATE_LIMIT);
        f.wait_ms = cases[i].asked;
        retry_init(&r, &rules, 0);
        assert_true(retry_next(&r, &f, 0, 0.5, &wait) == cases[i].again);
        assert_int_equal(wait, cases[i].wait);
    }
}

static void what_may_be_billed_is_asked_again_once(void **state)
{
    (void)state;
    retry r;
    int64_t wait;
    fault f = of(FAULT_TIMEOUT);
    f.billed = true;
    const fault free_of_charge = of(FAULT_OVERLOADED);
    retry_init(&r, &rules, 0);
    assert_true(retry_next(&r, &f, 0, 0.5, &wait));
    assert_true(retry_next(&r, &free_of_charge, 0, 0.5, &wait));
    assert_false(retry_next(&r, &f, 0, 0.5, &wait));
}

static void nothing_starts_after_the_time_is_up(void **state)
{
    (void)state;
    retry r;
    int64_t wait;
    const fault f = of(FAULT_SERVER);
    retry_init(&r, &rules, 5000);
    assert_true(retry_next(&r, &f, 104900, 0.1, &wait));
    assert_false(retry_next(&r, &f, 104950, 0.1, &wait));
}

static void some_faults_are_never_retried(void **state)
{
    (void)state;
    static const fault_class never[] = {FAULT_AUTH, FAULT_QUOTA, FAULT_REQUEST};
    int64_t wait;
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        retry r;
        const fault f = of(never[i]);
        retry_init(&r, &rules, 0);
        assert_false(retry_next(&r, &f, 0, 0.0, &wait));
    }
    retry r;
    fault cancelled = of(FAULT_SERVER);
    cancelled.cancelled = true;
    retry_init(&r, &rules, 0);
    assert_false(retry_next(&r, &cancelled, 0, 0.0, &wait));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_up_to_the_cap_with_full_jitter),
        cmocka_unit_test(the_providers_own_wait_counts_up_to_the_cap),
        cmocka_unit_test(what_may_be_billed_is_asked_again_once),
        cmocka_unit_test(nothing_starts_after_the_time_is_up),
        cmocka_unit_test(some_faults_are_never_retried)};
    return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
