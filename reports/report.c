/* report - all files of a run in one folder
 *
 * SPDX-License-Identifier: MIT */
#include "reports/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/sink.h"
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

enum { PIECE_MAX = 1024 * 1024 };

typedef int render_fn(const figures *f, buf *out, err *e);

static int markdown_write(const figures *f, buf *out, err *e)
{
    (void)e;
    leaderboard_write(f, false, out);
    return 0;
}

static int html_write(const figures *f, buf *out, err *e)
{
    (void)e;
    board_html_write(f, false, out);
    return 0;
}

static int json_write(const figures *f, buf *out, err *e)
{
    return results_json(f, false, out, e);
}

static int csv_write(const figures *f, buf *out, err *e)
{
    (void)e;
    results_csv(f, false, out);
    return 0;
}

static int entrants_write(const figures *f, buf *out, err *e)
{
    (void)e;
    rerun_entrants(&f->b->runs[0].row, out);
    return 0;
}

static const struct {
    const char *name;
    render_fn *render;
} files[] = {
    {"leaderboard.md", markdown_write}, {"leaderboard.html", html_write},
    {"results.json", json_write},       {"results.csv", csv_write},
    {"entrants.json", entrants_write},
};
enum { FILES = sizeof files / sizeof files[0], LARGEST = 2 };

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
    const figures *f;
    const board *before; /* NULL without */
    history_list earlier;
    const char *folder;
    bool png;
    document_file made[FILES + PLOT_COUNT]; /* in the order of the page */
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
static int write_plot(order *o, size_t index, err *missing, err *e)
{
    const plot *which = &plots[index];
    SCOPED(buf_fini) buf data = {0};
    const plot_input in = {o->f, &o->earlier};
    buf_init(&data, TEXT_REPORT_MAX);
    which->data(&in, &data);
    o->made[FILES + index] = (document_file){which->numbers, hash_of(buf_text(&data), data.size)};
    if (write_file(o->folder, which->numbers, &data, e) < 0 ||
        write_picture(o, which, &data, false, missing, e) < 0)
        return -1;
    return o->png ? write_picture(o, which, &data, true, missing, e) : 0;
}

static int write_plots(order *o, err *e)
{
    err missing = {.code = ERR_NONE};
    for (size_t i = 0; i < PLOT_COUNT; i++)
        if (write_plot(o, i, &missing, e) < 0)
            return -1;
    if (missing.code != ERR_NONE)
        fprintf(stderr,
                "no plot was drawn: %s; `ce-coord leaderboard RUN --out %s` draws them later\n",
                missing.text, o->folder);
    return 0;
}

/* A piece at a time: a million results are more text than should be in memory. */
static int make_file(order *o, size_t index, err *e)
{
    document_file *made = &o->made[index];
    made->name = files[index].name;
    SCOPED(scoped_free) char *path = file_join(o->folder, made->name);
    SCOPED(sink_destroy) sink *out = sink_create(path, e);
    SCOPED(buf_fini) buf text = {0};
    if (out == NULL)
        return -1;
    buf_init_drain(&text, PIECE_MAX, sink_add, out);
    if (files[index].render(o->f, &text, e) < 0)
        return -1;
    bool written = sink_add(out, buf_text(&text), text.size) == 0;
    if (written && text.overflow)
        return err_set(e, ERR_LIMIT, "%s: a line is larger than %d bytes", path, PIECE_MAX);
    return sink_commit(out, &made->content, e);
}

/* The largest file takes as long as all others: it is written beside them. */
typedef struct aside {
    order *o;
    int rc;
    err why;
} aside;

static void *write_aside(void *arg)
{
    aside *self = arg;
    self->rc = make_file(self->o, LARGEST, &self->why);
    return NULL;
}

static int write_rest(order *o, err *e)
{
    for (size_t i = 0; i < FILES; i++)
        if (i != LARGEST && make_file(o, i, e) < 0)
            return -1;
    return write_plots(o, e);
}

static int write_page(const order *o, err *e)
{
    const regress_ask held = {.now = o->f->b, .before = o->before, .rules = &gate_defaults};
    SCOPED(regress_destroy)
    regress *changes = o->before != NULL ? regress_create(&held, e) : NULL;
    SCOPED(buf_fini) buf page = {0};
    buf_init(&page, TEXT_REPORT_MAX);
    if (o->before != NULL && changes == NULL)
        return -1;
    const document_ask ask = {o->f, o->before, changes, o->made, FILES + PLOT_COUNT};
    document_write(&ask, &page);
    return write_file(o->folder, "report.md", &page, e);
}

static int write_all(order *o, err *e)
{
    pthread_t thread;
    aside largest = {.o = o};
    if (file_mkdirs(o->folder, e) < 0)
        return -1;
    const bool apart = pthread_create(&thread, NULL, write_aside, &largest) == 0;
    if (!apart)
        write_aside(&largest);
    const int rc = write_rest(o, e);
    if (apart)
        pthread_join(thread, NULL);
    if (rc < 0)
        return -1;
    if (largest.rc < 0) {
        if (e != NULL)
            *e = largest.why;
        return -1;
    }
    return write_page(o, e);
}

/* ---- earlier nights ---- */

static int earlier_fn(store_tx *tx, void *arg, err *e)
{
    order *o = arg;
    const board *b = o->f->b;
    const board_run *run = &b->runs[0];
    const history_ask ask = {
        .run = run->row.id,
        .device = b->facts_count > 0 ? b->facts[0]->device : NULL,
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
    SCOPED(figures_destroy) figures *f = figures_create(b);
    order o = {.f = f, .before = before, .folder = out_dir, .png = ask->png};
    int rc = store_run(db, earlier_fn, &o, e) < 0 ? -1 : write_all(&o, e);
    history_list_fini(&o.earlier);
    return rc;
}
