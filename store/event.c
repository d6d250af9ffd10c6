/* event - every transition, in order
 *
 * SPDX-License-Identifier: MIT */
#include "store/event.h"

#include "store/column.h"

static const column columns[] = {
    {"at_ms", COLUMN_INT, offsetof(event_row, at_ms), NULL},
    {"run", COLUMN_TEXT, offsetof(event_row, run), NULL},
    {"task", COLUMN_TEXT, offsetof(event_row, task), NULL},
    {"node", COLUMN_TEXT, offsetof(event_row, node), NULL},
    {"kind", COLUMN_TEXT, offsetof(event_row, kind), NULL},
    {"detail", COLUMN_TEXT, offsetof(event_row, detail), NULL},
    {"id", COLUMN_ID, offsetof(event_row, id), NULL},
    {0},
};

int event_add(store_tx *tx, const event_row *row, err *e)
{
    event_row fresh = *row;
    fresh.id = 0; /* NULL: SQLite numbers it */
    return column_insert(tx, "event", columns, &fresh, NULL, NULL, e);
}

int event_list_read(store_tx *tx, const char *run, const char *task, event_list *out, err *e)
{
    column_query query = {
        .columns = columns,
        .size = sizeof(event_row),
        .from =
            task != NULL ? "event WHERE task = ?1 ORDER BY id" : "event WHERE run = ?1 ORDER BY id",
        .parameters = {task != NULL ? task : run},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (event_list){got.rows, got.count};
    return 0;
}

void event_list_fini(event_list *self)
{
    column_rows_free(columns, sizeof(event_row), self->rows, self->count);
    *self = (event_list){0};
}
