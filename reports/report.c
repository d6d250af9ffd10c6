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
#include "reports/leaderboard.h"
#include "reports/plot.h"
#include "reports/results.h"
#include "reports/text.h"

typedef void render_fn(const board *b, bool stable, buf *out);

static const struct {
    const char *name;
    render_fn *render;
} files[] = {
    {"leaderboard.md", leaderboard_write},
    {"results.json", results_json},
    {"results.csv", results_csv},
};

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

/* write_plot writes the data in any case. `missing` remembers the first reason for no picture. */
static int write_plot(const plot *which, const board *b, const char *folder, err *missing, err *e)
{
    SCOPED(scoped_free) char *picture = xasprintf("%s.svg", which->name);
    SCOPED(scoped_free) char *numbers = xasprintf("%s.dat", which->name);
    SCOPED(buf_fini) buf data = {0};
    SCOPED(buf_fini) buf svg = {0};
    buf_init(&data, TEXT_REPORT_MAX);
    buf_init(&svg, TEXT_REPORT_MAX);
    which->data(b, &data);
    if (write_file(folder, numbers, &data, e) < 0)
        return -1;
    if (missing->code == ERR_NONE && plot_draw(which, &data, &svg, missing) == 0)
        return write_file(folder, picture, &svg, e);
    return forget(folder, picture, e);
}

static int write_plots(const board *b, const char *folder, err *e)
{
    err missing = {.code = ERR_NONE};
    for (size_t i = 0; i < PLOT_COUNT; i++)
        if (write_plot(&plots[i], b, folder, &missing, e) < 0)
            return -1;
    if (missing.code != ERR_NONE)
        fprintf(stderr,
                "no plot was drawn: %s; `ce-coord leaderboard RUN --out %s` draws them later\n",
                missing.text, folder);
    return 0;
}

int report_write_all(struct store *db, const char *run, const char *out_dir, err *e)
{
    const board_ask ask = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(db, &ask, e);
    if (b == NULL || file_mkdirs(out_dir, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, TEXT_REPORT_MAX);
        files[i].render(b, false, &text);
        if (write_file(out_dir, files[i].name, &text, e) < 0)
            return -1;
    }
    return write_plots(b, out_dir, e);
}
