/* plot_data - what the plots draw
 *
 * SPDX-License-Identifier: MIT */
#include "reports/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/agg.h"
#include "reports/gnuplot.h"
#include "reports/grid.h"
#include "reports/text.h"

enum { DATA_MAX = 64 * 1024 * 1024 };

/* ---- what all have ---- */

static void write_heading(const board *b, const char *heading, buf *out)
{
    const run_row *run = &b->runs[0].row;
    buf_printf(out, "heading = \"%s\"\nremark = \"", heading);
    gnuplot_text(out, run->suite);
    buf_puts(out, " ");
    gnuplot_text(out, run->suite_version);
    buf_puts(out, " · ");
    SCOPED(buf_fini) buf devices = {0};
    buf_init(&devices, 4096);
    text_distinct(&devices, b, offsetof(board_facts, device));
    gnuplot_text(out, buf_text(&devices));
    buf_puts(out, " · ");
    gnuplot_text(out, run->timing_protocol);
    if (strcmp(run->timing_protocol, "ce-timing-0") == 0)
        buf_puts(out, ", uncertified");
    buf_puts(out, run->samples < BOARD_PROVISIONAL_BELOW ? ", provisional\"\n" : "\"\n");
}

static void write_names(const board *b, buf *out)
{
    buf_printf(out, "entrants = %zu\narray names[%zu] = [", b->entrant_count, b->entrant_count);
    for (size_t i = 0; i < b->entrant_count; i++) {
        buf_puts(out, i > 0 ? ", \"" : "\"");
        gnuplot_text(out, b->entrants[i].row->name);
        buf_puts(out, "\"");
    }
    buf_puts(out, "]\n");
}

/* ---- speedup: one bar an entrant and problem ---- */

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
    gnuplot_text(&d->absent, buf_text(&words));
    buf_puts(&d->absent, "\"\n");
}

static void add_problem(blocks *d, const grid *g, size_t problem)
{
    buf_printf(&d->problems, "%g \"", d->y);
    gnuplot_text(&d->problems, g->problems[problem]);
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

void plot_data_speedup(const board *b, buf *out)
{
    SCOPED(grid_destroy) grid *g = grid_create(b);
    SCOPED(blocks_fini) blocks d;
    blocks_init(&d);
    for (size_t i = 0; i < g->problem_count; i++)
        add_problem(&d, g, i);
    write_heading(b, "Speedup over the best baseline", out);
    write_names(b, out);
    buf_printf(out, "low = %.9g\nhigh = %.9g\nbottom = %g\n", d.low, d.high, d.y);
    gnuplot_block(out, "bars", &d.bars, "0 -9 1 1\n");
    gnuplot_block(out, "values", &d.values, "1 -9 \"\"\n");
    gnuplot_block(out, "absent", &d.absent, "-9 \"\"\n");
    gnuplot_block(out, "problems", &d.problems, "-9 \"\"\n");
}

/* ---- fast_p: share of all tasks that are correct and faster than p times ---- */

static int descending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x < *y) - (*x > *y);
}

/* speeds_of gives the speedups of an entrant's correct tasks, the largest first. */
static double *speeds_of(const board *b, size_t entrant, size_t *count)
{
    double *speeds = xcalloc(b->task_count + 1, sizeof *speeds);
    *count = 0;
    for (size_t i = 0; i < b->task_count; i++)
        if (b->tasks[i].entrant == entrant && board_task_correct(&b->tasks[i]) &&
            !isnan(b->tasks[i].speedup))
            speeds[(*count)++] = b->tasks[i].speedup;
    qsort(speeds, *count, sizeof *speeds, descending);
    return speeds;
}

/* One block an entrant, from the right to the left: left of p the share is what the line says. */
static void add_curve(const board *b, size_t entrant, size_t declared, double *high, buf *out)
{
    size_t count = 0;
    SCOPED(scoped_free) double *speeds = speeds_of(b, entrant, &count);
    SCOPED(buf_fini) buf rows = {0};
    buf_init(&rows, DATA_MAX);
    char name[32];
    snprintf(name, sizeof name, "curve%zu", entrant + 1);
    if (count > 0)
        buf_printf(&rows, "%.9g 0\n", speeds[0]);
    for (size_t i = 0; i < count; i++)
        buf_printf(&rows, "%.9g %.9g\n", speeds[i], 100.0 * (double)(i + 1) / (double)declared);
    while (count > 0 && *high < speeds[0] * 1.1)
        *high *= 2;
    buf_printf(&rows, "0.001 %.9g\n",
               declared > 0 ? 100.0 * (double)count / (double)declared : 0.0);
    gnuplot_block(out, name, &rows, "");
}

void plot_data_fast(const board *b, buf *out)
{
    SCOPED(agg_list_destroy) agg_list *aggs = agg_list_create(b);
    double high = 4;
    bool any = false;
    write_heading(b, "Share of tasks that are correct and more than p times as fast", out);
    write_names(b, out);
    for (size_t e = 0; e < b->entrant_count; e++) {
        add_curve(b, e, aggs->rows[e].declared, &high, out);
        any = any || aggs->rows[e].measured > 0;
    }
    buf_printf(out, "high = %.9g\nempty = %d\n", high, !any);
}

/* ---- heatmap: problems by entrants ---- */

typedef enum cell_kind { CELL_MISSING, CELL_INCORRECT, CELL_UNMEASURED, CELL_SPEED } cell_kind;

