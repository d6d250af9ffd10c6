/* night - the nights of each series, and what became of them
 *
 * SPDX-License-Identifier: MIT */
#include "store/night.h"

#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/column.h"

static const char *const verdict_names[] = {"open",      "good",       "worse",  "canary",
                                            "unjudged",  "incomplete", "budget", "failed",
                                            "abandoned", NULL};

static const column columns[] = {
    {"id", COLUMN_ID, offsetof(night_row, id), NULL},
    {"series", COLUMN_TEXT, offsetof(night_row, series), NULL},
    {"folder", COLUMN_TEXT, offsetof(night_row, folder), NULL},
    {"began_ms", COLUMN_INT, offsetof(night_row, began_ms), NULL},
    {"ended_ms", COLUMN_ID, offsetof(night_row, ended_ms), NULL},
    {"run", COLUMN_TEXT, offsetof(night_row, run), NULL},
    {"again", COLUMN_TEXT, offsetof(night_row, again), NULL},
    {"verdict", COLUMN_CHOICE, offsetof(night_row, verdict), verdict_names},
    {"reason", COLUMN_TEXT, offsetof(night_row, reason), NULL},
    {"accepted", COLUMN_BOOL, offsetof(night_row, accepted), NULL},
    {"told", COLUMN_BOOL, offsetof(night_row, told), NULL},
    {0},
};

static const column success_columns[] = {
    {"series", COLUMN_TEXT, offsetof(night_success, series), NULL},
    {"max(iif(verdict = 'good', ended_ms, NULL))", COLUMN_ID, offsetof(night_success, ended_ms),
     NULL},
    {0},
};

const char *night_verdict_name(night_verdict verdict)
{
    return verdict_names[verdict];
}

/* Writes one night; it must be there. */
static int change(store_tx *tx, sqlite3_stmt *s, int64_t id, err *e)
{
    db_int(s, 1, id);
    if (db_write(tx, s, e) < 0)
        return err_wrap(e, "night %lld", (long long)id);
    return db_changed(tx) == 1
               ? 0
               : err_set(e, ERR_NOT_FOUND, "there is no such night: %lld", (long long)id);
}

int night_begin(store_tx *tx, const char *series, const char *out, int64_t now_ms, int64_t *id,
                err *e)
{
    const night_row row = {.series = series, .folder = out, .began_ms = now_ms};
    if (column_insert(tx, "night", columns, &row, NULL, NULL, e) < 0)
        return err_wrap(e, "night of %s", series);
    *id = sqlite3_last_insert_rowid(tx->db);
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "UPDATE night SET folder = folder || '/' || "
                   "strftime('%Y-%m-%d', began_ms / 1000, 'unixepoch') || '-' || id WHERE id = ?1",
                   e);
    return s == NULL ? -1 : change(tx, s, *id, e);
}

int night_link(store_tx *tx, int64_t id, const char *run, bool again, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 again ? "UPDATE night SET again = ?2 WHERE id = ?1"
                                       : "UPDATE night SET run = ?2 WHERE id = ?1",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 2, run);
    return change(tx, s, id, e);
}

int night_end(store_tx *tx, int64_t id, night_verdict verdict, const char *reason, int64_t now_ms,
              err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "UPDATE night SET verdict = ?2, reason = ?3, ended_ms = max(began_ms, ?4) WHERE id = ?1",
        e);
    if (s == NULL)
        return -1;
    db_text(s, 2, verdict_names[verdict]);
    db_text(s, 3, reason);
    db_int(s, 4, now_ms);
    return change(tx, s, id, e);
}

static int mark(store_tx *tx, const char *sql, int64_t id, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    return s == NULL ? -1 : change(tx, s, id, e);
}

int night_accept(store_tx *tx, int64_t id, err *e)
{
    return mark(tx,
                "UPDATE night SET verdict = 'good', accepted = 1 "
                "WHERE id = ?1 AND verdict <> 'open'",
                id, e);
}

int night_tell(store_tx *tx, int64_t id, err *e)
{
    return mark(tx, "UPDATE night SET told = 1 WHERE id = ?1", id, e);
}

int night_list_read(store_tx *tx, const char *series, night_list *out, err *e)
{
    column_query query = {
        columns, sizeof(night_row), "night WHERE series = ?1 ORDER BY id DESC", {series, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (night_list){got.rows, got.count};
    return 0;
}

void night_list_fini(night_list *self)
{
    column_rows_free(columns, sizeof(night_row), self->rows, self->count);
    *self = (night_list){0};
}

int night_cards_read(store_tx *tx, int64_t since_ms, night_cards *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "SELECT count(*), sum(passed = 0), (SELECT device || ' ' || device_uuid || ': ' || failure "
        "FROM selftest WHERE at_ms >= ?1 AND passed = 0 ORDER BY id DESC LIMIT 1) "
        "FROM selftest WHERE at_ms >= ?1",
        e);
    if (s == NULL)
        return -1;
    db_int(s, 1, since_ms);
    if (db_step(tx, s, e) < 0)
        return -1;
    const unsigned char *text = sqlite3_column_text(s, 2);
    *out = (night_cards){.tested = sqlite3_column_int64(s, 0),
                         .failed = sqlite3_column_int64(s, 1),
                         .failure = text ? xstrdup((const char *)text) : NULL};
    return 0;
}

int night_success_read(store_tx *tx, night_success_list *out, err *e)
{
    column_query query = {success_columns,
                          sizeof(night_success),
                          "night GROUP BY series ORDER BY series",
                          {NULL, NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (night_success_list){got.rows, got.count};
    return 0;
}

void night_success_list_fini(night_success_list *self)
{
    column_rows_free(success_columns, sizeof(night_success), self->rows, self->count);
    *self = (night_success_list){0};
}
