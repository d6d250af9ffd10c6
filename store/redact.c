/* redact - a list of doomed hashes, less what somebody still needs
 *
 * SPDX-License-Identifier: MIT */
#include "store/redact.h"

#include "common/scoped.h"
#include "store/db.h"
#include "store/owner.h"

/* Where a run keeps texts that go. */
#define TEXTS_OF(runs)                                                       \
    "SELECT reference FROM problem WHERE run " runs                          \
    " UNION SELECT prompt FROM problem WHERE run " runs                      \
    " UNION SELECT c.prompt FROM model_call c JOIN task t ON t.id = c.task " \
    "WHERE c.prompt IS NOT NULL AND t.run " runs                             \
    " UNION SELECT c.answer FROM model_call c JOIN task t ON t.id = c.task " \
    "WHERE c.answer IS NOT NULL AND t.run " runs                             \
    " UNION SELECT json_extract(l.record, '$.prompt') FROM late l "          \
    "JOIN task t ON t.id = l.task WHERE l.kind = 'call' AND t.run " runs     \
    " UNION SELECT json_extract(l.record, '$.answer') FROM late l "          \
    "JOIN task t ON t.id = l.task WHERE l.kind = 'call' AND t.run " runs

/* What stays, of any run; and the texts of runs that are whole. */
static const char *const kept[] = {
    "SELECT gold_source FROM problem UNION SELECT gold_plan FROM problem",
    "SELECT spec FROM task UNION SELECT source FROM task UNION SELECT plan FROM task",
    "SELECT record FROM stage_result UNION SELECT record FROM model_call",
    "SELECT source FROM attempt UNION SELECT plan FROM attempt UNION SELECT log FROM attempt "
    "UNION SELECT report FROM attempt",
    "SELECT samples FROM measurement UNION SELECT cache FROM baseline",
    TEXTS_OF("IN (SELECT id FROM run WHERE redacted_ms IS NULL AND id <> ?1)"),
};

static int run_sql(store_tx *tx, const char *sql, const char *run, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    if (sqlite3_bind_parameter_count(s) > 0)
        db_text(s, 1, run);
    return db_write(tx, s, e);
}

static int count(store_tx *tx, const char *sql, int64_t *out, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL || db_step(tx, s, e) < 0)
        return -1;
    *out = sqlite3_column_int64(s, 0);
    return 0;
}

static int add_also(store_tx *tx, const redact_request *r, err *e)
{
    for (size_t i = 0; i < r->also_count; i++) {
        SCOPED(db_reset)
        sqlite3_stmt *s = db_prepare(tx, "INSERT OR IGNORE INTO temp.doomed VALUES (?1)", e);
        if (s == NULL)
            return -1;
        db_hash(s, 1, &r->also[i]);
        if (db_write(tx, s, e) < 0)
            return -1;
    }
    return 0;
}

static const char there[] = "SELECT count(*) FROM temp.doomed WHERE hash IN "
                            "(SELECT hash FROM artifact WHERE length(data) > 0)";

static int list_doomed(store_tx *tx, const redact_request *r, redact_counts *out, err *e)
{
    int64_t all = 0;
    if (db_exec(tx,
                "CREATE TEMP TABLE IF NOT EXISTS doomed (hash TEXT PRIMARY KEY) WITHOUT ROWID; "
                "DELETE FROM temp.doomed",
                e) < 0 ||
        run_sql(tx, "INSERT OR IGNORE INTO temp.doomed " TEXTS_OF("= ?1"), r->run, e) < 0 ||
        add_also(tx, r, e) < 0 || count(tx, there, &all, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        SCOPED(buf_fini) buf sql = {0};
        buf_init(&sql, 4096);
        buf_printf(&sql, "DELETE FROM temp.doomed WHERE hash IN (%s)", kept[i]);
        if (run_sql(tx, buf_text(&sql), r->run, e) < 0)
            return -1;
    }
    if (count(tx, there, &out->texts, e) < 0)
        return -1;
    out->shared = all - out->texts;
    return 0;
}

static int apply(store_tx *tx, const redact_request *r, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "UPDATE run SET redacted_ms = coalesce(redacted_ms, ?2) WHERE id = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, r->run);
    db_int(s, 2, r->now_ms);
    event_row event = {.at_ms = r->now_ms, .run = r->run, .kind = "redacted"};
    return db_write(tx, s, e) < 0 ||
                   run_sql(tx,
                           "UPDATE artifact SET data = x'' WHERE hash IN "
                           "(SELECT hash FROM temp.doomed)",
                           r->run, e) < 0 ||
                   event_add(tx, &event, e) < 0
               ? -1
               : 0;
}

int redact_run(store_tx *tx, const redact_request *request, redact_counts *out, err *e)
{
    if (list_doomed(tx, request, out, e) < 0 || (request->apply && apply(tx, request, e) < 0))
        return err_wrap(e, "run %s", request->run);
    return 0;
}

/* One row {busy, …}: 1 when a reader keeps the WAL from being emptied. */
static int empty_wal(store_tx *tx, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, "PRAGMA wal_checkpoint(TRUNCATE)", e);
    if (s == NULL || db_step(tx, s, e) < 0)
        return -1;
    if (sqlite3_column_int(s, 0) != 0)
        return err_set(e, ERR_CONFLICT,
                       "another process reads the file, so that old pages stay: end it, and say "
                       "redact again");
    return 0;
}

static int rewrite(store_tx *tx, const char *path, err *e)
{
    if (sqlite3_open_v2(path, &tx->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return db_err_of(tx->db, e, path);
    sqlite3_extended_result_codes(tx->db, 1);
    sqlite3_busy_timeout(tx->db, STORE_BUSY_MS);
    if (db_exec(tx, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; VACUUM", e) < 0)
        return -1;
    return empty_wal(tx, e);
}

int redact_compact(const char *path, err *e)
{
    int lock = owner_take(path, e);
    if (lock < 0)
        return -1;
    store_tx tx = {0};
    int rc = rewrite(&tx, path, e);
    db_forget(&tx);
    sqlite3_close(tx.db);
    owner_release(&lock);
    return rc == 0 ? 0 : err_wrap(e, "%s", path);
}
