/* result - what a finished task is worth: recorded exactly once
 *
 * SPDX-License-Identifier: MIT */
#include "store/result.h"

#include "common/scoped.h"
#include "store/fence.h"
#include "store/result_columns.h"

static const column columns[] = {
#define RESULT_COLUMN(name, type, field) {name, type, offsetof(result_row, field), NULL},
    RESULT_COLUMNS(RESULT_COLUMN)
#undef RESULT_COLUMN
        {0},
};

static void write_update(buf *out, const void *arg)
{
    (void)arg;
    buf_puts(out, "UPDATE task SET state = 'done', finished_ms = ?2");
    int parameter = 3;
    for (const column *c = columns; c->name != NULL; c++)
        buf_printf(out, ", %s = ?%d", c->name, parameter++);
    buf_puts(out, " WHERE id = ?1");
}

static int update(store_tx *tx, const char *task, const result_row *row, int64_t now_ms, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare_built(tx, columns, write_update, NULL, e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_int(s, 2, now_ms);
    column_bind(s, 3, columns, row);
    return db_write(tx, s, e);
}

int result_put(store_tx *tx, const char *task, int64_t token, const result_row *row, int64_t now_ms,
               err *e)
{
    fence f;
    if (fence_check(tx, task, token, "result", now_ms, &f, e) < 0)
        return -1;
    if (update(tx, task, row, now_ms, e) < 0 || fence_end(tx, task, token, "done", now_ms, e) < 0)
        return err_wrap(e, "result of task %s", task);
    event_row event = {.at_ms = now_ms,
                       .run = f.run,
                       .task = task,
                       .node = f.node,
                       .kind = "done",
                       .detail = outcome_name(row->result)};
    return event_add(tx, &event, e);
}