static cell_kind kind_of(const grid_cell *cell)
{
    if (cell->example == NULL || !board_task_scored(cell->example))
        return CELL_MISSING;
    if (cell->correct == 0)
        return CELL_INCORRECT;
    return isnan(cell->speedup) ? CELL_UNMEASURED : CELL_SPEED;
}

void plot_data_heatmap(const board *b, buf *out)
{
    SCOPED(grid_destroy) grid *g = grid_create(b);
    SCOPED(buf_fini) buf cells = {0};
    SCOPED(buf_fini) buf problems = {0};
    buf_init(&cells, DATA_MAX);
    buf_init(&problems, DATA_MAX);
    for (size_t p = 0; p < g->problem_count; p++) {
        buf_printf(&problems, "%zu \"", p + 1);
        gnuplot_text(&problems, g->problems[p]);
        buf_puts(&problems, "\"\n");
        for (size_t e = 0; e < g->entrant_count; e++) {
            const grid_cell *cell = grid_at(g, p, e);
            cell_kind kind = kind_of(cell);
            buf_printf(&cells, "%zu %zu %d %.9g \"", e + 1, p + 1, (int)kind,
                       kind == CELL_SPEED ? log2(cell->speedup) : 0.0);
            if (kind == CELL_SPEED)
                text_factor(&cells, cell->speedup);
            buf_puts(&cells, "\"\n");
        }
    }
    write_heading(b, "Speedup by problem and entrant", out);
    write_names(b, out);
    buf_printf(out, "problems = %zu\n", g->problem_count);
    gnuplot_block(out, "cells", &cells, "-9 -9 3 0 \"\"\n");
    gnuplot_block(out, "names_of_problems", &problems, "-9 \"\"\n");
}

/* ---- failures: what became of an entrant's tasks, by the stage that decided ---- */

static const char *const fates[] = {"correct",     "interview", "codegen",  "correctness",
                                    "performance", "polish",    "no stage", "not scored"};
enum { FATES = sizeof fates / sizeof fates[0], FATE_NO_STAGE = FATES - 2, FATE_OPEN };

static size_t fate_of(const char *stage)
{
    for (size_t i = 1; i < FATE_NO_STAGE; i++)
        if (strcmp(fates[i], stage) == 0)
            return i;
    return FATE_NO_STAGE;
}

/* add_fates writes one box a fate: entrant, fate, from and to in per cent of what was declared. */
static void add_fates(const agg *a, size_t entrant, buf *boxes)
{
    size_t counts[FATES] = {a->correct};
    size_t known = a->correct;
    for (size_t i = 0; i < a->failure_count; i++) {
        counts[fate_of(a->failures[i].stage)] += a->failures[i].count;
        known += a->failures[i].count;
    }
    counts[FATE_OPEN] = a->declared > known ? a->declared - known : 0;
    double from = 0;
    for (size_t i = 0; i < FATES && a->declared > 0; i++) {
        double to = from + 100.0 * (double)counts[i] / (double)a->declared;
        if (counts[i] > 0)
            buf_printf(boxes, "%zu %zu %.9g %.9g \"%zu\"\n", entrant + 1, i + 1, from, to,
                       counts[i]);
        from = to;
    }
}

void plot_data_failures(const board *b, buf *out)
{
    SCOPED(agg_list_destroy) agg_list *aggs = agg_list_create(b);
    SCOPED(buf_fini) buf boxes = {0};
    buf_init(&boxes, DATA_MAX);
    for (size_t e = 0; e < b->entrant_count; e++)
        add_fates(&aggs->rows[e], e, &boxes);
    write_heading(b, "What became of the tasks, by the stage that decided", out);
    write_names(b, out);
    buf_printf(out, "fates = %d\narray fate[%d] = [", FATES, FATES);
    for (size_t i = 0; i < FATES; i++)
        buf_printf(out, "%s\"%s\"", i > 0 ? ", " : "", fates[i]);
    buf_puts(out, "]\n");
    gnuplot_block(out, "boxes", &boxes, "-9 1 0 0 \"\"\n");
}

/* ---- cost: correct answers against money ---- */

void plot_data_cost(const board *b, buf *out)
{
    SCOPED(agg_list_destroy) agg_list *aggs = agg_list_create(b);
    SCOPED(buf_fini) buf points = {0};
    SCOPED(buf_fini) buf unknown = {0};
    buf_init(&points, DATA_MAX);
    buf_init(&unknown, DATA_MAX);
    double high = 0;
    for (size_t e = 0; e < b->entrant_count; e++) {
        const agg *a = &aggs->rows[e];
        if (a->cost_unknown > 0) {
            buf_puts(&unknown, unknown.size > 0 ? ", " : "");
            gnuplot_text(&unknown, b->entrants[e].row->name);
            continue;
        }
        if (a->declared == 0)
            continue;
        buf_printf(&points, "%zu %.9g %.9g %.9g %.9g\n", e + 1, a->cost_usd,
                   100.0 * (double)a->correct / (double)a->declared, 100 * a->correct_low,
                   100 * a->correct_high);
        high = fmax(high, a->cost_usd);
    }
    write_heading(b, "Correct answers and what they cost", out);
    write_names(b, out);
    buf_printf(out, "high = %.9g\nunknown = \"%s\"\n", high > 0 ? high * 1.1 : 1.0,
               buf_text(&unknown));
    gnuplot_block(out, "points", &points, "0 -9 -9 -9 -9\n");
}
