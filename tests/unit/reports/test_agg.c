/* test_agg - shares of all declared tasks, statistics over the measured ones
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
#include "common/xalloc.h"
#include "reports/agg.h"
#include "tests/unit/reports/filled.h"

static board *read_board(fixture *f, const char *run)
{
    err e = {0};
    board *b = board_read(f->db, &(board_ask){.runs = &run, .run_count = 1}, &e);
    if (b == NULL)
        fail_msg("%s", e.text);
    return b;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void the_denominator_is_what_was_declared(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_partial(f);
    SCOPED(board_destroy) board *whole = read_board(f, "run-cuda");
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(whole);
    assert_int_equal(a->rows[1].declared, 4); /* mock: one of four is right */
    assert_int_equal(a->rows[1].scored, 4);
    assert_int_equal(a->rows[1].correct, 1);
    assert_int_equal(a->rows[1].fast[0], 1);
    SCOPED(board_destroy) board *part = read_board(f, "run-part");
    SCOPED(agg_list_destroy) agg_list *p = agg_list_create(part);
    assert_int_equal(p->rows[0].declared, 3); /* two of them never finished */
    assert_int_equal(p->rows[0].scored, 1);
    assert_true(p->rows[0].correct_high < 0.8);
}

static void degenerate_problems_are_counted_apart(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "UPDATE problem SET category = 'degenerate' WHERE id = 'add'");
    SCOPED(board_destroy) board *b = read_board(f, "run-cuda");
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
    const agg *gold = &a->rows[0]; /* right on all four; add is its fastest */
    assert_int_equal(gold->declared, 3);
    assert_int_equal(gold->scored, 3);
    assert_int_equal(gold->correct, 3);
    assert_int_equal(gold->fast[0], 2);
    assert_int_equal(gold->in_scope, 3);
    assert_int_equal(gold->degenerate, 1);
    assert_int_equal(gold->degenerate_correct, 1);
    assert_true(gold->p75 < 2);
    assert_true(near(gold->pass[0], 1.0));
    assert_int_equal(a->rows[1].degenerate_correct, 0); /* mock is wrong there */
    assert_int_equal(a->rows[1].correct, 1);
}

static void missing_speeds_are_left_out_and_never_a_gain(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_board(f, "run-cuda");
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
    const agg *gold = &a->rows[0];
    assert_int_equal(gold->correct, 4);
    assert_int_equal(gold->measured, 3);
    assert_int_equal(gold->fast[0], 3);
    assert_int_equal(gold->losses, 1);
    assert_true(near(gold->median, 1.1));
    assert_true(near(gold->p25, 0.95));
    assert_true(near(gold->geomean, cbrt(2.5 * 0.8 * 1.1)));
}

static void the_gemm_track_has_a_mean_of_its_own(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "UPDATE problem SET category = 'gemm' WHERE id = 'sum'");
    SCOPED(board_destroy) board *b = read_board(f, "run-cuda");
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
    const agg *gold = &a->rows[0];
    assert_int_equal(gold->declared, 4);
    assert_int_equal(gold->correct, 4);
    assert_int_equal(gold->fast[0], 3); /* every speed counts here */
    assert_int_equal(gold->measured + gold->gemm_measured, 3);
    assert_int_equal(gold->gemm_measured, 1);
    assert_true(near(gold->gemm_geomean * gold->geomean * gold->geomean, 2.5 * 0.8 * 1.1));
    assert_int_equal(gold->losses, gold->gemm_geomean < 1 ? 0 : 1);
}

/* A reference that was copied must not score: fast_1 is strict. */
static void thresholds_are_strict(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    static const double speeds[] = {0.5, 1, 1.5, 2, 4, 4.0001};
    static const size_t want[][AGG_THRESHOLDS] = {{1, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0},
                                                  {1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 0, 0},
                                                  {1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        SCOPED(scoped_free)
        char *sql =
            xasprintf("UPDATE task SET speedup = %.6f WHERE speedup IS NOT NULL AND problem = "
                      "'scan'",
                      speeds[i]);
        fixture_exec(f, sql);
        SCOPED(board_destroy) board *b = read_board(f, "run-cuda");
        SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
        assert_memory_equal(a->rows[1].fast, want[i], sizeof want[i]);
    }
}

static void failures_are_counted_by_outcome_and_stage(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(
        f, "UPDATE task SET outcome = 'compile_failed', stage = 'codegen' WHERE problem = 'add' "
           "AND outcome = 'wrong'");
    SCOPED(board_destroy) board *b = read_board(f, "run-cuda");
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
    const agg *mock = &a->rows[1];
    assert_int_equal(a->rows[0].failure_count, 0);
    assert_int_equal(mock->failure_count, 2);
    assert_int_equal(mock->failures[0].result, OUTCOME_NO_ANSWER);
    assert_int_equal(mock->failures[1].result, OUTCOME_COMPILE_FAILED);
    assert_int_equal(mock->failures[1].count, 2);
    assert_string_equal(mock->failures[1].stage, "codegen");
}

static void use_adds_up_and_unknown_costs_stay_unknown(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_board(f, "run-cuda");
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
    const agg *mock = &a->rows[1];
    assert_int_equal(mock->calls, 10);
    assert_int_equal(mock->attempts, 6);
    assert_int_equal(mock->cost_unknown, 1);
    assert_int_equal(mock->tokens_unknown, 1);
    assert_int_equal(mock->tokens_in, 10000);
    assert_int_equal(mock->tokens_out, 4500);
    assert_int_equal(mock->tokens_cache_read, 2000);
    assert_true(near(mock->cost_usd, 0.14));
    assert_true(near(mock->wall_ms, 3 * 1500 + 2500));
}

static void entrants_stand_by_correct_then_geomean(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    err e = {0};
    SCOPED(board_destroy) board *b = board_read(f->db, &(board_ask){0}, &e);
    assert_non_null(b);
    SCOPED(agg_list_destroy) agg_list *a = agg_list_create(b);
    static const char *const want[] = {"gold", "mock:two", "mock:de|mo"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(b->entrants[a->order[i]].row->name, want[i]);
    fixture_exec(
        f, "UPDATE task SET outcome = 'wrong', speedup = NULL, reason = 'x' WHERE run = "
           "'run-cuda' AND problem IN ('scan') AND entrant = (SELECT id FROM entrant WHERE name = "
           "'gold')");
    SCOPED(board_destroy) board *level = board_read(f->db, &(board_ask){0}, &e);
    SCOPED(agg_list_destroy) agg_list *l = agg_list_create(level);
    assert_string_equal(level->entrants[l->order[0]].row->name, "mock:two"); /* 1.40 before 1.30 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_denominator_is_what_was_declared),
        cmocka_unit_test(degenerate_problems_are_counted_apart),
        cmocka_unit_test(missing_speeds_are_left_out_and_never_a_gain),
        cmocka_unit_test(the_gemm_track_has_a_mean_of_its_own),
        cmocka_unit_test(thresholds_are_strict),
        cmocka_unit_test(failures_are_counted_by_outcome_and_stage),
        cmocka_unit_test(use_adds_up_and_unknown_costs_stay_unknown),
        cmocka_unit_test(entrants_stand_by_correct_then_geomean),
    };
    return cmocka_run_group_tests_name("agg", tests, NULL, NULL);
}
