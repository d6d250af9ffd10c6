/* charge - one row a paid call; the arithmetic of what is unknown is SQL's
 *
 * SPDX-License-Identifier: MIT */
#include "store/charge.h"

#include <math.h>

#include "common/scoped.h"
#include "store/column.h"
#include "store/fence.h"

static const char *const state_names[] = {"open", "answered", "failed", "unknown", NULL};

static const column columns[] = {
    {"stage", COLUMN_TEXT, offsetof(charge_row, stage), NULL},
    {"number", COLUMN_INT, offsetof(charge_row, number), NULL},
    {"token", COLUMN_INT, offsetof(charge_row, token), NULL},
    {"provider", COLUMN_TEXT, offsetof(charge_row, provider), NULL},
    {"model", COLUMN_TEXT, offsetof(charge_row, model), NULL},
    {"worst_usd", COLUMN_REAL, offsetof(charge_row, worst_usd), NULL},
    {"state", COLUMN_CHOICE, offsetof(charge_row, state), state_names},
    {"known_usd", COLUMN_REAL, offsetof(charge_row, known_usd), NULL},
    {"unknown_usd", COLUMN_REAL, offsetof(charge_row, unknown_usd), NULL},
    {"unknown_bills", COLUMN_INT, offsetof(charge_row, unknown_bills), NULL},
    {"sent_ms", COLUMN_INT, offsetof(charge_row, sent_ms), NULL},
    {"settled_ms", COLUMN_ID, offsetof(charge_row, settled_ms), NULL},
    {0},
};

static const column spend_columns[] = {
    {"entrant", COLUMN_INT, offsetof(spend_row, entrant), NULL},
    {"stage", COLUMN_TEXT, offsetof(spend_row, stage), NULL},
    {"provider", COLUMN_TEXT, offsetof(spend_row, provider), NULL},
    {"calls", COLUMN_INT, offsetof(spend_row, calls), NULL},
    {"cost_unknown", COLUMN_INT, offsetof(spend_row, cost_unknown), NULL},
    {"tokens_in", COLUMN_INT, offsetof(spend_row, tokens_in), NULL},
    {"tokens_cache_read", COLUMN_INT, offsetof(spend_row, tokens_cache_read), NULL},
    {"tokens_cache_write", COLUMN_INT, offsetof(spend_row, tokens_cache_write), NULL},
    {"tokens_out", COLUMN_INT, offsetof(spend_row, tokens_out), NULL},
    {"latency_ms", COLUMN_REAL, offsetof(spend_row, latency_ms), NULL},
    {"cost_usd", COLUMN_REAL, offsetof(spend_row, cost_usd), NULL},
    {"unknown_calls", COLUMN_INT, offsetof(spend_row, unknown_calls), NULL},
    {"unknown_usd", COLUMN_REAL, offsetof(spend_row, unknown_usd), NULL},
    {0},
};

const char *charge_state_name(charge_state state)
{
    return state_names[state];
}

static int is_open(store_tx *tx, const char *task, const charge_row *row, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "SELECT 1 FROM charge WHERE task = ?1 AND stage = ?2 AND "
                                 "number = ?3 AND token = ?4 AND state = 'open'",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_text(s, 2, row->stage);
    db_int(s, 3, row->number);
    db_int(s, 4, row->token);
    return db_step(tx, s, e);
}

int charge_open(store_tx *tx, const char *task, const charge_row *row, int64_t now_ms, err *e)
{
    fence f;
    if (fence_check(tx, task, row->token, "paid call", now_ms, &f, e) < 0)
        return -1;
    int got = is_open(tx, task, row, e);
    if (got != 0)
        return got < 0 ? -1 : 0;
    charge_row full = *row;
    full.state = CHARGE_OPEN;
    full.known_usd = full.unknown_usd = (double)NAN;
    full.unknown_bills = 0;
    full.sent_ms = now_ms;
    full.settled_ms = 0;
    if (column_insert(tx, "charge", columns, &full, "task", task, e) < 0)
        return err_wrap(e, "charge %s %lld of task %s", row->stage, (long long)row->number, task);
    return 0;
}

/* How an open charge ends. */
typedef struct settlement {
    charge_state state;
    double known_usd;
    int64_t bills, now_ms;
} settlement;

/* worst_usd NULL makes the product NULL: unknown stays unknown. */
static int settle(store_tx *tx, const charge_key *key, const settlement *how, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "UPDATE charge SET state = ?5, known_usd = ?6, unknown_bills = ?7, settled_ms = ?8, "
        "unknown_usd = iif(?7 = 0, 0.0, ?7 * worst_usd) WHERE task = ?1 AND stage = ?2 "
        "AND number = ?3 AND token = ?4 AND state = 'open'",
        e);
    if (s == NULL)
        return -1;
    db_text(s, 1, key->task);
    db_text(s, 2, key->stage);
    db_int(s, 3, key->number);
    db_int(s, 4, key->token);
    db_text(s, 5, state_names[how->state]);
    db_real(s, 6, how->known_usd);
    db_int(s, 7, how->bills);
    db_int(s, 8, how->now_ms);
    return db_write(tx, s, e);
}

