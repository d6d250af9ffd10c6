/* run - runs: what was asked, and how far it came
 *
 * SPDX-License-Identifier: MIT */
#include "store/run.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/find.h"

static const char *const state_names[] = {"checking",   "running", "interrupted", "complete",
                                          "incomplete", "failed",  NULL};

static const char *const kind_names[] = {"eval", "validate", NULL};

static const column run_columns[] = {
    {"id", COLUMN_TEXT, offsetof(run_row, id), NULL},
    {"created_ms", COLUMN_INT, offsetof(run_row, created_ms), NULL},
    {"finished_ms", COLUMN_ID, offsetof(run_row, finished_ms), NULL},
    {"state", COLUMN_CHOICE, offsetof(run_row, state), state_names},
    {"kind", COLUMN_CHOICE, offsetof(run_row, kind), kind_names},
    {"suite", COLUMN_TEXT, offsetof(run_row, suite), NULL},
    {"suite_version", COLUMN_TEXT, offsetof(run_row, suite_version), NULL},
    {"suite_hash", COLUMN_HASH, offsetof(run_row, suite_hash), NULL},
    {"device", COLUMN_TEXT, offsetof(run_row, device), NULL},
    {"seed", COLUMN_INT, offsetof(run_row, seed), NULL},
    {"samples", COLUMN_INT, offsetof(run_row, samples), NULL},
    {"correct_protocol", COLUMN_TEXT, offsetof(run_row, correct_protocol), NULL},
    {"timing_protocol", COLUMN_TEXT, offsetof(run_row, timing_protocol), NULL},
    {"settings", COLUMN_TEXT, offsetof(run_row, settings), NULL},
    {"command", COLUMN_TEXT, offsetof(run_row, command), NULL},
    {"version", COLUMN_TEXT, offsetof(run_row, version), NULL},
    {"budget_usd", COLUMN_AMOUNT, offsetof(run_row, budget_usd), NULL},
    {"redacted_ms", COLUMN_ID, offsetof(run_row, redacted_ms), NULL},
    {"opened", COLUMN_INT, offsetof(run_row, opened), NULL},
    {0},
};

static const column entrant_columns[] = {
    {"id", COLUMN_ID, offsetof(entrant_row, id), NULL},
    {"run", COLUMN_TEXT, offsetof(entrant_row, run), NULL},
    {"name", COLUMN_TEXT, offsetof(entrant_row, name), NULL},
    {"models", COLUMN_TEXT, offsetof(entrant_row, models), NULL},
    {0},
};

static const column problem_columns[] = {
    {"run", COLUMN_TEXT, offsetof(problem_row, run), NULL},
    {"id", COLUMN_TEXT, offsetof(problem_row, id), NULL},
    {"position", COLUMN_INT, offsetof(problem_row, position), NULL},
    {"title", COLUMN_TEXT, offsetof(problem_row, title), NULL},
    {"category", COLUMN_TEXT, offsetof(problem_row, category), NULL},
    {"dtype", COLUMN_TEXT, offsetof(problem_row, dtype), NULL},
    {"contract", COLUMN_TEXT, offsetof(problem_row, contract), NULL},
    {"contract_hash", COLUMN_HASH, offsetof(problem_row, contract_hash), NULL},
    {"prompt", COLUMN_HASH, offsetof(problem_row, prompt), NULL},
    {"reference", COLUMN_HASH, offsetof(problem_row, reference), NULL},
    {"gold_source", COLUMN_HASH, offsetof(problem_row, gold_source), NULL},
    {"gold_plan", COLUMN_HASH, offsetof(problem_row, gold_plan), NULL},
    {0},
};

bool run_state_is_open(run_state state)
{
    return state == RUN_CHECKING || state == RUN_RUNNING;
}

const char *run_state_name(run_state state)
{
    return state_names[state];
}

int run_insert(store_tx *tx, const run_row *row, err *e)
{
    if (column_insert(tx, "run", run_columns, row, NULL, NULL, e) < 0)
        return err_wrap(e, "run %s", row->id);
    return 0;
}

