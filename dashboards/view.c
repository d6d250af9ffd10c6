/* view - one function an answer
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/view.h"

#include <string.h>

#include "common/hash.h"
#include "common/scoped.h"
#include "reports/inspect.h"
#include "reports/results.h"
#include "reports/runs.h"
#include "reports/trend.h"
#include "store/artifact.h"

#define JSON_TYPE "application/json"
/* Model text is hostile: never a type that a browser renders. */
#define TEXT_TYPE "text/plain; charset=utf-8"

/* Ids and prefixes of them; nothing that could mean something to anybody else. */
static int check_name(const char *what, const char *text, err *e)
{
    size_t size = strlen(text);
    if (size == 0 || size > VIEW_NAME_MAX ||
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != size)
        return err_set(e, ERR_USAGE, "%s: not an id", what);
    return 0;
}

static int check_run(const view_ask *ask, err *e)
{
    return ask->run != NULL ? check_name("run", ask->run, e) : 0;
}

static int check_task(const view_ask *ask, err *e)
{
    if (ask->task == NULL)
        return err_set(e, ERR_USAGE, "which task? (?task=ID)");
    return check_name("task", ask->task, e);
}

static int write_runs(store *db, const view_ask *ask, buf *out, err *e)
{
    if (ask->before != NULL && check_name("before", ask->before, e) < 0)
        return -1;
    return runs_page(db, ask->before, VIEW_RUNS, out, e);
}

static int write_run(store *db, const view_ask *ask, buf *out, err *e)
{
    return check_run(ask, e) < 0 ? -1 : status_json(db, ask->run, out, e);
}

static int write_board(store *db, const view_ask *ask, buf *out, err *e)
{
    if (check_run(ask, e) < 0)
        return -1;
    const char *run = ask->run != NULL ? ask->run : "latest";
    const board_ask wanted = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(db, &wanted, e);
    if (b == NULL)
        return -1;
    SCOPED(figures_destroy) figures *f = figures_create(b);
    return results_json(f, false, out, e);
}

static int write_trend(store *db, const view_ask *ask, buf *out, err *e)
{
    return check_run(ask, e) < 0 ? -1 : trend_json(db, ask->run, out, e);
}

static int write_task(store *db, const view_ask *ask, buf *out, err *e)
{
    return check_task(ask, e) < 0 ? -1 : inspect_write(db, ask->task, true, out, e);
}

typedef struct blob_asking {
    hash name;
    buf *out;
} blob_asking;

static int read_blob(store_tx *tx, void *arg, err *e)
{
    blob_asking *a = arg;
    return artifact_get(tx, &a->name, a->out, e);
}

static int write_blob(store *db, const view_ask *ask, buf *out, err *e)
{
    blob_asking a = {.out = out};
    if (ask->hash == NULL || !hash_parse(ask->hash, &a.name))
        return err_set(e, ERR_USAGE, "which text? (?hash=64 hexadecimal digits)");
    return store_run(db, read_blob, &a, e);
}

const view views[] = {
    {"/api/runs", JSON_TYPE, write_runs},
    {"/api/run", JSON_TYPE, write_run},
    {"/api/board", JSON_TYPE, write_board},
    {"/api/task", JSON_TYPE, write_task},
    {"/api/blob", TEXT_TYPE, write_blob},
    {"/api/trend", JSON_TYPE, write_trend},
    {0},
};
