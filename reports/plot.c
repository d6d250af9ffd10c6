/* plot - the speedup plot, drawn by gnuplot
 *
 * gnuplot reads two files: the data, handed over as an unnamed file on descriptor 3, and the template.
 * Foreign text (model names, problem ids, details) goes through plain_text, which leaves nothing that
 * means something to gnuplot.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "reports/grid.h"
#include "reports/text.h"

enum { DEADLINE_MS = 60000, DATA_MAX = 64 * 1024 * 1024, LOG_MAX = 16 * 1024, DATA_FD = 3 };

static void plain_text(buf *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = c >= 0x80 || (c >= ' ' && c < 0x7f && strchr("\"'`@\\$", c) == NULL);
        buf_add(out, plain ? p : "_", 1);
    }
}

/* ---- the data file ---- */

typedef struct blocks {
    buf bars, values, absent, problems;
    double low, high, y;
} blocks;

static void blocks_init(blocks *d)
{
    buf_init(&d->bars, DATA_MAX);
    buf_init(&d->values, DATA_MAX);
    buf_init(&d->absent, DATA_MAX);
    buf_init(&d->problems, DATA_MAX);
    d->low = 0.5;
    d->high = 2;
    d->y = 0;
}

static void blocks_fini(blocks *d)
{
    buf_fini(&d->bars);
    buf_fini(&d->values);
    buf_fini(&d->absent);
    buf_fini(&d->problems);
}

static void add_bar(blocks *d, size_t entrant, double speedup)
{
    double left = speedup < 1 ? speedup : 1, right = speedup < 1 ? 1 : speedup;
    buf_printf(&d->bars, "%zu %g %.9g %.9g\n", entrant + 1, d->y, left, right);
    buf_printf(&d->values, "%.9g %g \"", right, d->y);
    text_factor(&d->values, speedup);
    buf_puts(&d->values, "\"\n");
    while (d->low > speedup / 1.1)
        d->low /= 2;
    while (d->high < speedup * 1.5) /* room for the number */
        d->high *= 2;
}

static void add_absent(blocks *d, const board_task *t)
{
    SCOPED(buf_fini) buf words = {0};
    buf_init(&words, 1024);
    if (t == NULL)
        buf_puts(&words, "no task");
    else
        text_outcome(&words, t->row);
    if (t != NULL && board_task_correct(t))
        buf_puts(&words, ", not measured");
    buf_printf(&d->absent, "%g \"", d->y);
    plain_text(&d->absent, buf_text(&words));
    buf_puts(&d->absent, "\"\n");
}

static void add_problem(blocks *d, const grid *g, size_t problem)
{
    buf_printf(&d->problems, "%g \"", d->y);
    plain_text(&d->problems, g->problems[problem]);
    buf_puts(&d->problems, "\"\n");
    for (size_t entrant = 0; entrant < g->entrant_count; entrant++) {
        d->y += 1;
        const grid_cell *cell = grid_at(g, problem, entrant);
        if (isnan(cell->speedup))
            add_absent(d, cell->example);
        else
            add_bar(d, entrant, cell->speedup);
    }
    d->y += 1.2;
}

static void write_heading(const board *b, buf *out)
{
    const run_row *run = &b->runs[0].row;
    buf_puts(out, "heading = \"Speedup over the best baseline\"\nremark = \"");
    plain_text(out, run->suite);
    buf_puts(out, " ");
    plain_text(out, run->suite_version);
    buf_puts(out, " · ");
    SCOPED(buf_fini) buf devices = {0};
    buf_init(&devices, 4096);
    text_distinct(&devices, b, offsetof(result_row, device));
    plain_text(out, buf_text(&devices));
    buf_puts(out, " · ");
    plain_text(out, run->timing_protocol);
    if (strcmp(run->timing_protocol, "ce-timing-0") == 0)
        buf_puts(out, ", uncertified");
    buf_puts(out, run->samples < BOARD_PROVISIONAL_BELOW ? ", provisional\"\n" : "\"\n");
}

