/* live - reading beside a run
 *
 * SPDX-License-Identifier: MIT */
#include "store/live.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/column.h"

static const column event_columns[] = {
    {"e.id", COLUMN_INT, offsetof(live_event, id), NULL},
    {"e.at_ms", COLUMN_INT, offsetof(live_event, at_ms), NULL},
    {"e.run", COLUMN_TEXT, offsetof(live_event, run), NULL},
    {"e.task", COLUMN_TEXT, offsetof(live_event, task), NULL},
    {"e.node", COLUMN_TEXT, offsetof(live_event, node), NULL},
    {"e.kind", COLUMN_TEXT, offsetof(live_event, kind), NULL},
    {"e.detail", COLUMN_TEXT, offsetof(live_event, detail), NULL},
    {"t.problem", COLUMN_TEXT, offsetof(live_event, problem), NULL},
    {"n.name", COLUMN_TEXT, offsetof(live_event, entrant), NULL},
    {"t.sample", COLUMN_COUNT, offsetof(live_event, sample), NULL},
    {"t.state", COLUMN_TEXT, offsetof(live_event, state), NULL},
    {"t.outcome", COLUMN_TEXT, offsetof(live_event, outcome), NULL},
    {"t.detail", COLUMN_TEXT, offsetof(live_event, outcome_detail), NULL},
    {"t.speedup", COLUMN_REAL, offsetof(live_event, speedup), NULL},
    {"t.verdict", COLUMN_TEXT, offsetof(live_event, verdict), NULL},
    {0},
};

static const column count_columns[] = {
    {"a", COLUMN_TEXT, offsetof(live_count, name), NULL},
    {"b", COLUMN_TEXT, offsetof(live_count, other), NULL},
    {"n", COLUMN_INT, offsetof(live_count, count), NULL},
    {0},
};

static const column model_columns[] = {
    {"provider", COLUMN_TEXT, offsetof(live_model, provider), NULL},
    {"model", COLUMN_TEXT, offsetof(live_model, model), NULL},
    {"count(*)", COLUMN_INT, offsetof(live_model, calls), NULL},
    {"count(*) - count(cost_usd)", COLUMN_INT, offsetof(live_model, cost_unknown), NULL},
    {"coalesce(sum(tokens_in), 0)", COLUMN_INT, offsetof(live_model, tokens_in), NULL},
    {"coalesce(sum(tokens_out), 0)", COLUMN_INT, offsetof(live_model, tokens_out), NULL},
    {"coalesce(sum(tokens_cache_read), 0)", COLUMN_INT, offsetof(live_model, tokens_cache_read),
     NULL},
    {"coalesce(sum(tokens_cache_write), 0)", COLUMN_INT, offsetof(live_model, tokens_cache_write),
     NULL},
    {"coalesce(sum(cost_usd), 0.0)", COLUMN_REAL, offsetof(live_model, cost_usd), NULL},
    {"coalesce(sum(latency_ms), 0.0)", COLUMN_REAL, offsetof(live_model, latency_ms), NULL},
    {0},
};

static const column task_columns[] = {
    {"t.id", COLUMN_TEXT, offsetof(live_task, id), NULL},
    {"t.kind", COLUMN_TEXT, offsetof(live_task, kind), NULL},
    {"t.problem", COLUMN_TEXT, offsetof(live_task, problem), NULL},
    {"n.name", COLUMN_TEXT, offsetof(live_task, entrant), NULL},
    {"t.sample", COLUMN_INT, offsetof(live_task, sample), NULL},
    {"t.node", COLUMN_TEXT, offsetof(live_task, node), NULL},
    {"(SELECT s.stage FROM stage_result s WHERE s.task = t.id ORDER BY s.position DESC LIMIT 1)",
     COLUMN_TEXT, offsetof(live_task, stage), NULL},
    {"t.error", COLUMN_TEXT, offsetof(live_task, error), NULL},
    {"l.granted_ms", COLUMN_ID, offsetof(live_task, since_ms), NULL},
    {"t.leases", COLUMN_INT, offsetof(live_task, leases), NULL},
    {0},
};

#define RECENT_EVENTS "e.id > (SELECT coalesce(max(id), 0) - 20000 FROM event)"

static const column node_columns[] = {
    {"n.name", COLUMN_TEXT, offsetof(live_node, name), NULL},
    {"n.state", COLUMN_TEXT, offsetof(live_node, state), NULL},
    {"n.devices", COLUMN_TEXT, offsetof(live_node, devices), NULL},
    {"n.joined_ms", COLUMN_INT, offsetof(live_node, joined_ms), NULL},
    {"n.seen_ms", COLUMN_INT, offsetof(live_node, seen_ms), NULL},
    {"(SELECT count(*) FROM task t WHERE t.run = ?1 AND t.state = 'leased' "
     "AND t.node = n.name)",
     COLUMN_INT, offsetof(live_node, held), NULL},
    {"s.at_ms", COLUMN_ID, offsetof(live_node, tested_ms), NULL},
    {"s.failure", COLUMN_TEXT, offsetof(live_node, failure), NULL},
    {"(SELECT e.kind || coalesce(': ' || e.detail, '') FROM event e WHERE " RECENT_EVENTS
     " AND e.node = n.name AND e.kind IN ('lost', 'returned', 'node_lost') "
     "ORDER BY e.id DESC LIMIT 1)",
     COLUMN_TEXT, offsetof(live_node, fault), NULL},
    {0},
};

