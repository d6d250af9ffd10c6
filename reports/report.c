/* report - all files of a run in one folder
 *
 * SPDX-License-Identifier: MIT */
#include "reports/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/board.h"
#include "reports/board_html.h"
#include "reports/document.h"
#include "reports/leaderboard.h"
#include "reports/plot.h"
#include "reports/regress.h"
#include "reports/rerun.h"
#include "reports/results.h"
#include "reports/text.h"
#include "store/history.h"

enum { PIECE_MAX = 4 * 1024 * 1024 };

typedef void render_fn(const board *b, bool stable, buf *out);

static void entrants_write(const board *b, bool stable, buf *out)
{
    (void)stable;
    rerun_entrants(&b->runs[0].row, out);
}

static const struct {
    const char *name;
    render_fn *render;
} files[] = {
    {"leaderboard.md", leaderboard_write}, {"leaderboard.html", board_html_write},
    {"results.json", results_json},        {"results.csv", results_csv},
    {"entrants.json", entrants_write},
};
enum { FILES = sizeof files / sizeof files[0] };

int report_print(const struct buf *text, const char *path, err *e)
{
    if (text->overflow)
        return err_set(e, ERR_LIMIT, "the report is larger than %d bytes", TEXT_REPORT_MAX);
    if (path != NULL)
        return file_write(path, buf_text(text), text->size, e);
    if (fwrite(buf_text(text), 1, text->size, stdout) != text->size || fflush(stdout) != 0)
        return err_errno(e, errno, "standard output");
    return 0;
}

static int write_file(const char *folder, const char *name, const buf *text, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return report_print(text, path, e);
}

static int forget(const char *folder, const char *name, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(e, errno, "%s", path);
    return 0;
}

/* What is written, and where. */
typedef struct order {
    const board *b, *before; /* before: NULL without */
    history_list earlier;
    const char *folder;
    bool png;
} order;

/* A picture of an earlier time must not stand beside newer data. */
static int write_picture(const order *o, const plot *which, const buf *data, bool png, err *missing,
                         err *e)
{
    SCOPED(scoped_free) char *name = xasprintf("%s.%s", which->name, png ? "png" : "svg");
    SCOPED(buf_fini) buf picture = {0};
    buf_init(&picture, TEXT_REPORT_MAX);
    if (missing->code == ERR_NONE && plot_draw(which, data, png, &picture, missing) == 0)
        return write_file(o->folder, name, &picture, e);
    return forget(o->folder, name, e);
}

/* write_plot writes the data in any case. `missing` remembers the first reason for no picture. */
static int write_plot(const order *o, const plot *which, err *missing, err *e)
{
    SCOPED(scoped_free) char *numbers = xasprintf("%s.dat", which->name);
    SCOPED(buf_fini) buf data = {0};
    const plot_input in = {o->b, &o->earlier};
    buf_init(&data, TEXT_REPORT_MAX);
    which->data(&in, &data);
    if (write_file(o->folder, numbers, &data, e) < 0 ||
        write_picture(o, which, &data, false, missing, e) < 0)
        return -1;
    return o->png ? write_picture(o, which, &data, true, missing, e) : 0;
}

static int write_plots(const order *o, err *e)
{
    err missing = {.code = ERR_NONE};
    for (size_t i = 0; i < PLOT_COUNT; i++)
        if (write_plot(o, &plots[i], &missing, e) < 0)
            return -1;
    if (missing.code != ERR_NONE)
        fprintf(stderr,
                "no plot was drawn: %s; `ce-coord leaderboard RUN --out %s` draws them later\n",
                missing.text, o->folder);
    return 0;
}

/* A piece at a time: a million results are more text than should be in memory. */
static int render_file(const board *b, const char *name, render_fn *render, const char *folder,
                       err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    SCOPED(file_out_destroy) file_out *out = file_out_create(path, e);
    SCOPED(buf_fini) buf text = {0};
    if (out == NULL)
        return -1;
    buf_init_drain(&text, PIECE_MAX, file_out_add, out);
    render(b, false, &text);
    bool written = file_out_add(out, buf_text(&text), text.size) == 0;
    if (written && text.overflow)
        return err_set(e, ERR_LIMIT, "%s: a line is larger than %d bytes", path, PIECE_MAX);
    return file_out_commit(out, e);
}

static int write_page(const board *b, const board *before, const char *folder, err *e)
{
    char *names[FILES + PLOT_COUNT + 1] = {NULL};
    for (size_t i = 0; i < FILES; i++)
        names[i] = xstrdup(files[i].name);
    for (size_t i = 0; i < PLOT_COUNT; i++)
        names[FILES + i] = xasprintf("%s.dat", plots[i].name);
    const regress_ask held = {.now = b, .before = before, .rules = &gate_defaults};
    SCOPED(regress_destroy) regress *changes = before != NULL ? regress_create(&held, e) : NULL;
    SCOPED(buf_fini) buf page = {0};
    buf_init(&page, TEXT_REPORT_MAX);
    const document_ask ask = {b, before, changes, folder, (const char *const *)names};
    int rc = before != NULL && changes == NULL ? -1 : document_write(&ask, &page, e);
    for (size_t i = 0; i < FILES + PLOT_COUNT; i++)
        free(names[i]);
    return rc < 0 ? -1 : write_file(folder, "report.md", &page, e);
}

static int write_all(const order *o, err *e)
{
    if (file_mkdirs(o->folder, e) < 0)
        return -1;
    for (size_t i = 0; i < FILES; i++)
        if (render_file(o->b, files[i].name, files[i].render, o->folder, e) < 0)
            return -1;
    return write_plots(o, e) < 0 ? -1 : write_page(o->b, o->before, o->folder, e);
}

/* ---- earlier nights ---- */

static int earlier_fn(store_tx *tx, void *arg, err *e)
{
    order *o = arg;
    const board_run *run = &o->b->runs[0];
    const history_ask ask = {
        .run = run->row.id,
        .device = o->b->facts_count > 0 ? o->b->facts[0]->device : NULL,
        .correctness = run->protocols.correctness,
        .timing = run->protocols.timing,
    };
    return history_list_read(tx, &ask, &o->earlier, e);
}

int report_write_all(struct store *db, const report_ask *ask, const char *out_dir, err *e)
{
    const board_ask mine = {.runs = &ask->run, .run_count = 1};
    const board_ask theirs = {.runs = &ask->against, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(db, &mine, e);
    SCOPED(board_destroy)
    board *before = b != NULL && ask->against != NULL ? board_read(db, &theirs, e) : NULL;
    if (b == NULL || (ask->against != NULL && before == NULL))
        return -1;
    order o = {.b = b, .before = before, .folder = out_dir, .png = ask->png};
    int rc = store_run(db, earlier_fn, &o, e) < 0 ? -1 : write_all(&o, e);
    history_list_fini(&o.earlier);
    return rc;
}
