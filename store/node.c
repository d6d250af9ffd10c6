/* node - which machines have worked here
 *
 * SPDX-License-Identifier: MIT */
#include "store/node.h"

#include "common/scoped.h"
#include "store/column.h"

static const char *const state_names[] = {"up", "lost", "left", NULL};
static const char *const event_names[] = {"node_up", "node_lost", "node_left"};

static const column columns[] = {
    {"name", COLUMN_TEXT, offsetof(node_row, name), NULL},
    {"instance", COLUMN_TEXT, offsetof(node_row, instance), NULL},
    {"devices", COLUMN_TEXT, offsetof(node_row, devices), NULL},
    {"software", COLUMN_TEXT, offsetof(node_row, software), NULL},
    {"joined_ms", COLUMN_INT, offsetof(node_row, joined_ms), NULL},
    {"seen_ms", COLUMN_INT, offsetof(node_row, seen_ms), NULL},
    {"state", COLUMN_CHOICE, offsetof(node_row, state), state_names},
    {0},
};

const char *node_state_name(node_state state)
{
    return state_names[state];
}

int node_put(store_tx *tx, const node_row *row, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx,
        "INSERT INTO node (name, instance, devices, software, joined_ms, seen_ms, state) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (name) DO UPDATE SET instance = ?2, "
        "devices = ?3, software = ?4, joined_ms = ?5, seen_ms = ?6, state = ?7",
        e);
    if (s == NULL)
        return -1;
    column_bind(s, 1, columns, row);
    if (db_write(tx, s, e) < 0)
        return err_wrap(e, "node %s", row->name);
    event_row event = {.at_ms = row->joined_ms, .node = row->name, .kind = event_names[row->state]};
    return event_add(tx, &event, e);
}

int node_set_state(store_tx *tx, const char *name, node_state state, int64_t now_ms, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "UPDATE node SET state = ?2, seen_ms = ?3 WHERE name = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, name);
    db_text(s, 2, state_names[state]);
    db_int(s, 3, now_ms);
    if (db_write(tx, s, e) < 0)
        return -1;
    if (db_changed(tx) == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no node %s", name);
    event_row event = {.at_ms = now_ms, .node = name, .kind = event_names[state]};
    return event_add(tx, &event, e);
}

int node_list_read(store_tx *tx, node_list *out, err *e)
{
    column_query query = {columns, sizeof(node_row), "node ORDER BY name", {NULL}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (node_list){got.rows, got.count};
    return 0;
}

void node_list_fini(node_list *self)
{
    column_rows_free(columns, sizeof(node_row), self->rows, self->count);
    *self = (node_list){0};
}
