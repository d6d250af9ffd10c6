/* test_history - which earlier nights count, and what they add up to
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

#include "common/scoped.h"
#include "store/history.h"
#include "tests/unit/store/fixture.h"

typedef struct reading {
    history_ask ask;
    history_list list;
} reading;

static int read_fn(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    return history_list_read(tx, &r->ask, &r->list, e);
}

/* A copy of run1 that began `at`: its tasks with what `set` says. */
static void copy_run(fixture *f, const char *id, int at, const char *set)
{
    char sql[2048];
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE r AS SELECT * FROM run WHERE id = 'run1'; "
             "UPDATE r SET id = '%s', created_ms = %d, finished_ms = NULL, state = 'complete'; "
             "INSERT INTO run SELECT * FROM r; DROP TABLE r; "
             "CREATE TEMP TABLE r AS SELECT * FROM problem WHERE run = 'run1'; "
             "UPDATE r SET run = '%s'; INSERT INTO problem SELECT * FROM r; DROP TABLE r",
             id, at, id);
    fixture_exec(f, sql);
    snprintf(
        sql, sizeof sql,
        "INSERT INTO entrant (run, name, models) SELECT '%s', name, models FROM entrant "
        "WHERE run = 'run1'; "
        "CREATE TEMP TABLE t AS SELECT * FROM task WHERE run = 'run1' AND kind = 'synthesize'; "
        "UPDATE t SET id = '%s' || id, run = '%s', entrant = (SELECT id FROM entrant "
        "WHERE run = '%s' AND name = (SELECT name FROM entrant WHERE id = t.entrant)), "
        "state = 'done', outcome = 'ok', device_kind = 'cuda', device = 'card', "
        "correct_protocol = 'c', timing_protocol = 't', speedup = 2, reason = NULL %s; "
        "INSERT INTO task SELECT * FROM t; DROP TABLE t",
        id, id, id, id, set);
    fixture_exec(f, sql);
}

static history_list nights(fixture *f, const history_ask *ask)
{
    reading r = {.ask = *ask};
    fixture_do(f, read_fn, &r);
    return r.list;
}

static const history_ask now = {"now", "card", "c", "t"};

static void earlier_runs_of_the_same_kind_count_oldest_first(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    copy_run(f, "b", 3000, ", speedup = 8");
    copy_run(f, "a", 2000, "");
    copy_run(f, "now", 4000, "");
    copy_run(f, "later", 5000, "");
    SCOPED(history_list_fini) history_list list = nights(f, &now);
    const int64_t tasks = fixture_count(f, "task WHERE run = 'a'");
    assert_int_equal(list.count, 2 * fixture_count(f, "entrant WHERE run = 'a'"));
    assert_int_equal(list.rows[0].created_ms, 2000);
    assert_int_equal(list.rows[list.count - 1].created_ms, 3000);
    int64_t declared = 0;
    for (size_t i = 0; i < list.count; i++) {
        const history_row *row = &list.rows[i];
        const double ln = log(row->created_ms == 2000 ? 2 : 8);
        declared += row->created_ms == 2000 ? (int64_t)row->declared : 0;
        assert_int_equal(row->correct, row->declared);
        assert_int_equal(row->measured, row->declared);
        assert_true(fabs(row->ln_sum - (double)row->measured * ln) < 1e-9);
        assert_true(fabs(row->ln_squares - (double)row->measured * ln * ln) < 1e-9);
    }
    assert_int_equal(declared, tasks);
}

static void others_do_not_count(void **state)
{
    (void)state;
    static const char *const spoil[] = {
        "UPDATE run SET suite_hash = 'ff' || substr(suite_hash, 3) WHERE id = 'a'",
        "UPDATE run SET suite = 'other' WHERE id = 'a'",
        "UPDATE run SET state = 'incomplete' WHERE id = 'a'",
        "UPDATE run SET kind = 'validate' WHERE id = 'a'",
        "UPDATE task SET device = 'another card' WHERE run = 'a'",
        "UPDATE task SET correct_protocol = 'c2' WHERE run = 'a'",
        "UPDATE task SET timing_protocol = 't2' WHERE run = 'a'",
    };
    for (size_t i = 0; i < sizeof spoil / sizeof spoil[0]; i++) {
        SCOPED(fixture_destroy) fixture *f = fixture_create();
        fixture_seed(f);
        copy_run(f, "a", 2000, "");
        copy_run(f, "now", 4000, "");
        SCOPED(history_list_fini) history_list before = nights(f, &now);
        assert_true(before.count > 0);
        fixture_exec(f, spoil[i]);
        SCOPED(history_list_fini) history_list list = nights(f, &now);
        if (list.count != 0)
            fail_msg("counted: %s", spoil[i]);
    }
}

static void scripted_times_and_gemm_have_no_speed(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    copy_run(f, "a", 2000, ", device_kind = 'fake'");
    copy_run(f, "b", 2500, "");
    copy_run(f, "now", 4000, "");
    fixture_exec(f, "UPDATE problem SET category = 'gemm' WHERE run = 'b'");
    SCOPED(history_list_fini) history_list list = nights(f, &now);
    assert_true(list.count > 0);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.rows[i].measured, 0);
        assert_true(list.rows[i].correct > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_runs_of_the_same_kind_count_oldest_first),
        cmocka_unit_test(others_do_not_count),
        cmocka_unit_test(scripted_times_and_gemm_have_no_speed),
    };
    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