static void write_names(const board *b, buf *out)
{
    buf_printf(out, "entrants = %zu\narray names[%zu] = [", b->entrant_count, b->entrant_count);
    for (size_t i = 0; i < b->entrant_count; i++) {
        buf_puts(out, i > 0 ? ", \"" : "\"");
        plain_text(out, b->entrants[i].row->name);
        buf_puts(out, "\"");
    }
    buf_puts(out, "]\n");
}

/* The one point outside the picture keeps gnuplot content where there is no other. */
static void write_block(buf *out, const char *name, const buf *rows, const char *outside)
{
    buf_printf(out, "$%s << EOD\n%s%sEOD\n", name, buf_text(rows), outside);
}

void plot_speedup_data(const board *b, buf *out)
{
    SCOPED(grid_destroy) grid *g = grid_create(b);
    SCOPED(blocks_fini) blocks d;
    blocks_init(&d);
    for (size_t i = 0; i < g->problem_count; i++)
        add_problem(&d, g, i);
    write_heading(b, out);
    write_names(b, out);
    buf_printf(out, "low = %.9g\nhigh = %.9g\nbottom = %g\n", d.low, d.high, d.y);
    write_block(out, "bars", &d.bars, "0 -9 1 1\n");
    write_block(out, "values", &d.values, "1 -9 \"\"\n");
    write_block(out, "absent", &d.absent, "-9 \"\"\n");
    write_block(out, "problems", &d.problems, "-9 \"\"\n");
}

/* ---- gnuplot ---- */

static char *template_path(err *e)
{
    SCOPED(scoped_free) char *self = file_self_dir(e);
    if (self == NULL)
        return NULL;
    SCOPED(scoped_free) char *installed = file_join(self, "../share/ce/gp/speedup.gp");
    if (file_exists(installed))
        return TAKE(installed);
    if (file_exists(CE_SOURCE_DIR "/reports/gp/speedup.gp"))
        return xstrdup(CE_SOURCE_DIR "/reports/gp/speedup.gp");
    err_set(e, ERR_NOT_FOUND, "%s is missing from the installation", installed);
    return NULL;
}

/* A memory file that gnuplot opens as /dev/fd/3. */
static int data_file(const buf *data, err *e)
{
    SCOPED(scoped_close) int fd = memfd_create("speedup", MFD_CLOEXEC);
    if (fd < 0)
        return err_errno(e, errno, "memory file");
    for (size_t done = 0; done < data->size;) {
        ssize_t n = write(fd, data->data + done, data->size - done);
        if (n < 0)
            return err_errno(e, errno, "memory file");
        done += (size_t)n;
    }
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(e, errno, "memory file");
    int given = fd;
    fd = -1;
    return given;
}

static int run_gnuplot(const char *template, int data, buf *svg, err *e)
{
    SCOPED(buf_fini) buf log = {0};
    buf_init(&log, LOG_MAX);
    const char *const argv[] = {"gnuplot", "-d", "/dev/fd/3", template, NULL};
    const subproc_fd fds[] = {{data, DATA_FD}};
    subproc_options options = {.argv = argv, .fds = fds, .fd_count = 1};
    int status = 0;
    err why = {0};
    if (subproc_run(&options, DEADLINE_MS, svg, &log, &status, &why) < 0) {
        if (why.code == ERR_NOT_FOUND)
            return err_set(e, ERR_UNAVAILABLE, "gnuplot is not installed");
        return err_set(e, why.code, "%s", why.text);
    }
    if (status != 0 || !str_starts(buf_text(svg), "<?xml"))
        return err_set(e, ERR_INTERNAL, "gnuplot failed: %.160s", buf_text(&log));
    return 0;
}

int plot_speedup(const board *b, buf *svg, err *e)
{
    SCOPED(scoped_free) char *template = template_path(e);
    if (template == NULL)
        return -1;
    SCOPED(buf_fini) buf data = {0};
    buf_init(&data, (size_t)DATA_MAX * 4);
    plot_speedup_data(b, &data);
    SCOPED(scoped_close) int fd = data_file(&data, e);
    if (fd < 0)
        return -1;
    return run_gnuplot(template, fd, svg, e);
}
