/* test_ranking - who has a rank, who has not and why, and the common set
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
#include "reports/figures.h"
#include "reports/ranking.h"
#include "tests/unit/reports/filled.h"
#include "tests/unit/reports/made.h"

static const char *const both[] = {"run-cuda", "run-newer"};

/* A board of database rows with its ranks. */
typedef struct ranked {
    board *b;
    figures *all;
    const agg_list *aggs;
    const ranking *ranks;
} ranked;

static ranked rank(fixture *f, const char *const *runs, size_t count)
{
    err e = {0};
    ranked r = {.b = board_read(f->db, &(board_ask){.runs = runs, .run_count = count}, &e)};
    if (r.b == NULL)
        fail_msg("%s", e.text);
    r.all = figures_create(r.b);
    r.aggs = r.all->aggs;
    r.ranks = r.all->ranks;
    return r;
}

static void ranked_fini(ranked *r)
{
    figures_destroy(&r->all);
    board_destroy(&r->b);
}

static const ranking_row *row_of(const ranked *r, const char *name)
{
    for (size_t i = 0; i < r->b->entrant_count; i++)
        if (strcmp(r->b->entrants[i].row->name, name) == 0)
            return &r->ranks->rows[i];
    fail_msg("no %s", name);
    return NULL;
}

static void gold_is_a_line_and_takes_no_rank(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    SCOPED(ranked_fini) ranked r = rank(f, both, 2);
    assert_true(row_of(&r, "gold")->is_human);
    assert_null(row_of(&r, "gold")->unranked);
    assert_int_equal(r.ranks->ranked, 2);
    assert_int_equal(row_of(&r, "mock:two")->place.rank, 1);
    assert_int_equal(row_of(&r, "mock:de|mo")->place.rank, 1); /* four problems show nothing */
    assert_int_equal(r.ranks->problems, 4);
    /* two certified wins of four, as mock:two, and a line goes first */
    assert_string_equal(r.b->entrants[r.ranks->order[0]].row->name, "gold");
    assert_string_equal(r.b->entrants[r.ranks->order[2]].row->name, "mock:de|mo");
}

/* What is done to the database, and what the entrant is told. */
static void who_has_no_rank_is_told_why(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *why;
        bool apart;
    } cases[] = {
        {"UPDATE task SET state = 'failed', error = 'x', outcome = NULL, speedup = NULL, verdict = "
         "NULL WHERE run = 'run-cuda' AND problem = 'add'",
         "1 of 4 tasks are not scored", false},
        {"UPDATE run SET state = 'interrupted' WHERE id = 'run-cuda'", "its run is interrupted",
         false},
        {"UPDATE task SET device_kind = 'emu' WHERE run = 'run-cuda'", "emulator: correctness only",
         false},
        {"UPDATE task SET device_kind = 'fake' WHERE run = 'run-cuda'",
         "fake device: scripted, not a measurement", false},
        {"UPDATE task SET speedup = NULL, reason = 'x', verdict = 'impossible' WHERE run = "
         "'run-cuda' AND problem = 'scan'",
         "1 kernel is faster than the hardware can be: somebody has to look", false},
        {"UPDATE task SET correct_protocol = 'ce-correct-0'", "ce-correct-0 is never ranked",
         false},
        {"UPDATE task SET timing_protocol = 'ce-timing-0'", "ce-timing-0 is never ranked", false},
        {"UPDATE problem SET contract_hash = printf('%064d', 1) WHERE run = 'run-newer' AND id = "
         "'sum'; DELETE FROM task WHERE run = 'run-cuda' AND problem = 'sum'; DELETE FROM problem "
         "WHERE run = 'run-cuda' AND id = 'sum'",
         "1 of the board's 4 problems are not in its run", false},
        {"UPDATE task SET device = 'NVIDIA A100' WHERE run = 'run-cuda' AND problem = 'sum'",
         "its tasks ran on more than one device: NVIDIA H200, NVIDIA A100", false},
        {"UPDATE run SET kind = 'validate' WHERE id = 'run-cuda'",
         "only 0 of 4 tasks may be ranked", false},
        {"UPDATE task SET device = 'NVIDIA A100' WHERE run = 'run-cuda'",
         "another device: NVIDIA A100", true},
        {"UPDATE run SET suite_hash = printf('%064d', 1) WHERE id = 'run-cuda'",
         "another suite: internal 0.1 with other content", true},
        {"UPDATE task SET correct_protocol = 'ce-correct-2' WHERE run = 'run-cuda'",
         "another protocol of checks: ce-correct-2", true},
        {"UPDATE task SET timing_protocol = 'ce-timing-2' WHERE run = 'run-cuda'",
         "another protocol of times: ce-timing-2", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(fixture_destroy) fixture *f = fixture_create();
        filled_cuda(f);
        filled_newer(f);
        fixture_exec(f, cases[i].sql);
        SCOPED(ranked_fini) ranked r = rank(f, both, 2);
        const ranking_row *row = row_of(&r, "mock:de|mo");
        if (row->unranked == NULL || strcmp(row->unranked, cases[i].why) != 0 ||
            row->is_apart != cases[i].apart)
            fail_msg("%s: %s", cases[i].sql, row->unranked);
        /* nobody counts as better or worse than one who is not ranked */
        size_t last = r.ranks->order[r.ranks->count - 1];
        assert_non_null(r.ranks->rows[last].unranked);
    }
}