int charge_answer(store_tx *tx, const charge_key *key, double usd, int64_t unknown_bills,
                  int64_t now_ms, err *e)
{
    const settlement how = {CHARGE_ANSWERED, usd, unknown_bills + (isnan(usd) ? 1 : 0), now_ms};
    return settle(tx, key, &how, e);
}

int charge_fail(store_tx *tx, const charge_key *key, int64_t unknown_bills, int64_t now_ms, err *e)
{
    const settlement how = {CHARGE_FAILED, (double)NAN, unknown_bills, now_ms};
    return settle(tx, key, &how, e);
}

#define GIVE_UP                                                                 \
    "UPDATE charge SET state = 'unknown', unknown_bills = 2, settled_ms = ?2, " \
    "unknown_usd = 2 * worst_usd WHERE state = 'open' AND "
_Static_assert(CHARGE_BILLS_MAX == 2, "the statement above says so too");

static int give_up(store_tx *tx, const char *sql, const char *which, int64_t token, int64_t now_ms,
                   err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    db_text(s, 1, which);
    db_int(s, 2, now_ms);
    if (sqlite3_bind_parameter_count(s) > 2)
        db_int(s, 3, token);
    return db_write(tx, s, e);
}

int charge_abandon(store_tx *tx, const char *task, int64_t token, int64_t now_ms, err *e)
{
    return give_up(tx, GIVE_UP "task = ?1 AND token = ?3", task, token, now_ms, e);
}

int charge_reopen(store_tx *tx, const char *task, int64_t token, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "UPDATE charge SET state = 'open', unknown_bills = 0, unknown_usd "
                                 "= NULL, settled_ms = NULL "
                                 "WHERE task = ?1 AND token = ?2 AND state = 'unknown'",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_int(s, 2, token);
    return db_write(tx, s, e);
}

int charge_recover(store_tx *tx, const char *run, int64_t now_ms, err *e)
{
    return give_up(tx, GIVE_UP "task IN (SELECT id FROM task WHERE run = ?1)", run, 0, now_ms, e);
}

int charge_sum_read(store_tx *tx, const char *run, charge_sum *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "SELECT total(c.known_usd) + total(c.unknown_usd), total(c.state = 'unknown'), "
                   "total(c.state <> 'open' AND c.unknown_usd IS NULL) FROM task t "
                   "JOIN charge c ON c.task = t.id WHERE t.run = ?1",
                   e);
    if (s == NULL)
        return -1;
    db_text(s, 1, run);
    if (db_step(tx, s, e) < 0)
        return -1;
    *out = (charge_sum){.usd = sqlite3_column_double(s, 0),
                        .unknown = sqlite3_column_int64(s, 1),
                        .unpriced = sqlite3_column_int64(s, 2)};
    return 0;
}

static const char spend_from[] =
    "(SELECT entrant, stage, provider, sum(calls) AS calls, sum(cost_unknown) AS cost_unknown, "
    "ifnull(sum(tokens_in), 0) AS tokens_in, ifnull(sum(tokens_cache_read), 0) AS "
    "tokens_cache_read, ifnull(sum(tokens_cache_write), 0) AS tokens_cache_write, "
    "ifnull(sum(tokens_out), 0) AS tokens_out, total(latency_ms) AS latency_ms, "
    "total(cost_usd) AS cost_usd, sum(unknown_calls) AS unknown_calls, "
    "total(unknown_usd) AS unknown_usd FROM ("
    "SELECT t.entrant, c.stage, c.provider, 1 AS calls, c.cost_usd IS NULL AS cost_unknown, "
    "c.cost_usd, c.tokens_in, c.tokens_cache_read, c.tokens_cache_write, c.tokens_out, "
    "c.latency_ms, 0 AS unknown_calls, NULL AS unknown_usd "
    "FROM task t JOIN model_call c ON c.task = t.id WHERE t.run = ?1 UNION ALL "
    "SELECT t.entrant, g.stage, g.provider, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, "
    "g.state IN ('unknown', 'open'), g.unknown_usd "
    "FROM task t JOIN charge g ON g.task = t.id WHERE t.run = ?1) "
    "GROUP BY entrant, stage, provider) ORDER BY entrant, stage, provider";

int spend_list_read(store_tx *tx, const char *run, spend_list *out, err *e)
{
    column_query query = {
        .columns = spend_columns,
        .size = sizeof(spend_row),
        .from = spend_from,
        .parameters = {run},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (spend_list){got.rows, got.count};
    return 0;
}

void spend_list_fini(spend_list *self)
{
    column_rows_free(spend_columns, sizeof(spend_row), self->rows, self->count);
    *self = (spend_list){0};
}

int charge_list_read(store_tx *tx, const char *task, charge_list *out, err *e)
{
    column_query query = {
        .columns = columns,
        .size = sizeof(charge_row),
        .from = "charge WHERE task = ?1 ORDER BY sent_ms, token, stage, number",
        .parameters = {task},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (charge_list){got.rows, got.count};
    return 0;
}

void charge_list_fini(charge_list *self)
{
    column_rows_free(columns, sizeof(charge_row), self->rows, self->count);
    *self = (charge_list){0};
}
