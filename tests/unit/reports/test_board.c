/* test_board - which runs and which numbers reach a report
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "reports/board.h"
#include "tests/unit/reports/filled.h"

static board *read_runs(fixture *f, const char *const *runs, size_t count)
{
    const board_ask ask = {.runs = runs, .run_count = count};
    err e = {0};
    board *b = board_read(f->db, &ask, &e);
    if (b == NULL)
        fail_msg("%s", e.text);
    return b;
}

static void no_argument_takes_the_newest_ranked_run_of_each_entrant(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    err e = {0};
    assert_null(board_read(f->db, &(board_ask){0}, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    filled_fake(f);
    SCOPED(board_destroy) board *only_fake = read_runs(f, NULL, 0);
    assert_int_equal(only_fake->run_count, 1); /* better than nothing, and it says what it is */
    filled_cuda(f);
    filled_newer(f);
    SCOPED(board_destroy) board *b = read_runs(f, NULL, 0);
    assert_int_equal(b->run_count, 2);
    assert_int_equal(b->entrant_count, 3);
    assert_false(board_any_kind(b, "fake"));
    assert_true(board_rankable(b));
}

static void unknown_and_repeated_runs_are_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    const char *const twice[] = {"run-cuda", "run-c"}, *const unknown[] = {"nope"};
    err e = {0};
    assert_null(board_read(f->db, &(board_ask){.runs = twice, .run_count = 2}, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_null(board_read(f->db, &(board_ask){.runs = unknown, .run_count = 1}, &e));
    assert_string_equal(e.text, "there is no run nope");
}

static void scripted_times_never_get_out(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_fake(f);
    SCOPED(board_destroy) board *b = read_runs(f, NULL, 0);
    assert_int_equal(b->task_count, 2);
    for (size_t i = 0; i < b->task_count; i++) {
        assert_true(isnan(b->tasks[i].speedup));
        assert_true(isnan(b->tasks[i].candidate_ms));
        assert_true(isnan(b->tasks[i].baseline_ms));
        assert_non_null(b->tasks[i].reason);
    }
    assert_false(board_rankable(b));
    assert_true(board_task_correct(&b->tasks[0]));
    assert_false(board_task_correct(&b->tasks[1]));
    assert_true(board_task_scored(&b->tasks[1]));
}

static void outcomes_that_do_not_count_are_not_scored(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "UPDATE task SET outcome = 'not_run', speedup = NULL, reason = 'no GPU' "
                    "WHERE problem = 'add'");
    SCOPED(board_destroy) board *b = read_runs(f, NULL, 0);
    assert_false(board_task_scored(&b->tasks[0]));
    assert_false(board_rankable(b)); /* a run with holes */
    assert_string_equal(b->tasks[0].reason, "no GPU");
}

static void protocols_are_those_that_the_tasks_met(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "UPDATE task SET device_kind = 'emu', correct_protocol = 'other/emu', "
                    "timing_protocol = NULL");
    SCOPED(board_destroy) board *b = read_runs(f, NULL, 0);
    const board_run *run = &b->runs[0];
    board_protocols used = run->protocols;
    assert_string_equal(used.correctness, "other/emu");
    assert_null(used.timing);
    fixture_exec(f, "UPDATE task SET correct_protocol = NULL"); /* as if nothing were done yet */
    SCOPED(board_destroy) board *early = read_runs(f, NULL, 0);
    used = early->runs[0].protocols;
    assert_string_equal(used.correctness, run->row.correct_protocol);
    assert_string_equal(used.timing, run->row.timing_protocol);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_argument_takes_the_newest_ranked_run_of_each_entrant),
        cmocka_unit_test(unknown_and_repeated_runs_are_refused),
        cmocka_unit_test(scripted_times_never_get_out),
        cmocka_unit_test(outcomes_that_do_not_count_are_not_scored),
        cmocka_unit_test(protocols_are_those_that_the_tasks_met),
    };
    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
