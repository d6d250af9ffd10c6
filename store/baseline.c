/* baseline - stored baselines: the winning mode per (contract, shape, GPU, driver, torch)
 *
 * SPDX-License-Identifier: MIT */
#include "store/baseline.h"

#include "common/scoped.h"
#include "store/column.h"

static const column columns[] = {
    {"key", COLUMN_TEXT, offsetof(baseline_row, key), NULL},
    {"record", COLUMN_TEXT, offsetof(baseline_row, record), NULL},
    {"cache", COLUMN_HASH, offsetof(baseline_row, cache), NULL},
    {"created_ms", COLUMN_INT, offsetof(baseline_row, created_ms), NULL},
    {0},
};

int baseline_put(store_tx *tx, const baseline_row *row, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "INSERT INTO baseline (key, record, cache, created_ms) VALUES (?1, ?2, ?3, ?4) "
                   "ON CONFLICT (key) DO UPDATE SET record = ?2, cache = ?3, created_ms = ?4",
                   e);
    if (s == NULL)
        return -1;
    column_bind(s, 1, columns, row);
    if (db_write(tx, s, e) < 0)
        return err_wrap(e, "baseline %s", row->key);
    return 0;
}

int baseline_get(store_tx *tx, const char *key, baseline_row *out, err *e)
{
    column_query query = {columns, sizeof(baseline_row), "baseline WHERE key = ?1", {key, NULL}};
    return column_first(tx, &query, out, "such baseline", e);
}

void baseline_row_fini(baseline_row *self)
{
    column_free(columns, self);
}
