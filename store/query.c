/* query - what may be compared: the `ranked` view and the newest runs
 *
 * SPDX-License-Identifier: MIT */
#include "store/query.h"

#include "store/column.h"

static const column columns[] = {
    {"entrant", COLUMN_TEXT, offsetof(standing_row, entrant), NULL},
    {"run", COLUMN_TEXT, offsetof(standing_row, run), NULL},
    {0},
};

static const column ranked_columns[] = {
    {"entrant", COLUMN_TEXT, offsetof(ranked_row, entrant), NULL},
    {"tasks", COLUMN_INT, offsetof(ranked_row, tasks), NULL},
    {0},
};

int ranked_list_read(store_tx *tx, const char *run, ranked_list *out, err *e)
{
    column_query query = {.columns = ranked_columns,
                          .size = sizeof(ranked_row),
                          .from = "(SELECT entrant, count(*) AS tasks FROM ranked WHERE run = ?1 "
                                  "GROUP BY entrant) ORDER BY entrant",
                          .parameters = {run}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (ranked_list){got.rows, got.count};
    return 0;
}

void ranked_list_fini(ranked_list *self)
{
    column_rows_free(ranked_columns, sizeof(ranked_row), self->rows, self->count);
    *self = (ranked_list){0};
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
