/* task - the unit that is leased to a node
 *
 * SPDX-License-Identifier: MIT */
#include "store/task.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "store/charge.h"
#include "store/fence.h"
#include "store/find.h"
#include "store/result_columns.h"
#include "store/run.h"

static const char *const state_names[] = {"waiting", "leased", "done", "failed", NULL};
static const char *const ending_names[] = {"returned", "lost", "cancelled"};

static const column insert_columns[] = {
    {"id", COLUMN_TEXT, offsetof(task_row, id), NULL},
    {"run", COLUMN_TEXT, offsetof(task_row, run), NULL},
    {"kind", COLUMN_TEXT, offsetof(task_row, kind), NULL},
    {"problem", COLUMN_TEXT, offsetof(task_row, problem), NULL},
    {"entrant", COLUMN_ID, offsetof(task_row, entrant), NULL},
    {"sample", COLUMN_INT, offsetof(task_row, sample), NULL},
    {"spec", COLUMN_HASH, offsetof(task_row, spec), NULL},
    {"state", COLUMN_CHOICE, offsetof(task_row, state), state_names},
    {0},
};

static const column task_columns[] = {
    {"id", COLUMN_TEXT, offsetof(task_row, id), NULL},
    {"run", COLUMN_TEXT, offsetof(task_row, run), NULL},
    {"kind", COLUMN_TEXT, offsetof(task_row, kind), NULL},
    {"problem", COLUMN_TEXT, offsetof(task_row, problem), NULL},
    {"entrant", COLUMN_ID, offsetof(task_row, entrant), NULL},
    {"sample", COLUMN_INT, offsetof(task_row, sample), NULL},
    {"spec", COLUMN_HASH, offsetof(task_row, spec), NULL},
    {"state", COLUMN_CHOICE, offsetof(task_row, state), state_names},
    {"token", COLUMN_INT, offsetof(task_row, token), NULL},
    {"leases", COLUMN_INT, offsetof(task_row, leases), NULL},
    {"node", COLUMN_TEXT, offsetof(task_row, node), NULL},
    {"error", COLUMN_TEXT, offsetof(task_row, error), NULL},
    {"finished_ms", COLUMN_ID, offsetof(task_row, finished_ms), NULL},
#define TASK_RESULT(name, type, field) {name, type, offsetof(task_row, outcome.field), NULL},
    RESULT_COLUMNS(TASK_RESULT)
#undef TASK_RESULT
        {0},
};

static const column brief_columns[] = {
    {"id", COLUMN_TEXT, offsetof(task_brief, id), NULL},
    {"kind", COLUMN_TEXT, offsetof(task_brief, kind), NULL},
    {"problem", COLUMN_TEXT, offsetof(task_brief, problem), NULL},
    {"node", COLUMN_TEXT, offsetof(task_brief, node), NULL},
    {"entrant", COLUMN_ID, offsetof(task_brief, entrant), NULL},
    {"spec", COLUMN_HASH, offsetof(task_brief, spec), NULL},
    {"state", COLUMN_CHOICE, offsetof(task_brief, state), state_names},
    {"token", COLUMN_INT, offsetof(task_brief, token), NULL},
    {"leases", COLUMN_INT, offsetof(task_brief, leases), NULL},
    {"outcome", COLUMN_OUTCOME, offsetof(task_brief, result), NULL},
    {0},
};

static const column span_columns[] = {
    {"task", COLUMN_TEXT, offsetof(task_span, task), NULL},
    {"kind", COLUMN_TEXT, offsetof(task_span, kind), NULL},
    {"granted_ms", COLUMN_INT, offsetof(task_span, from_ms), NULL},
    {"ended_ms", COLUMN_ID, offsetof(task_span, to_ms), NULL},
    {0},
};

typedef struct task_walk {
    task_each_fn *fn;
    void *arg;
} task_walk;

const char *task_state_name(task_state state)
{
    return state_names[state];
}

int task_insert(store_tx *tx, const task_row *row, err *e)
{
    task_row fresh = *row;
    fresh.state = TASK_WAITING;
    if (column_insert(tx, "task", insert_columns, &fresh, NULL, NULL, e) < 0)
        return err_wrap(e, "task %s", row->id);
    return 0;
}

/* ---- leases ---- */

static int start_lease(store_tx *tx, const char *task, const char *node, int64_t token,
                       int64_t now_ms, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "INSERT INTO lease (task, token, node, granted_ms) "
                                 "VALUES (?1, ?2, ?3, ?4)",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_int(s, 2, token);
    db_text(s, 3, node);
    db_int(s, 4, now_ms);
    return db_write(tx, s, e);
}

