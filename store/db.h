/* db - statements of one connection (inside store/ only)
 *
 * Purpose:   the only calls into SQLite besides store.c, migrate.c and column.c: cached statements by
 *            their text, binding, stepping, and SQLite's codes turned into err.
 * Ownership: a store_tx owns its cached statements; `SCOPED(db_reset) sqlite3_stmt *s = …` hands one
 *            back. Bound text is borrowed until then.
 * Threads:   the thread that runs the job.
 * Errors:    constraint failures say what to look at; see db_err.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_DB_H
#define CE_STORE_DB_H

#include <sqlite3.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "store/event.h"
#include "store/store.h"

enum { DB_STATEMENTS = 256, DB_BUILT = 64, DB_LATE_MAX = 4, DB_NAME = 65, DB_SQL_MAX = 8192 };

/* A statement whose text was built from a table of columns. */
typedef struct db_built {
    const void *key;
    sqlite3_stmt *statement; /* of the cache */
} db_built;

/* A refusal that is to be remembered although its job is undone. */
typedef struct db_late {
    char run[DB_NAME], task[DB_NAME], detail[160];
    int64_t at_ms;
} db_late;

struct store_tx {
    sqlite3 *db;
    sqlite3_stmt *cache[DB_STATEMENTS]; /* open addressing by the text's hash */
    size_t cached;
    db_built built[DB_BUILT]; /* open addressing by the key's address */
    size_t built_count;
    db_late late[DB_LATE_MAX];
    size_t late_count;
};

/* db_err fills e from the connection's newest error. Returns -1. */
int db_err(store_tx *tx, err *e, const char *what);
int db_err_of(sqlite3 *db, err *e, const char *what);
/* db_exec runs text without parameters; db_run does so with one statement that is kept. */
int db_exec(store_tx *tx, const char *sql, err *e);
int db_run(store_tx *tx, const char *sql, err *e);
void db_forget(store_tx *tx); /* finalizes the cache */

/* db_prepare gives a cached statement, reset. NULL on failure. */
sqlite3_stmt *db_prepare(store_tx *tx, const char *sql, err *e);
/* db_prepare_built is db_prepare of the text that `write` makes of arg, once for each key. */
typedef void db_text_fn(buf *out, const void *arg);
sqlite3_stmt *db_prepare_built(store_tx *tx, const void *key, db_text_fn *write, const void *arg,
                               err *e);
void db_reset(sqlite3_stmt **statement);
void db_text(sqlite3_stmt *s, int index, const char *text); /* NULL binds NULL */
void db_int(sqlite3_stmt *s, int index, int64_t value);
void db_real(sqlite3_stmt *s, int index, double value);      /* NaN binds NULL */
void db_hash(sqlite3_stmt *s, int index, const hash *value); /* zero binds NULL */

/* db_step: 1 a row, 0 the end, -1 failed. */
int db_step(store_tx *tx, sqlite3_stmt *s, err *e);
/* db_write steps a statement that gives no row; db_changed is how many rows it touched. */
int db_write(store_tx *tx, sqlite3_stmt *s, err *e);
int64_t db_changed(store_tx *tx);

/* db_remember_late keeps a `late` event beyond the undoing of this job. */
void db_remember_late(store_tx *tx, const db_late *late);

#endif
