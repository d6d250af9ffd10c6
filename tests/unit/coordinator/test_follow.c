/* test_follow - from a request to the files, through a serving coordinator
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/follow.h"
#include "hall.h"

static void a_run_is_followed_to_its_files(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(hall_destroy) hall *h = hall_create();
    SCOPED(settings_fini) settings wanted = {.suites = NULL};
    hall_settings(&wanted);
    wanted.out = file_join(h->folder, "here");
    const eval_request asked = {
        .wanted = &wanted, .program = "ce-coord", .command = "test", .yes = true, .json = true};
    const follow_request request = {.coordinator = h->endpoint, .eval = &asked};
    hall_work(h);
    assert_int_equal(follow_run(&request, &e), 0);
    SCOPED(scoped_free) char *board = file_join(wanted.out, "leaderboard.md");
    SCOPED(scoped_free) char *results = file_join(wanted.out, "results.json");
    assert_true(file_exists(board) && file_exists(results));
}

static void a_coordinator_that_is_not_there_is_named(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(settings_fini) settings wanted = {.suites = NULL};
    hall_settings(&wanted);
    const eval_request asked = {.wanted = &wanted, .program = "x", .command = "x", .yes = true};
    const follow_request request = {.coordinator = "ipc:///nowhere/s", .eval = &asked};
    assert_int_equal(follow_run(&request, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "/nowhere/s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_followed_to_its_files),
        cmocka_unit_test(a_coordinator_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
