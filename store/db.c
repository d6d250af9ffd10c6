/* db - statements of one connection (inside store/ only)
 *
 * SPDX-License-Identifier: MIT */
#include "store/db.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/scoped.h"

typedef struct code_row {
    int native;
    err_code code;
    bool retry;
    const char *hint; /* what to look at, or NULL */
} code_row;

static const code_row code_rows[] = {
    {SQLITE_CONSTRAINT_FOREIGNKEY, ERR_NOT_FOUND, false,
     "it refers to a row that is not stored (a blob that was not put first?)"},
    {SQLITE_CONSTRAINT_CHECK, ERR_PROTOCOL, false, NULL},
    {SQLITE_CONSTRAINT_NOTNULL, ERR_PROTOCOL, false, NULL},
    {SQLITE_CONSTRAINT, ERR_CONFLICT, false, NULL},
    {SQLITE_BUSY, ERR_CONFLICT, true, "another program holds the database"},
    {SQLITE_LOCKED, ERR_CONFLICT, true, NULL},
    {SQLITE_READONLY, ERR_DENIED, false, "the database is read-only"},
    {SQLITE_PERM, ERR_DENIED, false, NULL},
    {SQLITE_AUTH, ERR_DENIED, false, NULL},
    {SQLITE_CANTOPEN, ERR_DENIED, false, NULL},
    {SQLITE_FULL, ERR_LIMIT, true, "the disk is full"},
    {SQLITE_TOOBIG, ERR_LIMIT, false, NULL},
    {SQLITE_IOERR, ERR_SYSTEM, true, NULL},
    {SQLITE_CORRUPT, ERR_CONFIG, false, "restore it from a copy"},
    {SQLITE_NOTADB, ERR_CONFIG, false, "it is not a database"},
};

/* An exact extended code wins over its primary code. */
static const code_row *row_of(int native)
{
    const code_row *primary = NULL;
    for (size_t i = 0; i < sizeof code_rows / sizeof code_rows[0]; i++) {
        if (code_rows[i].native == native)
            return &code_rows[i];
        if (code_rows[i].native == (native & 0xff))
            primary = &code_rows[i];
    }
    return primary;
}

int db_err_of(sqlite3 *db, err *e, const char *what)
{
    int native = sqlite3_extended_errcode(db);
    const code_row *row = row_of(native);
    const char *hint = row != NULL ? row->hint : NULL;
    err_native(e, row != NULL ? row->code : ERR_INTERNAL, ERR_DOMAIN_SQLITE, native, "%s: %s%s%s",
               what, sqlite3_errmsg(db), hint != NULL ? "; " : "", hint != NULL ? hint : "");
    if (e != NULL)
        e->retry = row != NULL && row->retry;
    return -1;
}

int db_err(store_tx *tx, err *e, const char *what)
{
    return db_err_of(tx->db, e, what);
}

int db_exec(store_tx *tx, const char *sql, err *e)
{
    if (sqlite3_exec(tx->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return db_err(tx, e, "database");
    return 0;
}

void db_forget(store_tx *tx)
{
    for (size_t i = 0; i < DB_STATEMENTS; i++)
        sqlite3_finalize(tx->cache[i]);
    memset(tx->cache, 0, sizeof tx->cache);
    memset(tx->built, 0, sizeof tx->built);
    tx->cached = tx->built_count = 0;
}

static size_t slot_of(const store_tx *tx, const char *sql)
{
    uint64_t h = 14695981039346656037ULL; /* FNV-1a */
    for (const char *p = sql; *p != '\0'; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211ULL;
    size_t slot = (size_t)(h % DB_STATEMENTS);
    while (tx->cache[slot] != NULL && strcmp(sqlite3_sql(tx->cache[slot]), sql) != 0)
        slot = (slot + 1) % DB_STATEMENTS;
    return slot;
}

sqlite3_stmt *db_prepare(store_tx *tx, const char *sql, err *e)
{
    size_t slot = slot_of(tx, sql);
    if (tx->cache[slot] == NULL) {
        assert(tx->cached < DB_STATEMENTS - 1); /* statements are written by us, not by input */
        if (sqlite3_prepare_v3(tx->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &tx->cache[slot],
                               NULL) != SQLITE_OK) {
            db_err(tx, e, "database");
            return NULL;
        }
        tx->cached++;
    }
    return tx->cache[slot];
}

static db_built *built_of(store_tx *tx, const void *key)
{
    size_t slot = ((uintptr_t)key >> 4) % DB_BUILT;
    while (tx->built[slot].key != NULL && tx->built[slot].key != key)
        slot = (slot + 1) % DB_BUILT;
    return &tx->built[slot];
}

sqlite3_stmt *db_prepare_built(store_tx *tx, const void *key, db_text_fn *write, const void *arg,
                               err *e)
{
    db_built *row = built_of(tx, key);
    if (row->key != NULL)
        return row->statement;
    SCOPED(buf_fini) buf sql = {0};
    buf_init(&sql, DB_SQL_MAX);
    write(&sql, arg);
    sqlite3_stmt *s = db_prepare(tx, buf_text(&sql), e);
    if (s == NULL)
        return NULL;
    assert(tx->built_count < DB_BUILT - 1); /* as many as there are tables of columns */
    tx->built_count++;
    *row = (db_built){key, s};
    return s;
}

void db_reset(sqlite3_stmt **statement)
{
    if (*statement == NULL)
        return;
    sqlite3_reset(*statement);
    sqlite3_clear_bindings(*statement);
}

void db_text(sqlite3_stmt *s, int index, const char *text)
{
    sqlite3_bind_text(s, index, text, -1, SQLITE_STATIC);
}

void db_int(sqlite3_stmt *s, int index, int64_t value)
{
    sqlite3_bind_int64(s, index, value);
}

void db_real(sqlite3_stmt *s, int index, double value)
{
    if (isnan(value))
        sqlite3_bind_null(s, index);
    else
        sqlite3_bind_double(s, index, value);
}

void db_hash(sqlite3_stmt *s, int index, const hash *value)
{
    char hex[HASH_HEX];
    if (hash_is_zero(value)) {
        sqlite3_bind_null(s, index);
        return;
    }
    hash_hex(value, hex);
    sqlite3_bind_text(s, index, hex, HASH_HEX - 1, SQLITE_TRANSIENT);
}

int db_step(store_tx *tx, sqlite3_stmt *s, err *e)
{
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : db_err(tx, e, "database");
}

int db_write(store_tx *tx, sqlite3_stmt *s, err *e)
{
    return db_step(tx, s, e) < 0 ? -1 : 0;
}

int64_t db_changed(store_tx *tx)
{
    return sqlite3_changes64(tx->db);
}

int db_run(store_tx *tx, const char *sql, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    return s == NULL ? -1 : db_write(tx, s, e);
}

void db_remember_late(store_tx *tx, const db_late *late)
{
    if (tx->late_count < DB_LATE_MAX)
        tx->late[tx->late_count++] = *late;
}
