/* late - what nodes said about tasks that were not theirs any more
 *
 * SPDX-License-Identifier: MIT */
#include "store/late.h"

#include "common/scoped.h"
#include "store/column.h"
#include "store/fence.h"

static const char *const kind_names[] = {"call", "stage", "result", NULL};

static const column columns[] = {
    {"at_ms", COLUMN_INT, offsetof(late_row, at_ms), NULL},
    {"task", COLUMN_TEXT, offsetof(late_row, task), NULL},
    {"kind", COLUMN_CHOICE, offsetof(late_row, kind), kind_names},
    {"node", COLUMN_TEXT, offsetof(late_row, node), NULL},
    {"token", COLUMN_INT, offsetof(late_row, token), NULL},
    {"newest", COLUMN_INT, offsetof(late_row, newest), NULL},
    {"state", COLUMN_TEXT, offsetof(late_row, state), NULL},
    {"outcome", COLUMN_TEXT, offsetof(late_row, outcome), NULL},
    {"reason", COLUMN_TEXT, offsetof(late_row, reason), NULL},
    {"record", COLUMN_TEXT, offsetof(late_row, record), NULL},
    {0},
};

const char *late_kind_name(late_kind kind)
{
    return kind_names[kind];
}

int late_put(store_tx *tx, const late_row *row, err *e)
{
    fence now;
    late_row fresh = *row;
    if (fence_read(tx, row->task, &now, e) < 0)
        return -1;
    fresh.newest = now.token;
    fresh.state = task_state_name(now.state);
    return column_insert(tx, "late", columns, &fresh, NULL, NULL, e);
}

int late_list_read(store_tx *tx, const char *task, late_list *out, err *e)
{
    column_query query = {.columns = columns,
                          .size = sizeof(late_row),
                          .from = "late WHERE task = ?1 ORDER BY id",
                          .parameters = {task}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (late_list){got.rows, got.count};
    return 0;
}

void late_list_fini(late_list *self)
{
    column_rows_free(columns, sizeof(late_row), self->rows, self->count);
    *self = (late_list){0};
}
