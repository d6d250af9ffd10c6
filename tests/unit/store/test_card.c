/* test_card - what is remembered of the self-tests of cards
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/scoped.h"
#include "store/card.h"
#include "tests/unit/store/fixture.h"

typedef struct asked {
    card_test test;
    const card_check *rows;
    size_t count;
    const char *uuid, *duration;
    int64_t since_ms;
    double thetas[4], copy;
    size_t theta_count;
    char failure[64]; /* "": none */
} asked;

static int put_fn(store_tx *tx, void *arg, err *e)
{
    const asked *a = arg;
    return card_put(tx, &a->test, a->rows, a->count, e);
}

static int get_fn(store_tx *tx, void *arg, err *e)
{
    asked *a = arg;
    if (card_thetas(tx, a->uuid, a->duration, a->thetas, 4, &a->theta_count, e) < 0 ||
        card_copy(tx, a->uuid, a->since_ms, &a->copy, e) < 0)
        return -1;
    char *failure = NULL;
    int status = card_failure(tx, a->uuid, &failure, e);
    snprintf(a->failure, sizeof a->failure, "%s", failure != NULL ? failure : "");
    free(failure);
    return status;
}

static card_check check(const char *name, const char *duration, double theta, double value)
{
    const double none = (double)NAN;
    return (card_check){.name = name,
                        .label = "x",
                        .duration = duration,
                        .passed = true,
                        .theta = theta,
                        .ci_low = none,
                        .ci_high = none,
                        .candidate_ms = none,
                        .value = value,
                        .bound = none};
}

static void put(fixture *f, const char *uuid, int64_t at_ms, const char *failure,
                const card_check *rows, size_t count)
{
    asked a = {.test = {.at_ms = at_ms,
                        .node = "n",
                        .device_uuid = uuid,
                        .device = "d",
                        .device_kind = "cuda",
                        .driver = "13.0",
                        .torch = "2",
                        .version = "1",
                        .protocol = "ce-timing-1",
                        .passed = failure == NULL,
                        .failure = failure},
               .rows = rows,
               .count = count};
    fixture_do(f, put_fn, &a);
}

static void get(fixture *f, asked *a, const char *uuid, const char *duration, int64_t since_ms)
{
    *a = (asked){.uuid = uuid, .duration = duration, .since_ms = since_ms};
    fixture_do(f, get_fn, a);
}

static void the_newest_runs_of_a_card_and_class_come_oldest_first(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    const double none = (double)NAN;
    for (int i = 1; i <= 6; i++) {
        const card_check rows[] = {check("aa", "short", i, none), check("aa", "long", -i, none),
                                   check("slower_3", "short", 99, none),
                                   check("aa", "short", none, none)};
        put(f, "GPU-1", 100 + i, NULL, rows, 4);
    }
    const card_check other = check("aa", "short", 50, none);
    put(f, "GPU-2", 200, NULL, &other, 1);
    asked a;
    get(f, &a, "GPU-1", "short", 0);
    assert_int_equal(a.theta_count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(a.thetas[i] == i + 3);
    get(f, &a, "GPU-1", "middle", 0);
    assert_int_equal(a.theta_count, 0);
    get(f, &a, "GPU-3", "short", 0);
    assert_int_equal(a.theta_count, 0);
    assert_string_equal(a.failure, "");
    assert_true(isnan(a.copy));
}

static void the_copy_is_the_median_of_what_passed_since(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    const double none = (double)NAN, times[] = {9, 1, 2, 4};
    for (int i = 0; i < 4; i++) {
        const card_check row = check("copy", NULL, none, times[i]);
        put(f, "GPU-1", 100 + i, NULL, &row, 1);
    }
    card_check wrong = check("copy", NULL, none, 1000);
    wrong.passed = false;
    put(f, "GPU-1", 110, "copy", &wrong, 1);
    asked a;
    get(f, &a, "GPU-1", "short", 101);
    assert_true(a.copy == 2);
    get(f, &a, "GPU-1", "short", 0);
    assert_true(a.copy == 3);
}

static void the_newest_self_test_says_whether_a_card_is_well(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    asked a;
    put(f, "GPU-1", 100, "warm: no", NULL, 0);
    get(f, &a, "GPU-1", "short", 0);
    assert_string_equal(a.failure, "warm: no");
    put(f, "GPU-1", 101, NULL, NULL, 0);
    get(f, &a, "GPU-1", "short", 0);
    assert_string_equal(a.failure, "");
}

static void samples_are_linked_where_they_are_stored(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    card_check rows[] = {check("aa", "short", 0, 1), check("aa", "short", 0, 1)};
    rows[0].raw = fixture_text(f, "samples");
    rows[1].raw = hash_of_text("never sent");
    put(f, "GPU-1", 100, NULL, rows, 2);
    assert_int_equal(fixture_count(f, "calibration"), 2);
    assert_int_equal(fixture_count(f, "calibration WHERE raw IS NOT NULL"), 1);
}

static void a_self_test_that_contradicts_itself_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    asked a = {.test = {.at_ms = 1,
                        .node = "n",
                        .device_uuid = "u",
                        .device = "d",
                        .device_kind = "cuda",
                        .driver = "",
                        .torch = "",
                        .version = "",
                        .protocol = "",
                        .passed = true,
                        .failure = "but no"}};
    fixture_fails(f, put_fn, &a, ERR_PROTOCOL);
    assert_int_equal(fixture_count(f, "selftest"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_runs_of_a_card_and_class_come_oldest_first),
        cmocka_unit_test(the_copy_is_the_median_of_what_passed_since),
        cmocka_unit_test(the_newest_self_test_says_whether_a_card_is_well),
        cmocka_unit_test(samples_are_linked_where_they_are_stored),
        cmocka_unit_test(a_self_test_that_contradicts_itself_is_refused)};
    return cmocka_run_group_tests_name("card", tests, NULL, NULL);
}
