/* stage - finished stages: checkpoints that no lease repeats
 *
 * SPDX-License-Identifier: MIT */
#include "store/stage.h"

#include <string.h>

#include "common/scoped.h"
#include "store/column.h"
#include "store/fence.h"

static const column stage_columns[] = {
    {"stage", COLUMN_TEXT, offsetof(stage_row, stage), NULL},
    {"position", COLUMN_INT, offsetof(stage_row, position), NULL},
    {"status", COLUMN_TEXT, offsetof(stage_row, status), NULL},
    {"outcome", COLUMN_OUTCOME, offsetof(stage_row, result), NULL},
    {"detail", COLUMN_TEXT, offsetof(stage_row, detail), NULL},
    {"text", COLUMN_TEXT, offsetof(stage_row, text), NULL},
    {"notes", COLUMN_TEXT, offsetof(stage_row, notes), NULL},
    {"record", COLUMN_HASH, offsetof(stage_row, record), NULL},
    {"wall_ms", COLUMN_REAL, offsetof(stage_row, wall_ms), NULL},
    {"device_ms", COLUMN_REAL, offsetof(stage_row, device_ms), NULL},
    {"calls", COLUMN_INT, offsetof(stage_row, calls), NULL},
    {"token", COLUMN_INT, offsetof(stage_row, token), NULL},
    {"finished_ms", COLUMN_INT, offsetof(stage_row, finished_ms), NULL},
    {0},
};

static const column attempt_columns[] = {
    {"number", COLUMN_INT, offsetof(attempt_row, number), NULL},
    {"stage", COLUMN_TEXT, offsetof(attempt_row, stage), NULL},
    {"source", COLUMN_HASH, offsetof(attempt_row, source), NULL},
    {"plan", COLUMN_HASH, offsetof(attempt_row, plan), NULL},
    {"log", COLUMN_HASH, offsetof(attempt_row, log), NULL},
    {"report", COLUMN_HASH, offsetof(attempt_row, report), NULL},
    {"outcome", COLUMN_OUTCOME, offsetof(attempt_row, result), NULL},
    {"detail", COLUMN_TEXT, offsetof(attempt_row, detail), NULL},
    {"text", COLUMN_TEXT, offsetof(attempt_row, text), NULL},
    {"compile_ms", COLUMN_REAL, offsetof(attempt_row, compile_ms), NULL},
    {"registers", COLUMN_COUNT, offsetof(attempt_row, registers), NULL},
    {"local_bytes", COLUMN_COUNT, offsetof(attempt_row, local_bytes), NULL},
    {0},
};

static const column measurement_columns[] = {
    {"stage", COLUMN_TEXT, offsetof(measurement_row, stage), NULL},
    {"side", COLUMN_TEXT, offsetof(measurement_row, side), NULL},
    {"mode", COLUMN_TEXT, offsetof(measurement_row, mode), NULL},
    {"shape", COLUMN_TEXT, offsetof(measurement_row, shape), NULL},
    {"median_ms", COLUMN_REAL, offsetof(measurement_row, median_ms), NULL},
    {"reason", COLUMN_TEXT, offsetof(measurement_row, reason), NULL},
    {"samples", COLUMN_HASH, offsetof(measurement_row, samples), NULL},
    {"sample_count", COLUMN_INT, offsetof(measurement_row, sample_count), NULL},
    {"slots", COLUMN_INT, offsetof(measurement_row, slots), NULL},
    {"l2", COLUMN_TEXT, offsetof(measurement_row, l2), NULL},
    {"event_floor_ms", COLUMN_REAL, offsetof(measurement_row, event_floor_ms), NULL},
    {"winner", COLUMN_BOOL, offsetof(measurement_row, winner), NULL},
    {0},
};

static const column comparison_columns[] = {
    {"stage", COLUMN_TEXT, offsetof(comparison_row, stage), NULL},
    {"source", COLUMN_HASH, offsetof(comparison_row, source), NULL},
    {"plan", COLUMN_HASH, offsetof(comparison_row, plan), NULL},
    {"purpose", COLUMN_TEXT, offsetof(comparison_row, purpose), NULL},
    {"verdict", COLUMN_TEXT, offsetof(comparison_row, verdict), NULL},
    {"reason", COLUMN_TEXT, offsetof(comparison_row, reason), NULL},
    {"baseline_mode", COLUMN_TEXT, offsetof(comparison_row, baseline_mode), NULL},
    {"timing_mode", COLUMN_TEXT, offsetof(comparison_row, timing_mode), NULL},
    {"slots", COLUMN_INT, offsetof(comparison_row, slots), NULL},
    {"pairs", COLUMN_INT, offsetof(comparison_row, pairs), NULL},
    {"processes", COLUMN_INT, offsetof(comparison_row, processes), NULL},
    {"voids", COLUMN_INT, offsetof(comparison_row, voids), NULL},
    {"speedup", COLUMN_REAL, offsetof(comparison_row, speedup), NULL},
    {"ci_low", COLUMN_REAL, offsetof(comparison_row, ci_low), NULL},
    {"ci_high", COLUMN_REAL, offsetof(comparison_row, ci_high), NULL},
    {"serial", COLUMN_REAL, offsetof(comparison_row, serial), NULL},
    {"between_p", COLUMN_REAL, offsetof(comparison_row, between), NULL},
    {"margin", COLUMN_REAL, offsetof(comparison_row, margin), NULL},
    {"calibrated", COLUMN_BOOL, offsetof(comparison_row, calibrated), NULL},
    {"candidate_ms", COLUMN_REAL, offsetof(comparison_row, candidate_ms), NULL},
    {"baseline_ms", COLUMN_REAL, offsetof(comparison_row, baseline_ms), NULL},
    {"floor_ms", COLUMN_REAL, offsetof(comparison_row, floor_ms), NULL},
    {"raw", COLUMN_HASH, offsetof(comparison_row, raw), NULL},
    {"gain", COLUMN_REAL, offsetof(comparison_row, gain), NULL},
    {"kept", COLUMN_BOOL, offsetof(comparison_row, kept), NULL},
    {"profile", COLUMN_TEXT, offsetof(comparison_row, profile), NULL},
    {0},
};

