/* test_moment - the facts behind a screen
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "reports/moment.h"
#include "tests/unit/reports/filled.h"

static void a_moment_is_one_runs_facts(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_partial(f);
    SCOPED(moment_fini) moment m = {0};
    err e = {0};
    assert_int_equal(moment_read(f->db, "run-p", 1764520960000, &m, &e), 0);
    assert_string_equal(m.run.id, "run-part");
    assert_true(m.attended_ms > 0); /* this process has it open */
    assert_int_equal(m.tally.planned, 3);
    assert_int_equal(m.tally.done, 1);
    assert_int_equal(m.tally.correct, 1);
    assert_int_equal(m.tally.failed, 1);
    assert_int_equal(m.running.count, 1);
    assert_int_equal(m.waiting.count, 0);
    assert_true(moment_over(&m)); /* interrupted */
    assert_int_equal(moment_left_ms(&m), -1);
}

static void without_a_name_it_is_the_run_at_work(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    moment m = {0};
    err e = {0};
    assert_int_equal(moment_read(f->db, NULL, 1, &m, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    filled_cuda(f);
    filled_partial(f); /* the newest */
    assert_int_equal(moment_read(f->db, NULL, 1, &m, &e), 0);
    assert_string_equal(m.run.id, "run-part");
    moment_fini(&m);
    fixture_exec(f, "INSERT INTO event (at_ms, run, kind) VALUES (1, 'run-cuda', 'granted')");
    assert_int_equal(moment_read(f->db, NULL, 1, &m, &e), 0);
    assert_string_equal(m.run.id, "run-cuda");
    moment_fini(&m);
    assert_int_equal(moment_read(f->db, "nothing", 1, &m, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void the_time_left_follows_the_pace(void **state)
{
    (void)state;
    static const struct {
        run_state state;
        live_tally tally;
        live_pace pace;
        int64_t left;
    } rows[] = {
        {RUN_RUNNING, {.planned = 10, .done = 4, .failed = 1}, {2, 1000}, 22500},
        {RUN_RUNNING, {.planned = 10, .done = 1}, {0, 1000}, -1},  /* one result is no pace */
        {RUN_RUNNING, {.planned = 10, .done = 10}, {2, 1000}, -1}, /* nothing is left */
        {RUN_COMPLETE, {.planned = 10, .done = 4}, {2, 1000}, -1},
        {RUN_RUNNING, {.planned = 10, .done = 4}, {2, 99000}, -1}, /* a clock was set */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const moment m = {.now_ms = 10000,
                          .run.state = rows[i].state,
                          .tally = rows[i].tally,
                          .pace = rows[i].pace};
        assert_int_equal(moment_left_ms(&m), rows[i].left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_one_runs_facts),
        cmocka_unit_test(without_a_name_it_is_the_run_at_work),
        cmocka_unit_test(the_time_left_follows_the_pace),
    };
    return cmocka_run_group_tests_name("moment", tests, NULL, NULL);
}
