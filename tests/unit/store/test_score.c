/* test_score - one pass gives what the lists give
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
#include "store/score.h"
#include "tests/unit/store/fixture.h"

enum { TASKS_MAX = 16 };

typedef struct reading {
    score_tries last; /* of sample 10 */
    int64_t attempts;
    task_list tasks;
    usage_list usage;
    spend_list want;
    score_sums got;
    double margins[TASKS_MAX];
    size_t seen;
    size_t stop_at; /* the callback fails here; 0: never */
} reading;

static void same_text(const char *got, const char *want)
{
    if (want == NULL)
        assert_null(got);
    else
        assert_string_equal(got, want);
}

static bool same_real(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

static void same_task(const task_row *got, const task_row *want)
{
    same_text(got->id, want->id);
    same_text(got->problem, want->problem);
    same_text(got->node, want->node);
    same_text(got->error, want->error);
    assert_int_equal(got->entrant, want->entrant);
    assert_int_equal(got->sample, want->sample);
    assert_int_equal(got->state, want->state);
    assert_int_equal(got->leases, want->leases);
    assert_int_equal(got->outcome.result, want->outcome.result);
    same_text(got->outcome.reason, want->outcome.reason);
    same_text(got->outcome.device, want->outcome.device);
    assert_true(same_real(got->outcome.speedup, want->outcome.speedup));
    assert_true(hash_equal(&got->outcome.source, &want->outcome.source));
}

static void same_usage(const usage_row *got, const usage_row *want)
{
    assert_int_equal(got->attempts, want->attempts);
    assert_int_equal(got->calls, want->calls);
    assert_int_equal(got->cost_unknown, want->cost_unknown);
    assert_int_equal(got->tokens_unknown, want->tokens_unknown);
    assert_int_equal(got->tokens_in, want->tokens_in);
    assert_int_equal(got->tokens_out, want->tokens_out);
    assert_int_equal(got->tokens_cache_read, want->tokens_cache_read);
    assert_int_equal(got->tokens_cache_write, want->tokens_cache_write);
    assert_int_equal(got->unknown_calls, want->unknown_calls);
    assert_true(same_real(got->cost_usd, want->cost_usd));
    assert_true(same_real(got->latency_ms, want->latency_ms));
    assert_true(same_real(got->unknown_usd, want->unknown_usd));
}

static int look_fn(void *arg, const score_row *row, err *e)
{
    reading *r = arg;
    if (r->stop_at > 0 && r->seen + 1 == r->stop_at)
        return err_set(e, ERR_LIMIT, "enough");
    assert_true(r->seen < r->tasks.count);
    same_task(row->task, &r->tasks.rows[r->seen]);
    same_usage(row->usage, &r->usage.rows[r->seen]);
    r->margins[r->seen] = row->margin;
    if (row->task->sample == 10) {
        r->last = *row->tries;
        r->attempts = row->usage->attempts;
    }
    r->seen++;
    return 0;
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    if (task_list_read(tx, "run1", "synthesize", &r->tasks, e) < 0 ||
        usage_list_read(tx, "run1", &r->usage, e) < 0 ||
        spend_list_read(tx, "run1", &r->want, e) < 0)
        return -1;
    return score_each(tx, "run1", look_fn, r, &r->got, e);
}

static void reading_fini(reading *r)
{
    task_list_fini(&r->tasks);
    usage_list_fini(&r->usage);
    spend_list_fini(&r->want);
    score_sums_fini(&r->got);
}

#define CALLS                                                                                     \
    "INSERT INTO model_call (task, stage, number, provider, model, stop, tokens_in, tokens_out, " \
    "tokens_cache_read, cost_usd, latency_ms, record, token, recorded_ms) SELECT t.id, s.stage, " \
    "s.number, s.provider, 'm', 'ok', s.tokens, 7, 3, s.usd, 10.5, (SELECT hash FROM artifact "   \
    "LIMIT 1), 1, 5 FROM task t, (SELECT 'codegen' AS stage, 0 AS number, 'z' AS provider, "      \
    "100 AS tokens, 0.5 AS usd UNION ALL SELECT 'codegen', 1, 'a', NULL, NULL UNION ALL "         \
    "SELECT 'interview', 0, 'z', 9, 0.25) s WHERE t.kind = 'synthesize' AND t.sample < 2"

static void fill(fixture *f)
{
    fixture_seed(f);
    fixture_exec(f,
                 "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, error) "
                 "SELECT 'more' || s.n, run, kind, problem, entrant, s.n, spec, 'failed', 'gone' "
                 "FROM task, (SELECT 1 AS n UNION SELECT 2 UNION SELECT 10) s WHERE id = 'task1'");
    fixture_exec(f, CALLS);
    fixture_exec(f, "INSERT INTO attempt (task, number, stage, outcome) SELECT id, n, 'codegen', "
                    "'wrong' FROM task, (SELECT 0 AS n UNION SELECT 1) WHERE sample = 1");
    fixture_exec(f, "INSERT INTO charge (task, stage, number, token, provider, model, state, "
                    "unknown_usd, sent_ms) SELECT id, 'polish', 0, 1, 'z', 'm', 'unknown', 0.75, 1 "
                    "FROM task WHERE sample = 2");
}

static void one_pass_gives_what_the_lists_give(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fill(f);
    SCOPED(reading_fini) reading r = {.seen = 0};
    fixture_do(f, read_fn, &r);
    assert_true(r.tasks.count >= 5);
    assert_int_equal(r.seen, r.tasks.count);
    assert_true(r.want.count >= 4);
    assert_int_equal(r.got.spend.count, r.want.count);
    for (size_t i = 0; i < r.got.spend.count; i++) {
        const spend_row *a = &r.got.spend.rows[i], *b = &r.want.rows[i];
        assert_int_equal(a->entrant, b->entrant);
        assert_string_equal(a->stage, b->stage);
        assert_string_equal(a->provider, b->provider);
        assert_int_equal(a->calls, b->calls);
        assert_int_equal(a->cost_unknown, b->cost_unknown);
        assert_int_equal(a->tokens_in, b->tokens_in);
        assert_int_equal(a->tokens_out, b->tokens_out);
        assert_int_equal(a->unknown_calls, b->unknown_calls);
        assert_true(same_real(a->cost_usd, b->cost_usd));
        assert_true(same_real(a->latency_ms, b->latency_ms));
        assert_true(same_real(a->unknown_usd, b->unknown_usd));
    }
}

/* Two estimates, two published ones of which the newer counts, one of another kernel. */
static void a_verdict_has_the_margin_of_its_comparison(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fill(f);
    fixture_exec(f, "UPDATE task SET source = spec, plan = spec WHERE id = 'task1'");
    fixture_exec(f, "INSERT INTO comparison (task, stage, source, plan, purpose, verdict, reason, "
                    "baseline_mode, timing_mode, slots, pairs, processes, voids, margin, "
                    "calibrated) SELECT t.id, 'performance', iif(c.kept, t.source, NULL), t.plan, "
                    "c.purpose, 'same', NULL, 'eager', 'E', 4, 10, 5, 0, c.margin, 0 FROM task t, "
                    "(SELECT 'estimate' AS purpose, 0.5 AS margin, 1 AS kept UNION ALL SELECT "
                    "'published', 0.03, 1 UNION ALL SELECT 'published', 0.02, 1 UNION ALL SELECT "
                    "'published', 0.4, 0 UNION ALL SELECT 'estimate', 0.6, 1) c WHERE t.id = "
                    "'task1'");
    SCOPED(reading_fini) reading r = {.seen = 0};
    fixture_do(f, read_fn, &r);
    for (size_t i = 0; i < r.seen; i++) {
        bool is_first = strcmp(r.tasks.rows[i].id, "task1") == 0;
        assert_true(is_first ? same_real(r.margins[i], 0.02) : isnan(r.margins[i]));
    }
}

static void models_that_answered_are_counted(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fill(f);
    fixture_exec(f, "UPDATE model_call SET served = 'm-2' WHERE task = 'task1'");
    SCOPED(reading_fini) reading r = {.seen = 0};
    fixture_do(f, read_fn, &r);
    const snapshot_list *got = &r.got.snapshots;
    int64_t calls = 0;
    assert_int_equal(got->count, 6); /* two stages of provider z and one of a, told or not */
    for (size_t i = 0; i < got->count; i++)
        calls += got->rows[i].calls;
    assert_int_equal(calls, fixture_count(f, "model_call"));
    assert_string_equal(got->rows[0].stage, "codegen");
    assert_string_equal(got->rows[0].provider, "a");
    assert_null(got->rows[0].served);
    assert_string_equal(got->rows[1].served, "m-2");
    assert_int_equal(got->rows[1].calls, 1);
}

static void a_callback_that_fails_ends_the_pass(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fill(f);
    SCOPED(reading_fini) reading r = {.stop_at = 2};
    assert_non_null(strstr(fixture_fails(f, read_fn, &r, ERR_LIMIT), "enough"));
    assert_int_equal(r.seen, 1);
    assert_int_equal(r.got.spend.count, 0);
}

/* A failed compile, a wrong kernel, a right one that is timed twice, an answer that was none, polish. */
static void rows_of_one_try_are_one_try(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fill(f);
    for (int i = 0; i < 4; i++)
        fixture_text(f, (const char *[]){"a", "b", "c", "d"}[i]);
    fixture_exec(f, "CREATE TEMP TABLE h AS SELECT hash, row_number() OVER (ORDER BY hash) AS n "
                    "FROM artifact WHERE size = 1");
    fixture_exec(
        f, "INSERT INTO attempt (task, number, stage, source, outcome) "
           "SELECT 'more10', s.number, s.stage, (SELECT hash FROM h WHERE n = s.n), s.outcome "
           "FROM (SELECT 0 AS number, 'codegen' AS stage, 1 AS n, 'compile_failed' AS outcome "
           "UNION ALL SELECT 1, 'codegen', 2, 'ok' UNION ALL SELECT 2, 'correctness', 2, 'wrong' "
           "UNION ALL SELECT 3, 'correctness', NULL, 'no_answer' "
           "UNION ALL SELECT 4, 'correctness', 3, 'ok' "
           "UNION ALL SELECT 5, 'polish', 4, 'ok') s");
    fixture_exec(
        f, "INSERT INTO comparison (task, stage, source, purpose, verdict, baseline_mode, "
           "timing_mode, slots, pairs, processes, voids, margin, calibrated, speedup, reason) "
           "SELECT 'more10', 'performance', (SELECT hash FROM h WHERE n = 3), s.p, s.v, 'eager', "
           "'E', 1, 10, 1, 0, 0.01, 1, s.x, 'r' FROM (SELECT 'estimate' AS p, 'faster' AS v, "
           "1.5 AS x UNION ALL SELECT 'published', 'faster', 1.25 UNION ALL "
           "SELECT 'estimate', 'impossible', 99) s");
    SCOPED(reading_fini) reading r = {.seen = 0};
    fixture_do(f, read_fn, &r);
    assert_int_equal(r.attempts, 6);
    assert_int_equal(r.last.count, 4);
    assert_false(r.last.rows[0].correct || r.last.rows[1].correct || r.last.rows[2].correct);
    assert_true(r.last.rows[3].correct);
    assert_true(isnan(r.last.rows[1].speedup));
    assert_true(same_real(r.last.rows[3].speedup, 1.5));
}

/* Two kernels of one source: only the lineage tells which plan was faster. */
static void a_lineage_says_which_try_gained(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fill(f);
    fixture_text(f, "a");
    fixture_text(f, "b");
    fixture_exec(f, "INSERT INTO attempt (task, number, stage, source, plan, outcome) "
                    "SELECT 'more10', s.number, s.stage, (SELECT min(hash) FROM artifact), s.plan, "
                    "'ok' FROM (SELECT 0 AS number, 'codegen' AS stage, (SELECT min(hash) FROM "
                    "artifact) AS plan UNION ALL SELECT 1, 'correctness', (SELECT min(hash) FROM "
                    "artifact) UNION ALL SELECT 2, 'performance', (SELECT max(hash) FROM artifact) "
                    "UNION ALL SELECT 3, 'performance', (SELECT max(hash) FROM artifact)) s; "
                    "UPDATE task SET lineage = '[{\"attempt\":0,\"speedup\":1.5,\"verdict\":"
                    "\"faster\"},{\"attempt\":2,\"speedup\":2.5},{\"attempt\":2,\"speedup\":2},"
                    "{\"attempt\":0,\"speedup\":9,\"verdict\":\"impossible\"},"
                    "{\"attempt\":null,\"speedup\":7},{\"attempt\":5,\"speedup\":8}]' "
                    "WHERE id = 'more10'");
    SCOPED(reading_fini) reading r = {.seen = 0};
    fixture_do(f, read_fn, &r);
    assert_int_equal(r.last.count, 2);
    assert_true(same_real(r.last.rows[0].speedup, 1.5));
    assert_true(same_real(r.last.rows[1].speedup, 2.5));
    SCOPED(reading_fini) reading again = {.seen = 0};
    fixture_exec(f, "UPDATE task SET lineage = 'not a lineage' WHERE id = 'more10'");
    fixture_do(f, read_fn, &again);
    assert_true(isnan(again.last.rows[0].speedup));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_gives_what_the_lists_give),
        cmocka_unit_test(a_verdict_has_the_margin_of_its_comparison),
        cmocka_unit_test(models_that_answered_are_counted),
        cmocka_unit_test(rows_of_one_try_are_one_try),
        cmocka_unit_test(a_lineage_says_which_try_gained),
        cmocka_unit_test(a_callback_that_fails_ends_the_pass),
    };
    return cmocka_run_group_tests_name("score", tests, NULL, NULL);
}
