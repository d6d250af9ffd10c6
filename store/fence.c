/* fence - who may still write about a task (inside store/ only)
 *
 * SPDX-License-Identifier: MIT */
#include "store/fence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"

static const char *const state_names[] = {"waiting", "leased", "done", "failed"};

static task_state state_of(const char *name)
{
    int i = 0;
    while (strcmp(state_names[i], name) != 0) /* the schema's CHECK allows these four */
        i++;
    return (task_state)i;
}

static void keep(char out[DB_NAME], const unsigned char *text)
{
    snprintf(out, DB_NAME, "%s", text != NULL ? (const char *)text : "");
}

int fence_read(store_tx *tx, const char *task, fence *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT state, token, run, node FROM task WHERE id = ?1", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    int got = db_step(tx, s, e);
    if (got == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no task %s", task);
    if (got < 0)
        return -1;
    out->state = state_of((const char *)sqlite3_column_text(s, 0));
    out->token = sqlite3_column_int64(s, 1);
    keep(out->run, sqlite3_column_text(s, 2));
    keep(out->node, sqlite3_column_text(s, 3));
    return 0;
}

int fence_refuse(store_tx *tx, const char *task, int64_t now_ms, err *e, const char *format, ...)
{
    fence f;
    if (fence_read(tx, task, &f, e) < 0)
        return -1;
    db_late late = {.at_ms = now_ms};
    memcpy(late.run, f.run, sizeof late.run);
    keep(late.task, (const unsigned char *)task);
    va_list args;
    va_start(args, format);
    vsnprintf(late.detail, sizeof late.detail, format, args);
    va_end(args);
    db_remember_late(tx, &late);
    return err_set(e, ERR_CONFLICT, "task %s: %s", task, late.detail);
}

int fence_check(store_tx *tx, const char *task, int64_t token, const char *what, int64_t now_ms,
                fence *out, err *e)
{
    if (fence_read(tx, task, out, e) < 0)
        return -1;
    if (out->state == TASK_LEASED && out->token == token)
        return 0;
    if (out->token == token)
        return fence_refuse(tx, task, now_ms, e, "%s refused: the task is %s", what,
                            state_names[out->state]);
    return fence_refuse(tx, task, now_ms, e, "%s refused: token %lld, the newest is %lld", what,
                        (long long)token, (long long)out->token);
}

int fence_end(store_tx *tx, const char *task, int64_t token, const char *ending, int64_t now_ms,
              err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(
        tx, "UPDATE lease SET ended_ms = ?3, ending = ?4 WHERE task = ?1 AND token = ?2", e);
    if (s == NULL)
        return -1;
    db_text(s, 1, task);
    db_int(s, 2, token);
    db_int(s, 3, now_ms);
    db_text(s, 4, ending);
    return db_write(tx, s, e);
}