static int one_number(store_tx *tx, const char *sql, int64_t *out, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    int rc = db_step(tx, s, e);
    if (rc < 0)
        return -1;
    *out = rc > 0 ? sqlite3_column_int64(s, 0) : 0;
    return 0;
}

/* ---- events ---- */

int live_newest(store_tx *tx, int64_t *id, err *e)
{
    return one_number(tx, "SELECT coalesce(max(id), 0) FROM event", id, e);
}

int live_events(store_tx *tx, int64_t after, live_event_list *out, err *e)
{
    _Static_assert(LIVE_BATCH == 1024, "the limit stands in the statement too");
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, after);
    column_query query = {
        .columns = event_columns,
        .size = sizeof(live_event),
        .from = "event e LEFT JOIN task t ON t.id = e.task LEFT JOIN entrant n ON n.id = t.entrant "
                "WHERE e.id > CAST(?1 AS INTEGER) ORDER BY e.id LIMIT 1024",
        .parameters = {number},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (live_event_list){got.rows, got.count};
    return 0;
}

void live_event_list_fini(live_event_list *self)
{
    column_rows_free(event_columns, sizeof(live_event), self->rows, self->count);
    *self = (live_event_list){0};
}

/* ---- totals ---- */

int live_count_read(store_tx *tx, live_total which, live_count_list *out, err *e)
{
    static const char *const from[] = {
        [LIVE_RESULTS] = "(SELECT r.suite AS a, t.outcome AS b, count(*) AS n FROM task t JOIN run "
                         "r ON r.id = t.run WHERE t.kind = 'synthesize' AND t.state = 'done' "
                         "GROUP BY 1, 2) ORDER BY a, b",
        [LIVE_TASKS] = "(SELECT r.suite AS a, t.state AS b, count(*) AS n FROM task t JOIN run r "
                       "ON r.id = t.run WHERE t.kind = 'synthesize' AND r.state IN "
                       "('checking', 'running', 'interrupted') GROUP BY 1, 2) ORDER BY a, b",
        [LIVE_EVENTS] =
            "(SELECT kind AS a, NULL AS b, count(*) AS n FROM event GROUP BY 1) ORDER BY a",
        [LIVE_NODES] =
            "(SELECT state AS a, NULL AS b, count(*) AS n FROM node GROUP BY 1) ORDER BY a",
        [LIVE_RUNS] =
            "(SELECT state AS a, NULL AS b, count(*) AS n FROM run GROUP BY 1) ORDER BY a",
    };
    column_query query = {
        .columns = count_columns, .size = sizeof(live_count), .from = from[which]};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (live_count_list){got.rows, got.count};
    return 0;
}

void live_count_list_fini(live_count_list *self)
{
    column_rows_free(count_columns, sizeof(live_count), self->rows, self->count);
    *self = (live_count_list){0};
}

int live_model_read(store_tx *tx, live_model_list *out, err *e)
{
    column_query query = {
        .columns = model_columns,
        .size = sizeof(live_model),
        .from = "model_call GROUP BY provider, model ORDER BY provider, model",
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (live_model_list){got.rows, got.count};
    return 0;
}

void live_model_list_fini(live_model_list *self)
{
    column_rows_free(model_columns, sizeof(live_model), self->rows, self->count);
    *self = (live_model_list){0};
}

int live_last_complete(store_tx *tx, int64_t *finished_ms, err *e)
{
    return one_number(tx, "SELECT coalesce(max(finished_ms), 0) FROM run WHERE state = 'complete'",
                      finished_ms, e);
}

const double live_bucket_s[LIVE_BUCKETS] = {0.1, 0.5, 1, 5, 10, 30, 60, 300, 1200, 3600};

int live_durations_read(store_tx *tx, live_durations *out, err *e)
{
    _Static_assert(LIVE_BUCKETS == 10, "the ends stand in the statement too");
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "SELECT count(*), coalesce(sum(wall_ms), 0.0), sum(wall_ms <= 100), sum(wall_ms <= 500), "
        "sum(wall_ms <= 1e3), sum(wall_ms <= 5e3), sum(wall_ms <= 1e4), sum(wall_ms <= 3e4), "
        "sum(wall_ms <= 6e4), sum(wall_ms <= 3e5), sum(wall_ms <= 1.2e6), sum(wall_ms <= 3.6e6) "
        "FROM task WHERE kind = 'synthesize' AND state = 'done' AND wall_ms IS NOT NULL",
        e);
    if (s == NULL || db_step(tx, s, e) < 0)
        return -1;
    out->count = sqlite3_column_int64(s, 0);
    out->sum_ms = sqlite3_column_double(s, 1);
    for (int i = 0; i < LIVE_BUCKETS; i++)
        out->below[i] = sqlite3_column_int64(s, 2 + i);
    return 0;
}

