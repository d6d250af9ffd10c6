/* query - what may be compared: the `ranked` view and the newest runs
 *
 * SPDX-License-Identifier: MIT */
#include "store/query.h"

#include "common/scoped.h"
#include "store/column.h"

static const column columns[] = {
    {"entrant", COLUMN_TEXT, offsetof(standing_row, entrant), NULL},
    {"run", COLUMN_TEXT, offsetof(standing_row, run), NULL},
    {0},
};

int query_ranked(store_tx *tx, const char *run, int64_t *count, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT count(*) FROM ranked WHERE run = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, run);
    if (db_step(tx, s, e) < 0)
        return -1;
    *count = sqlite3_column_int64(s, 0);
    return 0;
}

/* SQLite's documented bare-column rule: with max(), the other columns come from the row that has it. */
#define NEWEST(which)                                                                      \
    "(SELECT e.name AS entrant, r.id AS run, max(printf('%020d', r.created_ms) || r.id) "  \
    "FROM run r JOIN entrant e ON e.run = r.id JOIN (SELECT suite, suite_hash FROM run r " \
    "WHERE state = 'complete' AND kind = 'eval' AND (?1 IS NULL OR suite = ?1) " which     \
    "ORDER BY created_ms DESC, id DESC LIMIT 1) newest "                                   \
    "ON r.suite = newest.suite AND r.suite_hash = newest.suite_hash "                      \
    "WHERE r.state = 'complete' AND r.kind = 'eval' " which "GROUP BY e.name) ORDER BY entrant"

/* Runs that may be ranked come first; without any, the complete ones that may not. */
static const char *const newest_from[] = {
    NEWEST("AND EXISTS (SELECT 1 FROM ranked k WHERE k.run = r.id) "), NEWEST("")};
#undef NEWEST

int query_newest(store_tx *tx, const char *suite, standing_list *out, err *e)
{
    for (size_t i = 0; i < sizeof newest_from / sizeof newest_from[0]; i++) {
        column_query query = {columns, sizeof(standing_row), newest_from[i], {suite, NULL}};
        column_rows got;
        if (column_select(tx, &query, &got, e) < 0)
            return -1;
        *out = (standing_list){got.rows, got.count};
        if (got.count > 0)
            return 0;
    }
    return err_set(e, ERR_NOT_FOUND, "there is no complete run%s%s",
                   suite != NULL ? " of suite " : "", suite != NULL ? suite : "");
}

void standing_list_fini(standing_list *self)
{
    column_rows_free(columns, sizeof(standing_row), self->rows, self->count);
    *self = (standing_list){0};
}