int run_set_state(store_tx *tx, const char *id, run_state state, int64_t now_ms, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx, "UPDATE run SET state = ?2, finished_ms = max(created_ms, ?3) WHERE id = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, id);
    db_text(s, 2, state_names[state]);
    if (state >= RUN_COMPLETE)
        db_int(s, 3, now_ms);
    if (db_write(tx, s, e) < 0)
        return -1;
    if (db_changed(tx) == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no run %s", id);
    event_row event = {.at_ms = now_ms, .run = id, .kind = "run", .detail = state_names[state]};
    return event_add(tx, &event, e);
}

int run_set_budget(store_tx *tx, const char *id, double usd, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "UPDATE run SET budget_usd = ?2 WHERE id = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, id);
    if (usd > 0)
        db_real(s, 2, usd);
    return db_write(tx, s, e);
}

static int change_where(store_tx *tx, const char *sql, const char *id, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    db_text(s, 1, id);
    return db_write(tx, s, e);
}

int run_count_opening(store_tx *tx, const char *id, err *e)
{
    return change_where(tx, "UPDATE run SET opened = opened + 1 WHERE id = ?1", id, e);
}

int run_delete(store_tx *tx, const char *id, err *e)
{
    if (change_where(tx, "DELETE FROM event WHERE run = ?1", id, e) < 0 ||
        change_where(tx, "DELETE FROM task WHERE run = ?1", id, e) < 0 ||
        change_where(tx, "DELETE FROM run WHERE id = ?1", id, e) < 0)
        return err_wrap(e, "run %s", id);
    if (db_changed(tx) == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no run %s", id);
    return 0;
}

int run_find(store_tx *tx, const char *text, run_row *out, err *e)
{
    SCOPED(scoped_free) char *id = NULL;
    if (find_id(tx, "run", text, &id, e) < 0)
        return -1;
    column_query query = {run_columns, sizeof(run_row), "run WHERE id = ?1", {id, NULL}};
    return column_first(tx, &query, out, "such run", e);
}

int run_list_read(store_tx *tx, run_list *out, err *e)
{
    column_query query = {
        run_columns, sizeof(run_row), "run ORDER BY created_ms DESC, id DESC", {NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (run_list){got.rows, got.count};
    return 0;
}

int run_list_newest(store_tx *tx, const char *before, size_t max, run_list *out, err *e)
{
    SCOPED(scoped_free) char *limit = xasprintf("%zu", max);
    column_query query = {
        run_columns,
        sizeof(run_row),
        "run WHERE ?1 IS NULL OR (created_ms, id) < (SELECT created_ms, id FROM run WHERE id = ?1) "
        "ORDER BY created_ms DESC, id DESC LIMIT CAST(?2 AS INTEGER)",
        {before, limit}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (run_list){got.rows, got.count};
    return 0;
}

int run_count(store_tx *tx, const char *id, run_counts *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "SELECT count(*), sum(state = 'waiting'), sum(state = 'leased'), sum(state = 'done'), "
        "sum(state = 'failed'), "
        "sum(state = 'done' AND outcome NOT IN ('not_run', 'unsupported_on_emu')) "
        "FROM task WHERE run = ?1 AND kind = 'synthesize'",
        e);
    if (s == NULL)
        return -1;
    db_text(s, 1, id);
    if (db_step(tx, s, e) < 0)
        return -1;
    *out = (run_counts){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
                        sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3),
                        sqlite3_column_int64(s, 4), sqlite3_column_int64(s, 5)};
    return 0;
}

void run_row_fini(run_row *self)
{
    column_free(run_columns, self);
}

void run_list_fini(run_list *self)
{
    column_rows_free(run_columns, sizeof(run_row), self->rows, self->count);
    *self = (run_list){0};
}

int entrant_insert(store_tx *tx, const entrant_row *row, int64_t *id, err *e)
{
    entrant_row fresh = *row;
    fresh.id = 0; /* NULL: SQLite numbers it */
    if (column_insert(tx, "entrant", entrant_columns, &fresh, NULL, NULL, e) < 0)
        return err_wrap(e, "entrant %s", row->name);
    *id = sqlite3_last_insert_rowid(tx->db);
    return 0;
}

int entrant_list_read(store_tx *tx, const char *run, entrant_list *out, err *e)
{
    column_query query = {
        entrant_columns, sizeof(entrant_row), "entrant WHERE run = ?1 ORDER BY id", {run, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (entrant_list){got.rows, got.count};
    return 0;
}

void entrant_list_fini(entrant_list *self)
{
    column_rows_free(entrant_columns, sizeof(entrant_row), self->rows, self->count);
    *self = (entrant_list){0};
}

int problem_insert(store_tx *tx, const problem_row *row, err *e)
{
    if (column_insert(tx, "problem", problem_columns, row, NULL, NULL, e) < 0)
        return err_wrap(e, "problem %s", row->id);
    return 0;
}

int problem_list_read(store_tx *tx, const char *run, problem_list *out, err *e)
{
    column_query query = {problem_columns,
                          sizeof(problem_row),
                          "problem WHERE run = ?1 ORDER BY position",
                          {run, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (problem_list){got.rows, got.count};
    return 0;
}

void problem_list_fini(problem_list *self)
{
    column_rows_free(problem_columns, sizeof(problem_row), self->rows, self->count);
    *self = (problem_list){0};
}