/* ---- one run ---- */

int live_working(store_tx *tx, char **run, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "SELECT e.run FROM event e WHERE " RECENT_EVENTS
                                 " AND e.kind = 'granted' ORDER BY e.id DESC LIMIT 1",
                                 e);
    int got = s == NULL ? -1 : db_step(tx, s, e);
    if (got < 0)
        return -1;
    *run = got > 0 ? xstrdup((const char *)sqlite3_column_text(s, 0)) : NULL;
    return 0;
}

int live_tally_read(store_tx *tx, const char *run, live_tally *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "SELECT sum(state = 'waiting'), sum(state = 'leased'), sum(kind = 'contract'), "
                   "sum(kind = 'contract' AND state = 'done'), sum(kind = 'synthesize'), "
                   "sum(kind = 'synthesize' AND state = 'done'), "
                   "sum(kind = 'synthesize' AND state = 'done' AND outcome = 'ok'), "
                   "sum(kind = 'synthesize' AND state = 'failed') FROM task WHERE run = ?1",
                   e);
    if (s == NULL)
        return -1;
    db_text(s, 1, run);
    if (db_step(tx, s, e) < 0)
        return -1;
    int64_t *const into[] = {&out->waiting, &out->leased, &out->contracts, &out->contracts_done,
                             &out->planned, &out->done,   &out->correct,   &out->failed};
    for (int i = 0; i < (int)(sizeof into / sizeof into[0]); i++)
        *into[i] = sqlite3_column_int64(s, i); /* NULL, of no rows, is 0 */
    return 0;
}

/* The state is a literal: only then does the index of leased tasks serve. */
#define TASKS_OF(state)                                                                      \
    "task t LEFT JOIN entrant n ON n.id = t.entrant LEFT JOIN lease l ON l.task = t.id AND " \
    "l.token = t.token WHERE t.run = ?1 AND t.state = '" state "' ORDER BY t.rowid LIMIT 256"

static int read_tasks(store_tx *tx, const char *from, const char *run, live_task_list *out, err *e)
{
    _Static_assert(LIVE_TASKS_MAX == 256, "the limit stands in the statements too");
    column_query query = {
        .columns = task_columns, .size = sizeof(live_task), .from = from, .parameters = {run}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (live_task_list){got.rows, got.count};
    return 0;
}

int live_running(store_tx *tx, const char *run, live_task_list *out, err *e)
{
    return read_tasks(tx, TASKS_OF("leased"), run, out, e);
}

int live_waiting(store_tx *tx, const char *run, live_task_list *out, err *e)
{
    return read_tasks(tx, TASKS_OF("waiting"), run, out, e);
}

void live_task_list_fini(live_task_list *self)
{
    column_rows_free(task_columns, sizeof(live_task), self->rows, self->count);
    *self = (live_task_list){0};
}

int live_nodes(store_tx *tx, const char *run, live_node_list *out, err *e)
{
    _Static_assert(LIVE_EVENTS_BACK == 20000, "it stands in the statements too");
    column_query query = {
        .columns = node_columns,
        .size = sizeof(live_node),
        .from = "node n LEFT JOIN selftest s ON s.id = (SELECT max(x.id) FROM selftest x WHERE "
                "x.node = n.name) WHERE n.state = 'up' OR n.seen_ms >= (SELECT created_ms FROM run "
                "WHERE id = ?1) ORDER BY n.state <> 'up', n.name",
        .parameters = {run},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (live_node_list){got.rows, got.count};
    return 0;
}

void live_node_list_fini(live_node_list *self)
{
    column_rows_free(node_columns, sizeof(live_node), self->rows, self->count);
    *self = (live_node_list){0};
}

/* The oldest of the results only says since when. */
int live_pace_read(store_tx *tx, const char *run, live_pace *out, err *e)
{
    _Static_assert(LIVE_PACE_MAX == 64, "one more stands in the statement");
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "SELECT count(*) - 1, min(at_ms) FROM (SELECT e.at_ms AS at_ms FROM event e JOIN task t ON "
        "t.id = e.task WHERE e.run = ?1 AND e.kind = 'done' AND t.kind = 'synthesize' "
        "ORDER BY e.id DESC LIMIT 65)",
        e);
    if (s == NULL)
        return -1;
    db_text(s, 1, run);
    if (db_step(tx, s, e) < 0)
        return -1;
    *out = (live_pace){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
    if (out->results < 0)
        out->results = 0;
    return 0;
}
