/* test_live - events after one, totals over everything
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "store/event.h"
#include "store/live.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

static int read_newest(store_tx *tx, void *arg, err *e)
{
    return live_newest(tx, arg, e);
}

typedef struct asking {
    int64_t after;
    live_event_list events;
} asking;

static int read_events(store_tx *tx, void *arg, err *e)
{
    asking *a = arg;
    return live_events(tx, a->after, &a->events, e);
}

static int grant(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    return task_grant(tx, "task2", "node-a", 1, 5000, e);
}

static void an_event_comes_with_the_task_it_is_about(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    asking a = {.after = 0};
    fixture_do(f, read_newest, &a.after);
    fixture_do(f, grant, NULL);
    fixture_exec(f, "INSERT INTO event (at_ms, node, kind) VALUES (6000, 'node-b', 'node_up')");
    fixture_do(f, read_events, &a);
    assert_int_equal(a.events.count, 2);
    const live_event *first = &a.events.rows[0], *second = &a.events.rows[1];
    assert_true(first->id == a.after + 1 && second->id == a.after + 2);
    assert_string_equal(first->kind, "granted");
    assert_string_equal(first->problem, "sum");
    assert_string_equal(first->entrant, "gold");
    assert_string_equal(first->state, "leased");
    assert_int_equal(first->sample, 0);
    assert_null(first->outcome);
    assert_string_equal(second->node, "node-b");
    assert_null(second->task);
    assert_int_equal(second->sample, -1);
    live_event_list_fini(&a.events);
}

static void a_batch_has_an_end(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, "INSERT INTO event (at_ms, kind) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                    "SELECT i + 1 FROM n WHERE i < 1500) SELECT i, 'run' FROM n");
    asking a = {.after = 100};
    fixture_do(f, read_events, &a);
    assert_int_equal(a.events.count, LIVE_BATCH);
    assert_int_equal(a.events.rows[0].id, 101);
    live_event_list_fini(&a.events);
}

typedef struct counting {
    live_total which;
    live_count_list list;
} counting;

static int read_counts(store_tx *tx, void *arg, err *e)
{
    counting *c = arg;
    return live_count_read(tx, c->which, &c->list, e);
}

static void totals_are_grouped_by_what_labels_them(void **state)
{
    (void)state;
    static const struct {
        live_total which;
        const char *name, *other;
        int64_t count;
    } rows[] = {
        {LIVE_RESULTS, "internal", "ok", 1}, {LIVE_TASKS, "internal", "done", 1},
        {LIVE_EVENTS, "node_up", NULL, 2},   {LIVE_NODES, "up", NULL, 1},
        {LIVE_RUNS, "running", NULL, 1},
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(f,
                 "UPDATE task SET state = 'done', outcome = 'ok', reason = 'x' WHERE id = 'task1'");
    fixture_exec(f, "DELETE FROM event");
    fixture_exec(f, "INSERT INTO event (at_ms, kind) VALUES (1, 'node_up'), (2, 'node_up')");
    fixture_exec(f, "INSERT INTO node VALUES ('n', 'i', '[]', '{}', 1, 1, 'up')");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        counting c = {.which = rows[i].which};
        fixture_do(f, read_counts, &c);
        const live_count *first = &c.list.rows[0];
        assert_string_equal(first->name, rows[i].name);
        assert_true(rows[i].other != NULL ? strcmp(first->other, rows[i].other) == 0
                                          : first->other == NULL);
        assert_int_equal(first->count, rows[i].count);
        live_count_list_fini(&c.list);
    }
}

static int read_models(store_tx *tx, void *arg, err *e)
{
    return live_model_read(tx, arg, e);
}

static void an_unknown_cost_is_counted_and_not_summed(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(
        f,
        "INSERT INTO model_call (task, stage, number, provider, model, stop, tokens_in, "
        "cost_usd, latency_ms, record, token, recorded_ms) SELECT 'task1', 'codegen', v.n, "
        "'openai', "
        "'m', 'ok', 10, v.cost, 500.0, (SELECT hash FROM artifact LIMIT 1), 1, 1 FROM (SELECT 0 AS "
        "n, 0.25 AS cost UNION ALL SELECT 1, NULL) v");
    live_model_list models = {0};
    fixture_do(f, read_models, &models);
    assert_int_equal(models.count, 1);
    assert_int_equal(models.rows[0].calls, 2);
    assert_int_equal(models.rows[0].cost_unknown, 1);
    assert_int_equal(models.rows[0].tokens_in, 20);
    assert_true(models.rows[0].cost_usd == 0.25 && models.rows[0].latency_ms == 1000.0);
    live_model_list_fini(&models);
}

static int read_durations(store_tx *tx, void *arg, err *e)
{
    return live_durations_read(tx, arg, e);
}

static int read_last(store_tx *tx, void *arg, err *e)
{
    return live_last_complete(tx, arg, e);
}

static void durations_fall_into_every_bucket_that_holds_them(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    live_durations d = {.count = -1};
    int64_t last = -1;
    fixture_do(f, read_durations, &d);
    fixture_do(f, read_last, &last);
    assert_true(d.count == 0 && d.sum_ms == 0 && last == 0); /* an empty database */
    fixture_seed(f);
    fixture_exec(f,
                 "UPDATE task SET state = 'done', outcome = 'wrong', reason = 'x', wall_ms = CASE "
                 "id WHEN 'task1' THEN 100.0 ELSE 4e6 END");
    fixture_exec(f, "UPDATE run SET state = 'complete', finished_ms = 9000");
    fixture_do(f, read_durations, &d);
    fixture_do(f, read_last, &last);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.below[0], 1); /* its upper end is in it */
    assert_int_equal(d.below[LIVE_BUCKETS - 1], 1);
    assert_true(d.sum_ms == 4000100.0 && last == 9000);
}