typedef struct stored_stage {
    int64_t token;
    hash record;
} stored_stage;

static int stored(store_tx *tx, const char *task, const char *stage, stored_stage *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "SELECT token, record FROM stage_result WHERE task = ?1 AND stage = ?2", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_text(s, 2, stage);
    int got = db_step(tx, s, e);
    if (got <= 0)
        return got;
    out->token = sqlite3_column_int64(s, 0);
    if (!hash_parse((const char *)sqlite3_column_text(s, 1), &out->record))
        return err_set(e, ERR_CONFIG, "task %s: stored stage %s has no record hash", task, stage);
    return 1;
}

static int refuse_other(store_tx *tx, const char *task, const stage_row *row, int64_t now_ms,
                        err *e)
{
    return fence_refuse(tx, task, now_ms, e, "stage refused: %s is recorded differently",
                        row->stage);
}

static int next_position(store_tx *tx, const char *task, int64_t *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT count(*) FROM stage_result WHERE task = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    if (db_step(tx, s, e) < 0)
        return -1;
    *out = sqlite3_column_int64(s, 0);
    return 0;
}

static int put_children(store_tx *tx, const char *task, const stage_row *row, err *e)
{
    for (size_t i = 0; i < row->attempt_count; i++)
        if (column_insert(tx, "attempt", attempt_columns, &row->attempts[i], "task", task, e) < 0)
            return err_wrap(e, "attempt %lld", (long long)row->attempts[i].number);
    for (size_t i = 0; i < row->measurement_count; i++) {
        measurement_row m = row->measurements[i];
        m.stage = row->stage;
        if (column_insert(tx, "measurement", measurement_columns, &m, "task", task, e) < 0)
            return err_wrap(e, "measurement %s %s", m.side, m.mode);
    }
    for (size_t i = 0; i < row->comparison_count; i++) {
        comparison_row c = row->comparisons[i];
        c.stage = row->stage;
        if (column_insert(tx, "comparison", comparison_columns, &c, "task", task, e) < 0)
            return err_wrap(e, "comparison %zu", i);
    }
    return 0;
}

static int insert(store_tx *tx, const char *task, const stage_row *row, err *e)
{
    stage_row full = *row;
    if (next_position(tx, task, &full.position, e) < 0 ||
        column_insert(tx, "stage_result", stage_columns, &full, "task", task, e) < 0)
        return -1;
    return put_children(tx, task, row, e);
}

int stage_put(store_tx *tx, const char *task, int64_t token, const stage_row *row, int64_t now_ms,
              err *e)
{
    stored_stage old = {0};
    int got = stored(tx, task, row->stage, &old, e);
    if (got < 0)
        return -1;
    if (got > 0 && old.token == token)
        return hash_equal(&old.record, &row->record) ? 0 : refuse_other(tx, task, row, now_ms, e);
    fence f;
    if (fence_check(tx, task, token, "stage", now_ms, &f, e) < 0)
        return -1;
    if (got > 0)
        return refuse_other(tx, task, row, now_ms, e);
    stage_row full = *row;
    full.token = token;
    full.finished_ms = now_ms;
    if (insert(tx, task, &full, e) < 0)
        return err_wrap(e, "stage %s of task %s", row->stage, task);
    return 0;
}

/* ---- reading ---- */

int stage_list_read(store_tx *tx, const char *task, stage_list *out, err *e)
{
    column_query query = {stage_columns,
                          sizeof(stage_row),
                          "stage_result WHERE task = ?1 ORDER BY position",
                          {task, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (stage_list){got.rows, got.count};
    return 0;
}

int attempt_list_read(store_tx *tx, const char *task, attempt_list *out, err *e)
{
    column_query query = {attempt_columns,
                          sizeof(attempt_row),
                          "attempt WHERE task = ?1 ORDER BY number",
                          {task, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (attempt_list){got.rows, got.count};
    return 0;
}

int measurement_list_read(store_tx *tx, const char *task, measurement_list *out, err *e)
{
    column_query query = {measurement_columns,
                          sizeof(measurement_row),
                          "measurement WHERE task = ?1 ORDER BY id",
                          {task, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (measurement_list){got.rows, got.count};
    return 0;
}

int comparison_list_read(store_tx *tx, const char *task, comparison_list *out, err *e)
{
    column_query query = {comparison_columns,
                          sizeof(comparison_row),
                          "comparison WHERE task = ?1 ORDER BY id",
                          {task, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (comparison_list){got.rows, got.count};
    return 0;
}

void stage_list_fini(stage_list *self)
{
    column_rows_free(stage_columns, sizeof(stage_row), self->rows, self->count);
    *self = (stage_list){0};
}

void attempt_list_fini(attempt_list *self)
{
    column_rows_free(attempt_columns, sizeof(attempt_row), self->rows, self->count);
    *self = (attempt_list){0};
}

void measurement_list_fini(measurement_list *self)
{
    column_rows_free(measurement_columns, sizeof(measurement_row), self->rows, self->count);
    *self = (measurement_list){0};
}

void comparison_list_fini(comparison_list *self)
{
    column_rows_free(comparison_columns, sizeof(comparison_row), self->rows, self->count);
    *self = (comparison_list){0};
}
