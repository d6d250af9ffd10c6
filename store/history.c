/* history - how the entrants of a run did in earlier runs of the same suite
 *
 * SPDX-License-Identifier: MIT */
#include "store/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/column.h"

typedef struct night {
    const char *run;
    int64_t created_ms;
} night;

static const column night_columns[] = {
    {"run", COLUMN_TEXT, offsetof(night, run), NULL},
    {"created_ms", COLUMN_INT, offsetof(night, created_ms), NULL},
    {0},
};

/* The newest first. Which device and protocols a run had, its tasks know. */
static const char nights_from[] =
    "(SELECT r.id AS run, r.created_ms AS created_ms FROM run r JOIN run o ON o.id = ?1 "
    "WHERE r.suite = o.suite AND r.suite_hash = o.suite_hash AND r.kind = 'eval' "
    "AND r.state = 'complete' AND (r.created_ms, r.id) < (o.created_ms, o.id) "
    "AND (SELECT t.device IS ?2 FROM task t WHERE t.run = r.id AND t.kind = 'synthesize' "
    "AND t.correct_protocol IS NOT NULL LIMIT 1) ORDER BY r.created_ms DESC, r.id DESC)";

static const char tasks_sql[] =
    "SELECT e.name, t.outcome = 'ok' AND t.state = 'done', iif(t.device_kind = 'cuda' AND "
    "p.category <> 'gemm', t.speedup, NULL), t.correct_protocol, t.timing_protocol, e.id "
    "FROM task t JOIN entrant e ON e.id = t.entrant "
    "JOIN problem p ON p.run = t.run AND p.id = t.problem "
    "WHERE t.run = ?1 AND t.kind = 'synthesize' ORDER BY t.entrant";

static const char *text_at(sqlite3_stmt *s, int index)
{
    const unsigned char *text = sqlite3_column_text(s, index);
    return (const char *)text;
}

static void add_task(history_row *row, sqlite3_stmt *s)
{
    row->declared++;
    row->correct += sqlite3_column_int(s, 1) != 0 ? 1 : 0;
    if (sqlite3_column_type(s, 2) == SQLITE_NULL)
        return;
    const double ln = log(sqlite3_column_double(s, 2));
    row->measured++;
    row->ln_sum += ln;
    row->ln_squares += ln * ln;
}

static bool differs(const char *protocol, const char *want)
{
    return protocol != NULL && (want == NULL || strcmp(protocol, want) != 0);
}

static void drop_from(history_list *list, size_t first)
{
    for (size_t i = first; i < list->count; i++)
        free(list->rows[i].entrant);
    list->count = first;
}

/* Rows come by entrant; a task of another protocol takes the whole run out. */
static int add_run(store_tx *tx, const history_ask *ask, const night *n, history_list *out, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, tasks_sql, e);
    if (s == NULL)
        return -1;
    const size_t first = out->count;
    int64_t entrant = -1;
    int got;
    db_text(s, 1, n->run);
    while ((got = db_step(tx, s, e)) > 0) {
        if (differs(text_at(s, 3), ask->correctness) || differs(text_at(s, 4), ask->timing)) {
            drop_from(out, first);
            return 0;
        }
        if (sqlite3_column_int64(s, 5) != entrant) {
            entrant = sqlite3_column_int64(s, 5);
            out->rows = xreallocarray(out->rows, out->count + 1, sizeof *out->rows);
            out->rows[out->count++] =
                (history_row){.entrant = xstrdup(text_at(s, 0)), .created_ms = n->created_ms};
        }
        add_task(&out->rows[out->count - 1], s);
    }
    return got;
}

int history_list_read(store_tx *tx, const history_ask *ask, history_list *out, err *e)
{
    column_query query = {night_columns, sizeof(night), nights_from, {ask->run, ask->device}};
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    const night *nights = got.rows;
    SCOPED(history_list_fini) history_list list = {0};
    int rc = 0;
    size_t count = got.count < HISTORY_RUNS_MAX ? got.count : HISTORY_RUNS_MAX;
    for (size_t i = count; i > 0 && rc == 0; i--)
        rc = add_run(tx, ask, &nights[i - 1], &list, e);
    column_rows_free(night_columns, sizeof(night), got.rows, got.count);
    if (rc < 0)
        return -1;
    *out = list;
    list = (history_list){0};
    return 0;
}

void history_list_fini(history_list *self)
{
    drop_from(self, 0);
    free(self->rows);
    *self = (history_list){0};
}