static int hold(store_tx *tx, const char *task, const char *node, int64_t token, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "UPDATE task SET state = 'leased', token = ?2, node = ?3, "
                                 "leases = leases + 1 WHERE id = ?1",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_int(s, 2, token);
    db_text(s, 3, node);
    return db_write(tx, s, e);
}

int task_grant(store_tx *tx, const char *task, const char *node, int64_t token, int64_t now_ms,
               err *e)
{
    fence f;
    if (fence_read(tx, task, &f, e) < 0)
        return -1;
    if (f.state != TASK_WAITING)
        return err_set(e, ERR_CONFLICT, "task %s is %s and cannot be leased", task,
                       state_names[f.state]);
    if (token <= f.token)
        return err_set(e, ERR_CONFLICT, "task %s: token %lld is not above the newest, %lld", task,
                       (long long)token, (long long)f.token);
    if (start_lease(tx, task, node, token, now_ms, e) < 0 || hold(tx, task, node, token, e) < 0)
        return err_wrap(e, "task %s", task);
    event_row event = {
        .at_ms = now_ms, .run = f.run, .task = task, .node = node, .kind = "granted"};
    return event_add(tx, &event, e);
}

static int reopen_lease(store_tx *tx, const char *task, int64_t token, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "UPDATE lease SET ended_ms = NULL, ending = NULL "
                                 "WHERE task = ?1 AND token = ?2 AND ending = 'lost'",
                                 e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_int(s, 2, token);
    if (db_write(tx, s, e) < 0)
        return -1;
    return db_changed(tx) == 1
               ? 0
               : err_set(e, ERR_CONFLICT, "its lease %lld was not lost", (long long)token);
}

static int set_state(store_tx *tx, const char *task, task_state state, const char *error, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "UPDATE task SET state = ?2, error = coalesce(?3, error) WHERE id = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_text(s, 2, state_names[state]);
    db_text(s, 3, error);
    return db_write(tx, s, e);
}

int task_reclaim(store_tx *tx, const char *task, const char *node, int64_t token, int64_t now_ms,
                 err *e)
{
    fence f;
    if (fence_read(tx, task, &f, e) < 0)
        return -1;
    if (f.state != TASK_WAITING || f.token != token || strcmp(f.node, node) != 0)
        return fence_refuse(
            tx, task, now_ms, e,
            "claim of node %s refused: token %lld, the newest is %lld of node %s and "
            "the task is %s",
            node, (long long)token, (long long)f.token, f.node, state_names[f.state]);
    if (reopen_lease(tx, task, token, e) < 0 || charge_reopen(tx, task, token, e) < 0 ||
        set_state(tx, task, TASK_LEASED, NULL, e) < 0)
        return err_wrap(e, "task %s", task);
    event_row event = {
        .at_ms = now_ms, .run = f.run, .task = task, .node = node, .kind = "reclaimed"};
    return event_add(tx, &event, e);
}

int task_return(store_tx *tx, const task_return_args *args, err *e)
{
    fence f;
    const char *ending = ending_names[args->ending];
    if (fence_check(tx, args->task, args->token, ending, args->now_ms, &f, e) < 0)
        return -1;
    if (fence_end(tx, args->task, args->token, ending, args->now_ms, e) < 0 ||
        charge_abandon(tx, args->task, args->token, args->now_ms, e) < 0 ||
        set_state(tx, args->task, TASK_WAITING, args->error, e) < 0)
        return err_wrap(e, "task %s", args->task);
    event_row event = {.at_ms = args->now_ms,
                       .run = f.run,
                       .task = args->task,
                       .node = f.node,
                       .kind = ending,
                       .detail = args->error};
    return event_add(tx, &event, e);
}

int task_fail(store_tx *tx, const char *task, const char *error, int64_t now_ms, err *e)
{
    fence f;
    if (fence_read(tx, task, &f, e) < 0)
        return -1;
    if (f.state != TASK_WAITING)
        return err_set(e, ERR_CONFLICT, "task %s is %s: only a waiting task is given up", task,
                       state_names[f.state]);
    if (set_state(tx, task, TASK_FAILED, error, e) < 0)
        return err_wrap(e, "task %s", task);
    event_row event = {
        .at_ms = now_ms, .run = f.run, .task = task, .kind = "failed", .detail = error};
    return event_add(tx, &event, e);
}

/* ---- recovery: the same three steps for each task that a dead coordinator left ---- */

static int recover_sql(store_tx *tx, const char *sql, const char *run, int64_t now_ms, err *e)
{
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL)
        return -1;
    db_text(s, 1, run);
    if (sqlite3_bind_parameter_count(s) > 1)
        db_int(s, 2, now_ms);
    return db_write(tx, s, e);
}

