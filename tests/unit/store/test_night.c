/* test_night - nights are begun, linked, ended, accepted, and read newest first
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "store/night.h"
#include "tests/unit/store/fixture.h"

typedef struct job {
    int64_t id, now;
    night_verdict verdict;
    night_list list;
    night_success_list successes;
    night_cards cards;
} job;

static int begin(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return night_begin(tx, "a100", "/nights", j->now, &j->id, e);
}

static int link_run(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return night_link(tx, j->id, "run1", false, e) || night_link(tx, j->id, "run1", true, e) ? -1
                                                                                             : 0;
}

static int finish(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return night_end(tx, j->id, j->verdict, "why", j->now, e) || night_tell(tx, j->id, e) ? -1 : 0;
}

static int accept(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return night_accept(tx, j->id, e);
}

static int read_all(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return night_list_read(tx, "a100", &j->list, e) || night_success_read(tx, &j->successes, e) ||
                   night_cards_read(tx, 1000, &j->cards, e)
               ? -1
               : 0;
}

static void job_fini(job *j)
{
    night_list_fini(&j->list);
    night_success_list_fini(&j->successes);
    free(j->cards.failure);
}

static void a_night_goes_from_open_to_its_verdict(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(job_fini) job j = {.now = 86400000};
    fixture_seed(f);
    fixture_do(f, begin, &j);
    fixture_do(f, link_run, &j);
    fixture_fails(f, accept, &j, ERR_NOT_FOUND); /* it is not over */
    j.verdict = NIGHT_GOOD;
    j.now += 5;
    fixture_do(f, finish, &j);
    fixture_do(f, begin, &j);
    j.verdict = NIGHT_WORSE;
    j.now += 5;
    fixture_do(f, finish, &j);
    fixture_do(f, read_all, &j);
    assert_int_equal(j.list.count, 2);
    const night_row *newest = &j.list.rows[0], *first = &j.list.rows[1];
    assert_int_equal(newest->verdict, NIGHT_WORSE);
    assert_null(newest->run);
    assert_true(newest->told);
    assert_string_equal(first->folder, "/nights/1970-01-02-1");
    assert_string_equal(first->run, "run1");
    assert_string_equal(first->again, "run1");
    assert_string_equal(first->reason, "why");
    assert_int_equal(j.successes.count, 1);
    assert_string_equal(j.successes.rows[0].series, "a100");
    assert_int_equal(j.successes.rows[0].ended_ms, 86400005);
}

static void an_accepted_night_is_good_and_a_run_that_goes_leaves_it(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(job_fini) job j = {.now = 1000, .verdict = NIGHT_UNJUDGED};
    fixture_seed(f);
    fixture_do(f, begin, &j);
    fixture_do(f, link_run, &j);
    fixture_do(f, finish, &j);
    fixture_do(f, accept, &j);
    fixture_exec(f, "DELETE FROM task; DELETE FROM run");
    fixture_do(f, read_all, &j);
    assert_int_equal(j.list.rows[0].verdict, NIGHT_GOOD);
    assert_true(j.list.rows[0].accepted);
    assert_null(j.list.rows[0].run);
    j.id = 77;
    fixture_fails(f, finish, &j, ERR_NOT_FOUND);
}

static void self_tests_since_a_moment_are_counted(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(job_fini) job j = {.id = 0};
    const char *row =
        "INSERT INTO selftest (at_ms, node, device_uuid, device, device_kind, driver, "
        "torch, version, protocol, quick, passed, failure, wall_s) VALUES ";
    char sql[1024];
    snprintf(sql, sizeof sql,
             "%s (999, 'n', 'u', 'd', 'cuda', '1', '2', '3', 'p', 1, 0, 'long ago', 1), "
             "(1000, 'n', 'u', 'd', 'cuda', '1', '2', '3', 'p', 1, 0, 'aa', 1), "
             "(2000, 'n', 'u', 'd', 'cuda', '1', '2', '3', 'p', 1, 1, NULL, 1)",
             row);
    fixture_exec(f, sql);
    fixture_do(f, read_all, &j);
    assert_int_equal(j.cards.tested, 2);
    assert_int_equal(j.cards.failed, 1);
    assert_string_equal(j.cards.failure, "d u: aa");
    assert_int_equal(j.successes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_night_goes_from_open_to_its_verdict),
        cmocka_unit_test(an_accepted_night_is_good_and_a_run_that_goes_leaves_it),
        cmocka_unit_test(self_tests_since_a_moment_are_counted),
    };
    return cmocka_run_group_tests_name("night", tests, NULL, NULL);
}
