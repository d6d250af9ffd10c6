/* call - model calls: an answer is committed before anything uses it
 *
 * SPDX-License-Identifier: MIT */
#include "store/call.h"

#include <string.h>

#include "common/scoped.h"
#include "store/charge.h"
#include "store/column.h"
#include "store/fence.h"

static const column columns[] = {
    {"stage", COLUMN_TEXT, offsetof(call_row, stage), NULL},
    {"number", COLUMN_INT, offsetof(call_row, number), NULL},
    {"provider", COLUMN_TEXT, offsetof(call_row, provider), NULL},
    {"model", COLUMN_TEXT, offsetof(call_row, model), NULL},
    {"prompt", COLUMN_HASH, offsetof(call_row, prompt), NULL},
    {"answer", COLUMN_HASH, offsetof(call_row, answer), NULL},
    {"served", COLUMN_TEXT, offsetof(call_row, served), NULL},
    {"stop", COLUMN_TEXT, offsetof(call_row, stop), NULL},
    {"tokens_in", COLUMN_COUNT, offsetof(call_row, tokens_in), NULL},
    {"tokens_out", COLUMN_COUNT, offsetof(call_row, tokens_out), NULL},
    {"tokens_cache_read", COLUMN_COUNT, offsetof(call_row, tokens_cache_read), NULL},
    {"tokens_cache_write", COLUMN_COUNT, offsetof(call_row, tokens_cache_write), NULL},
    {"cost_usd", COLUMN_REAL, offsetof(call_row, cost_usd), NULL},
    {"latency_ms", COLUMN_REAL, offsetof(call_row, latency_ms), NULL},
    {"reason", COLUMN_TEXT, offsetof(call_row, reason), NULL},
    {"record", COLUMN_HASH, offsetof(call_row, record), NULL},
    {"token", COLUMN_INT, offsetof(call_row, token), NULL},
    {"recorded_ms", COLUMN_INT, offsetof(call_row, recorded_ms), NULL},
    {0},
};

static const column usage_columns[] = {
    {"task", COLUMN_TEXT, offsetof(usage_row, task), NULL},
    {"attempts", COLUMN_INT, offsetof(usage_row, attempts), NULL},
    {"calls", COLUMN_INT, offsetof(usage_row, calls), NULL},
    {"cost_unknown", COLUMN_INT, offsetof(usage_row, cost_unknown), NULL},
    {"tokens_unknown", COLUMN_INT, offsetof(usage_row, tokens_unknown), NULL},
    {"tokens_in", COLUMN_INT, offsetof(usage_row, tokens_in), NULL},
    {"tokens_out", COLUMN_INT, offsetof(usage_row, tokens_out), NULL},
    {"tokens_cache_read", COLUMN_INT, offsetof(usage_row, tokens_cache_read), NULL},
    {"tokens_cache_write", COLUMN_INT, offsetof(usage_row, tokens_cache_write), NULL},
    {"cost_usd", COLUMN_REAL, offsetof(usage_row, cost_usd), NULL},
    {"latency_ms", COLUMN_REAL, offsetof(usage_row, latency_ms), NULL},
    {"unknown_calls", COLUMN_INT, offsetof(usage_row, unknown_calls), NULL},
    {"unknown_usd", COLUMN_REAL, offsetof(usage_row, unknown_usd), NULL},
    {0},
};

/* 1: a call is stored under this key, *record is its; 0: none. */
static int stored_record(store_tx *tx, const char *task, const call_row *row, hash *record, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx, "SELECT record FROM model_call WHERE task = ?1 AND stage = ?2 AND number = ?3", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_text(s, 2, row->stage);
    db_int(s, 3, row->number);
    int got = db_step(tx, s, e);
    if (got > 0 && !hash_parse((const char *)sqlite3_column_text(s, 0), record))
        return err_set(e, ERR_CONFIG, "task %s: the stored call has no record hash", task);
    return got;
}

