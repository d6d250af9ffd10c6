/* detail - what the results of tasks tell at length
 *
 * SPDX-License-Identifier: MIT */
#include "store/detail.h"

#include "common/scoped.h"
#include "store/db.h"

/* SQLite looks whether a text is JSON: cheaper than a tree of it that is written again. */
#define ON_ONE_LINE(column)                                                   \
    "iif(json_valid(" column ") AND instr(" column ", char(10)) = 0, " column \
    ", json_quote(" column "))"
static const char sql[] = "SELECT " ON_ONE_LINE("modelled") ", " ON_ONE_LINE(
    "profile") ", " ON_ONE_LINE("lineage") " FROM task WHERE id = ?1";

static const char *text_at(sqlite3_stmt *s, int index)
{
    const unsigned char *text = sqlite3_column_text(s, index);
    return text != NULL ? (const char *)text : "null";
}

static int tell(store_tx *tx, sqlite3_stmt *s, const char *task, size_t index, detail_fn *fn,
                void *arg, err *e)
{
    detail_row row = {"null", "null", "null"};
    db_text(s, 1, task);
    const int got = task != NULL ? db_step(tx, s, e) : 0;
    if (got < 0)
        return -1;
    if (got > 0)
        row = (detail_row){text_at(s, 0), text_at(s, 1), text_at(s, 2)};
    const int rc = fn(arg, index, &row, e);
    sqlite3_reset(s);
    return rc;
}

int detail_each(store_tx *tx, const char *const *tasks, size_t count, detail_fn *fn, void *arg,
                err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    for (size_t i = 0; s != NULL && i < count; i++)
        if (tell(tx, s, tasks[i], i, fn, arg, e) < 0)
            return -1;
    return s != NULL ? 0 : -1;
}
