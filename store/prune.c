/* prune - artifacts that nothing stands on any more
 *
 * Which columns name artifacts is asked of the schema, so that no later table is forgotten.
 *
 * SPDX-License-Identifier: MIT */
#include "store/prune.h"

#include "common/scoped.h"
#include "store/db.h"

enum { SQL_MAX = 64 * 1024 };

static int fill(store_tx *tx, const hash *names, size_t count, err *e)
{
    if (db_exec(tx,
                "CREATE TEMP TABLE IF NOT EXISTS pruned (hash TEXT PRIMARY KEY) WITHOUT ROWID; "
                "DELETE FROM temp.pruned",
                e) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        SCOPED(db_reset)
        sqlite3_stmt *s = db_prepare(tx, "INSERT OR IGNORE INTO temp.pruned VALUES (?1)", e);
        if (s == NULL)
            return -1;
        db_hash(s, 1, &names[i]);
        if (db_write(tx, s, e) < 0)
            return -1;
    }
    return 0;
}

/* One statement for each column that names artifacts. */
static int list_columns(store_tx *tx, buf *sql, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "SELECT m.name, f.\"from\" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f "
        "WHERE m.type = 'table' AND f.\"table\" = 'artifact'",
        e);
    int got = -1;
    while (s != NULL && (got = db_step(tx, s, e)) > 0) {
        const unsigned char *table = sqlite3_column_text(s, 0), *name = sqlite3_column_text(s, 1);
        buf_printf(sql, "DELETE FROM temp.pruned WHERE hash IN (SELECT \"%s\" FROM \"%s\");",
                   (const char *)name, (const char *)table);
    }
    if (got == 0 && sql->overflow)
        return err_set(e, ERR_LIMIT, "more columns name artifacts than were thought of");
    return got;
}

int prune_artifacts(store_tx *tx, const hash *names, size_t count, int64_t *removed, err *e)
{
    SCOPED(buf_fini) buf sql = {0};
    buf_init(&sql, SQL_MAX);
    if (fill(tx, names, count, e) < 0 || list_columns(tx, &sql, e) < 0 ||
        db_exec(tx, buf_text(&sql), e) < 0)
        return -1;
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "DELETE FROM artifact WHERE hash IN (SELECT hash FROM temp.pruned)", e);
    if (s == NULL || db_write(tx, s, e) < 0)
        return -1;
    *removed = db_changed(tx);
    return 0;
}

int prune_size_read(store_tx *tx, prune_size *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "SELECT c.page_count * s.page_size, f.freelist_count * s.page_size "
                   "FROM pragma_page_count c, pragma_page_size s, pragma_freelist_count f",
                   e);
    if (s == NULL || db_step(tx, s, e) < 0)
        return -1;
    *out = (prune_size){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
    return 0;
}