int call_put(store_tx *tx, const char *task, int64_t token, const call_row *row, int64_t now_ms,
             err *e)
{
    hash stored = {0};
    int got = stored_record(tx, task, row, &stored, e);
    if (got < 0)
        return -1;
    if (got > 0)
        return hash_equal(&stored, &row->record)
                   ? 0
                   : fence_refuse(tx, task, now_ms, e,
                                  "call refused: %s %lld is recorded with another answer",
                                  row->stage, (long long)row->number);
    fence f;
    if (fence_check(tx, task, token, "call", now_ms, &f, e) < 0)
        return -1;
    call_row full = *row;
    full.token = token;
    full.recorded_ms = now_ms;
    if (column_insert(tx, "model_call", columns, &full, "task", task, e) < 0)
        return err_wrap(e, "call %s %lld of task %s", row->stage, (long long)row->number, task);
    const charge_key key = {task, row->stage, row->number, token};
    return charge_answer(tx, &key, row->cost_usd, row->unknown_bills, now_ms, e);
}

int call_list_read(store_tx *tx, const char *task, const char *stage, call_list *out, err *e)
{
    column_query query = {
        .columns = columns,
        .size = sizeof(call_row),
        .from = "model_call WHERE task = ?1 AND (?2 IS NULL OR stage = ?2) "
                "ORDER BY recorded_ms, token, stage, number",
        .parameters = {task, stage},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (call_list){got.rows, got.count};
    return 0;
}

void call_list_fini(call_list *self)
{
    column_rows_free(columns, sizeof(call_row), self->rows, self->count);
    *self = (call_list){0};
}

static const char usage_from[] =
    "(SELECT t.id AS task, count(c.task) AS calls, "
    "(SELECT count(*) FROM attempt a WHERE a.task = t.id) AS attempts, "
    "total(c.task IS NOT NULL AND c.cost_usd IS NULL) AS cost_unknown, "
    "total(c.task IS NOT NULL AND (c.tokens_in IS NULL OR c.tokens_out IS NULL)) AS "
    "tokens_unknown, "
    "total(c.tokens_in) AS tokens_in, total(c.tokens_out) AS tokens_out, "
    "total(c.tokens_cache_read) AS tokens_cache_read, "
    "total(c.tokens_cache_write) AS tokens_cache_write, "
    "total(c.cost_usd) AS cost_usd, total(c.latency_ms) AS latency_ms, "
    "(SELECT count(*) FROM charge g WHERE g.task = t.id AND g.state IN ('unknown', 'open')) "
    "AS unknown_calls, "
    "(SELECT total(unknown_usd) FROM charge g WHERE g.task = t.id) AS unknown_usd, "
    "p.position AS position, t.entrant AS entrant, t.sample AS sample FROM task t "
    "JOIN problem p ON p.run = t.run AND p.id = t.problem "
    "LEFT JOIN model_call c ON c.task = t.id "
    "WHERE t.run = ?1 AND t.kind = 'synthesize' GROUP BY t.id) ORDER BY position, entrant, sample";

/* From the calls to their tasks: tasks that have none are not looked at. */
int usage_sum_read(store_tx *tx, const char *run, usage_sum *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "SELECT count(*), total(c.cost_usd IS NULL), total(c.cost_usd) "
                                 "FROM model_call c CROSS JOIN task t ON t.id = c.task "
                                 "WHERE t.run = ?1",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, run);
    if (db_step(tx, s, e) < 0)
        return -1;
    *out = (usage_sum){.calls = sqlite3_column_int64(s, 0),
                       .cost_unknown = sqlite3_column_int64(s, 1),
                       .cost_usd = sqlite3_column_double(s, 2)};
    return 0;
}

int usage_list_read(store_tx *tx, const char *run, usage_list *out, err *e)
{
    column_query query = {
        .columns = usage_columns,
        .size = sizeof(usage_row),
        .from = usage_from,
        .parameters = {run},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (usage_list){got.rows, got.count};
    return 0;
}

void usage_list_fini(usage_list *self)
{
    column_rows_free(usage_columns, sizeof(usage_row), self->rows, self->count);
    *self = (usage_list){0};
}
