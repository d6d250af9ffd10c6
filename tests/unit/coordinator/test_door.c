/* test_door - closed doors, waits and ceilings, with time as a number
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/door.h"

enum { START = 1000000, MINUTE = 60000 };

static const door_guest gpt = {"openai", "gpt-4o"}, mini = {"openai", "gpt-4o-mini"},
                        far_gpt = {"openai", "gpt-4o@http://h/v1"}, claude = {"anthropic", "opus"};

static void ceilings_are_read_strictly(void **state)
{
    (void)state;
    const struct {
        const char *text, *name;
        int64_t requests, tokens;
    } good[] = {{"openai=5", "openai", 5, 0},
                {"openai:gpt-4o=500,30000", "openai:gpt-4o", 500, 30000}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        door_ceiling got;
        assert_int_equal(door_read_ceiling(good[i].text, &got, NULL), 0);
        assert_string_equal(got.name, good[i].name);
        assert_int_equal(got.requests, good[i].requests);
        assert_int_equal(got.tokens, good[i].tokens);
        free(got.name);
    }
    static const char *const bad[] = {
        "",     "openai", "=5",      "openai=", "openai=0", "o=x",
        "o=5,", "o=5,0",  "o=5,6,7", "o=5rpm",  "o=-1",     "o=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        door_ceiling got;
        err e = {0};
        assert_int_equal(door_read_ceiling(bad[i], &got, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
    }
}

static void a_closed_door_is_closed_for_every_model_at_that_address(void **state)
{
    (void)state;
    SCOPED(door_destroy) door *d = door_create(NULL, 0, true);
    assert_int_equal(door_wait(d, &gpt, START), 0);
    door_close(d, &gpt, "quota: used up");
    assert_true(door_wait(d, &gpt, START) == DOOR_CLOSED);
    assert_true(door_wait(d, &mini, START + MINUTE) == DOOR_CLOSED);
    assert_string_equal(door_reason(d, &mini), "quota: used up");
    assert_int_equal(door_wait(d, &far_gpt, START), 0);
    assert_int_equal(door_wait(d, &claude, START), 0);
}

static void a_complaint_holds_all_and_only_that_model(void **state)
{
    (void)state;
    SCOPED(door_destroy) door *d = door_create(NULL, 0, true);
    door_complain(d, &gpt, 30000, "rate_limit: slower", START);
    door_complain(d, &gpt, 0, "rate_limit: slower", START + 1); /* of the same burst */
    assert_int_equal(door_wait(d, &gpt, START), 30000);
    assert_int_equal(door_wait(d, &gpt, START + 30000), 0);
    assert_int_equal(door_wait(d, &mini, START), 0);
    door_complain(d, &gpt, 0, "again", START + 30000);
    assert_int_equal(door_wait(d, &gpt, START + 30000), 2 * DOOR_HOLD_MIN_MS);
    door_answered(d, &gpt);
    door_complain(d, &gpt, 0, "again", START + 60000);
    assert_int_equal(door_wait(d, &gpt, START + 60000), DOOR_HOLD_MIN_MS);
}

static void no_wait_is_longer_than_its_cap(void **state)
{
    (void)state;
    SCOPED(door_destroy) door *d = door_create(NULL, 0, true);
    door_complain(d, &gpt, DOOR_HOLD_MAX_MS + 1, "come back tomorrow", START);
    assert_true(door_wait(d, &gpt, START) == DOOR_CLOSED);
    int64_t now = START;
    int complaints = 0;
    while (door_wait(d, &claude, now) != DOOR_CLOSED) {
        door_complain(d, &claude, 0, "no", now);
        int64_t wait = door_wait(d, &claude, now);
        assert_true(wait == DOOR_CLOSED || wait <= DOOR_HOLD_MAX_MS);
        now += wait == DOOR_CLOSED ? 0 : wait;
        complaints++;
    }
    assert_int_equal(complaints, DOOR_COMPLAINTS_MAX + 1);
}

static void who_does_not_want_to_wait_closes_the_door(void **state)
{
    (void)state;
    SCOPED(door_destroy) door *d = door_create(NULL, 0, false);
    assert_false(door_is_patient(d));
    door_complain(d, &gpt, 10, "rate_limit: slower", START);
    assert_true(door_wait(d, &gpt, START) == DOOR_CLOSED);
}

static void a_ceiling_of_calls_holds_over_any_minute(void **state)
{
    (void)state;
    enum { RATE = 30, CALLS = 200 };
    char name[] = "openai";
    const door_ceiling one = {name, RATE, 0};
    SCOPED(door_destroy) door *d = door_create(&one, 1, true);
    int64_t went[CALLS], now = START;
    for (int i = 0; i < CALLS; i++) {
        int64_t wait;
        while ((wait = door_wait(d, i % 2 ? &gpt : &far_gpt, now)) > 0)
            now += wait;
        door_enter(d, i % 2 ? &gpt : &far_gpt, 100, now);
        went[i] = now;
        assert_int_equal(door_wait(d, &claude, now), 0);
    }
    for (int i = RATE + 1; i < CALLS; i++)
        assert_true(went[i] - went[i - RATE - 1] >= MINUTE);
    assert_true(went[CALLS - 1] - START < (int64_t)CALLS * MINUTE / RATE * 2);
}

static void tokens_that_were_used_are_waited_for(void **state)
{
    (void)state;
    char name[] = "openai:gpt-4o";
    const door_ceiling one = {name, 100000, 6000}; /* 100 tokens a second */
    SCOPED(door_destroy) door *d = door_create(&one, 1, true);
    door_enter(d, &far_gpt, 500, START);
    door_leave(d, &far_gpt, 0, 500);
    int64_t wait = door_wait(d, &gpt, START);
    assert_in_range(wait, 9900, 10100);
    assert_int_equal(door_wait(d, &mini, START), 0);
    assert_int_equal(door_wait(d, &gpt, START + 11000), 0);
}

static void who_waits_gets_a_moment_of_his_own(void **state)
{
    (void)state;
    char name[] = "openai";
    const door_ceiling one = {name, 60, 0};
    SCOPED(door_destroy) door *d = door_create(&one, 1, true);
    door_enter(d, &gpt, 1, START);
    int64_t before = 0;
    for (int i = 0; i < 5; i++) {
        int64_t wait = door_wait(d, &gpt, START);
        assert_true(wait >= before + 1000);
        before = wait;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ceilings_are_read_strictly),
        cmocka_unit_test(a_closed_door_is_closed_for_every_model_at_that_address),
        cmocka_unit_test(a_complaint_holds_all_and_only_that_model),
        cmocka_unit_test(no_wait_is_longer_than_its_cap),
        cmocka_unit_test(who_does_not_want_to_wait_closes_the_door),
        cmocka_unit_test(a_ceiling_of_calls_holds_over_any_minute),
        cmocka_unit_test(tokens_that_were_used_are_waited_for),
        cmocka_unit_test(who_waits_gets_a_moment_of_his_own),
    };
    return cmocka_run_group_tests_name("coordinator/door", tests, NULL, NULL);
}