static void the_common_set_is_where_everybody_has_a_speed(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    fixture_exec(f, "DELETE FROM task WHERE entrant IN (SELECT id FROM entrant WHERE name LIKE "
                    "'mock:de%'); DELETE FROM entrant WHERE name LIKE 'mock:de%'");
    SCOPED(ranked_fini) ranked r = rank(f, both, 2);
    assert_int_equal(r.ranks->common, 3); /* add, sum, norm */
    assert_int_equal(r.ranks->scope, 4);
    assert_int_equal(row_of(&r, "gold")->covered, 3);
    assert_true(fabs(row_of(&r, "gold")->common_geomean - cbrt(2.5 * 0.8 * 1.1)) < 1e-9);
    assert_true(fabs(row_of(&r, "mock:two")->common_geomean - cbrt(2.55 * 1.2 * 0.9)) < 1e-9);
}

/* Whoever solves nothing at speed leaves the set to the others, and has no mean. */
static void who_has_no_speed_empties_no_set(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "UPDATE task SET outcome = 'wrong', speedup = NULL, verdict = NULL, reason = "
                    "'x' WHERE entrant IN (SELECT id FROM entrant WHERE name LIKE 'mock%')");
    SCOPED(ranked_fini) ranked r = rank(f, both, 1);
    assert_int_equal(r.ranks->common, 3);
    assert_true(isnan(row_of(&r, "mock:de|mo")->common_geomean));
    assert_int_equal(row_of(&r, "mock:de|mo")->covered, 0);
}

/* Samples that one run has and the other has not decide nothing. */
static void runs_of_different_depth_share_the_fewer_samples(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    fixture_exec(f, "UPDATE run SET samples = 2 WHERE id = 'run-newer';"
                    "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, "
                    "outcome, reason, device, device_kind, correct_protocol, timing_protocol) "
                    "SELECT id || 'x', run, kind, problem, entrant, 1, spec, state, 'wrong', 'x', "
                    "device, device_kind, correct_protocol, timing_protocol FROM task WHERE run = "
                    "'run-newer'");
    SCOPED(ranked_fini) ranked r = rank(f, both, 2);
    assert_int_equal(r.ranks->samples, 1);
    assert_true(fabs(row_of(&r, "mock:two")->place.rate - 0.5) < 1e-9);
}

static void many_entrants_get_no_rank_rather_than_a_wrong_one(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_newer(f);
    fixture_exec(
        f, "CREATE TEMP TABLE n (i INTEGER); WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i "
           "+ 1 FROM c WHERE i < 128) INSERT INTO n SELECT i FROM c;"
           "INSERT INTO entrant (id, run, name, models) SELECT 1000 + i, 'run-newer', 'e' || i, "
           "'{}' FROM n;"
           "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, outcome, "
           "reason, device_kind) SELECT printf('t%d-%s', i, t.id), run, kind, problem, 1000 + i, "
           "sample, spec, 'done', 'wrong', 'wrong', 'cuda' FROM n, task t");
    SCOPED(ranked_fini) ranked r = rank(f, both + 1, 1);
    assert_int_equal(r.ranks->ranked, 0);
    assert_string_equal(row_of(&r, "mock:two")->unranked,
                        "more than 128 entrants: name fewer runs");
}

static void a_better_one_is_first_and_lines_follow_ranks(void **state)
{
    (void)state;
    static const double strengths[] = {0.1, 0.9, 0.5};
    const made_ask ask = made_ask_of(3, strengths, 3);
    SCOPED(made_destroy) made *m = made_create(&ask);
    SCOPED(figures_destroy) figures *all = figures_create(&m->board);
    const ranking *ranks = all->ranks;
    static const size_t order[] = {1, 2, 0};
    assert_memory_equal(ranks->order, order, sizeof order);
    assert_int_equal(ranks->rows[1].place.rank, 1);
    assert_int_equal(ranks->rows[2].place.rank, 2);
    assert_int_equal(ranks->rows[0].place.rank, 3);
    assert_true(ranks->detectable > 0 && ranks->detectable < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gold_is_a_line_and_takes_no_rank),
        cmocka_unit_test(who_has_no_rank_is_told_why),
        cmocka_unit_test(the_common_set_is_where_everybody_has_a_speed),
        cmocka_unit_test(who_has_no_speed_empties_no_set),
        cmocka_unit_test(runs_of_different_depth_share_the_fewer_samples),
        cmocka_unit_test(many_entrants_get_no_rank_rather_than_a_wrong_one),
        cmocka_unit_test(a_better_one_is_first_and_lines_follow_ranks),
    };
    return cmocka_run_group_tests_name("ranking", tests, NULL, NULL);
}