/* ---- one run ---- */

typedef struct run_view {
    char *working;
    live_tally tally;
    live_task_list running, waiting;
    live_node_list nodes;
    live_pace pace;
} run_view;

static int read_run(store_tx *tx, void *arg, err *e)
{
    run_view *v = arg;
    return live_working(tx, &v->working, e) < 0 || live_tally_read(tx, "run1", &v->tally, e) < 0 ||
                   live_running(tx, "run1", &v->running, e) < 0 ||
                   live_waiting(tx, "run1", &v->waiting, e) < 0 ||
                   live_nodes(tx, "run1", &v->nodes, e) < 0 ||
                   live_pace_read(tx, "run1", &v->pace, e) < 0
               ? -1
               : 0;
}

static void run_view_fini(run_view *v)
{
    free(v->working);
    live_task_list_fini(&v->running);
    live_task_list_fini(&v->waiting);
    live_node_list_fini(&v->nodes);
}

static void nothing_of_a_run_that_has_not_begun(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(run_view_fini) run_view none = {0};
    fixture_do(f, read_run, &none); /* not even the run */
    assert_null(none.working);
    assert_int_equal(none.tally.planned, 0);
    SCOPED(run_view_fini) run_view v = {0};
    fixture_seed(f);
    fixture_do(f, read_run, &v);
    assert_null(v.working);
    assert_int_equal(v.tally.planned, 2);
    assert_int_equal(v.tally.waiting, 2);
    assert_int_equal(v.running.count, 0);
    assert_int_equal(v.waiting.count, 2);
    assert_string_equal(v.waiting.rows[0].problem, "add");
    assert_string_equal(v.waiting.rows[0].entrant, "gold");
    assert_int_equal(v.waiting.rows[0].since_ms, 0);
    assert_int_equal(v.nodes.count, 0);
    assert_int_equal(v.pace.results, 0);
}

static void a_run_at_work_is_seen_with_its_nodes(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(
        f, "INSERT INTO node (name, instance, devices, software, joined_ms, seen_ms, state) VALUES "
           "('b', 'i', '[]', '{}', 900, 900, 'up'), ('a', 'i', '[1]', '{}', 2000, 2500, 'lost'), "
           "('old', 'i', '[]', '{}', 100, 500, 'left'), ('node-a', 'i', '[]', '{}', 3000, 3000, "
           "'up')");
    fixture_exec(
        f, "INSERT INTO event (at_ms, node, kind, detail) VALUES (2400, 'a', 'returned', 'x'), "
           "(2500, 'a', 'node_lost', NULL)");
    fixture_exec(
        f,
        "INSERT INTO selftest (at_ms, node, device_uuid, device, device_kind, driver, torch, "
        "version, "
        "protocol, quick, passed, failure, wall_s) VALUES (1, 'b', 'u', 'd', 'cuda', '1', '2', "
        "'3', "
        "'p', 1, 1, NULL, 1.0), (2, 'b', 'u', 'd', 'cuda', '1', '2', '3', 'p', 1, 0, 'slow', 1.0)");
    fixture_do(f, grant, NULL);
    SCOPED(run_view_fini) run_view v = {0};
    fixture_do(f, read_run, &v);
    assert_string_equal(v.working, "run1");
    assert_int_equal(v.tally.leased, 1);
    assert_int_equal(v.running.count, 1);
    assert_string_equal(v.running.rows[0].problem, "sum");
    assert_string_equal(v.running.rows[0].node, "node-a");
    assert_int_equal(v.running.rows[0].since_ms, 5000);
    assert_int_equal(v.running.rows[0].leases, 1);
    assert_int_equal(v.waiting.count, 1);
    assert_int_equal(v.nodes.count, 3); /* `old` was gone before the run began */
    assert_string_equal(v.nodes.rows[0].name, "b");
    assert_string_equal(v.nodes.rows[0].failure, "slow");
    assert_int_equal(v.nodes.rows[0].tested_ms, 2);
    assert_int_equal(v.nodes.rows[1].held, 1);
    assert_string_equal(v.nodes.rows[2].state, "lost");
    assert_string_equal(v.nodes.rows[2].fault, "node_lost");
    assert_int_equal(v.nodes.rows[2].tested_ms, 0);
}

static void the_pace_is_that_of_the_newest_results(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(f, "INSERT INTO event (at_ms, run, task, kind) WITH RECURSIVE n(i) AS (SELECT 1 "
                    "UNION ALL SELECT "
                    "i + 1 FROM n WHERE i < 100) SELECT i * 10, 'run1', 'task1', 'done' FROM n");
    SCOPED(run_view_fini) run_view v = {0};
    fixture_do(f, read_run, &v);
    assert_int_equal(v.pace.results, LIVE_PACE_MAX);
    assert_int_equal(v.pace.since_ms, (100 - LIVE_PACE_MAX) * 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_comes_with_the_task_it_is_about),
        cmocka_unit_test(a_batch_has_an_end),
        cmocka_unit_test(totals_are_grouped_by_what_labels_them),
        cmocka_unit_test(an_unknown_cost_is_counted_and_not_summed),
        cmocka_unit_test(durations_fall_into_every_bucket_that_holds_them),
        cmocka_unit_test(nothing_of_a_run_that_has_not_begun),
        cmocka_unit_test(a_run_at_work_is_seen_with_its_nodes),
        cmocka_unit_test(the_pace_is_that_of_the_newest_results),
    };
    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