int task_recover(store_tx *tx, const char *run, bool failed_too, int64_t now_ms, err *e)
{
    static const char *const lost[] = {
        "UPDATE lease SET ended_ms = ?2, ending = 'lost' WHERE ended_ms IS NULL AND "
        "task IN (SELECT id FROM task WHERE run = ?1 AND state = 'leased')",
        "INSERT INTO event (at_ms, run, task, node, kind, detail) SELECT ?2, run, id, node, "
        "'lost', "
        "'the coordinator stopped' FROM task WHERE run = ?1 AND state = 'leased'",
        "UPDATE task SET state = 'waiting' WHERE run = ?1 AND state = 'leased'",
    };
    static const char *const revived[] = {
        "INSERT INTO event (at_ms, run, task, kind) SELECT ?2, run, id, 'revived' "
        "FROM task WHERE run = ?1 AND state = 'failed'",
        "UPDATE task SET state = 'waiting' WHERE run = ?1 AND state = 'failed'",
    };
    if (charge_recover(tx, run, now_ms, e) < 0)
        return err_wrap(e, "run %s", run);
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        if (recover_sql(tx, lost[i], run, now_ms, e) < 0)
            return err_wrap(e, "run %s", run);
    for (size_t i = 0; failed_too && i < sizeof revived / sizeof revived[0]; i++)
        if (recover_sql(tx, revived[i], run, now_ms, e) < 0)
            return err_wrap(e, "run %s", run);
    return 0;
}

/* ---- reading ---- */

int task_get(store_tx *tx, const char *task, task_row *out, err *e)
{
    column_query query = {task_columns, sizeof(task_row), "task WHERE id = ?1", {task, NULL}};
    return column_first(tx, &query, out, "such task", e);
}

int task_find(store_tx *tx, const char *text, task_row *out, err *e)
{
    SCOPED(scoped_free) char *id = NULL;
    if (find_id(tx, "task", text, &id, e) < 0)
        return -1;
    return task_get(tx, id, out, e);
}

static int each_row(store_tx *tx, sqlite3_stmt *s, task_each_fn *fn, void *arg, err *e)
{
    int got;
    while ((got = db_step(tx, s, e)) > 0) {
        task_brief row = {.id = NULL};
        if (column_peek(s, 0, brief_columns, &row, e) < 0 || fn(tx, &row, arg, e) < 0)
            return -1;
    }
    return got;
}

/* The index of identities has the tasks of a problem in order: nothing is sorted. */
static int each_of_problem(store_tx *tx, const problem_row *problem, const char *kind,
                           const task_walk *walk, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx,
                   "SELECT id, kind, problem, node, entrant, spec, state, token, leases, outcome "
                   "FROM task WHERE run = ?1 AND kind = ?2 AND problem = ?3 "
                   "ORDER BY coalesce(entrant, 0), sample",
                   e);
    if (s == NULL)
        return -1;
    db_text(s, 1, problem->run);
    db_text(s, 2, kind);
    db_text(s, 3, problem->id);
    return each_row(tx, s, walk->fn, walk->arg, e);
}

int task_each(store_tx *tx, const char *run, task_each_fn *fn, void *arg, err *e)
{
    static const char *const kinds[] = {"contract", "synthesize"};
    const task_walk walk = {fn, arg};
    SCOPED(problem_list_fini) problem_list problems = {.rows = NULL};
    if (problem_list_read(tx, run, &problems, e) < 0)
        return -1;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t i = 0; i < problems.count; i++)
            if (each_of_problem(tx, &problems.rows[i], kinds[k], &walk, e) < 0)
                return -1;
    return 0;
}

int task_list_read(store_tx *tx, const char *run, const char *kind, task_list *out, err *e)
{
    column_query query = {
        .columns = task_columns,
        .size = sizeof(task_row),
        .from = "task WHERE run = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY kind, "
                "(SELECT position FROM problem p WHERE p.run = task.run AND p.id = task.problem), "
                "entrant, sample",
        .parameters = {run, kind},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (task_list){got.rows, got.count};
    return 0;
}

int task_span_list_read(store_tx *tx, const char *run, task_span_list *out, err *e)
{
    column_query query = {
        .columns = span_columns,
        .size = sizeof(task_span),
        .from = "task JOIN lease ON lease.task = task.id AND lease.token = task.token "
                "WHERE run = ?1 AND state IN ('leased', 'done')",
        .parameters = {run},
    };
    column_rows got;
    if (column_select(tx, &query, &got, e) < 0)
        return -1;
    *out = (task_span_list){got.rows, got.count};
    return 0;
}

void task_span_list_fini(task_span_list *self)
{
    column_rows_free(span_columns, sizeof(task_span), self->rows, self->count);
    *self = (task_span_list){0};
}

void task_row_fini(task_row *self)
{
    column_free(task_columns, self);
}

void task_list_fini(task_list *self)
{
    column_rows_free(task_columns, sizeof(task_row), self->rows, self->count);
    *self = (task_list){0};
}
