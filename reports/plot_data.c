/* plot_data - what the plots draw
 *
 * SPDX-License-Identifier: MIT */
#include "reports/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "reports/gnuplot.h"
#include "reports/text.h"
#include "store/history.h"

enum { DATA_MAX = 64 * 1024 * 1024, CURVE_POINTS = 2000 };

/* ---- what all have ---- */

static void write_protocol(const board *b, buf *out)
{
    const board_protocols used = b->runs[0].protocols;
    gnuplot_text(out, used.timing != NULL ? used.timing : used.correctness);
    if (used.timing == NULL)
        buf_puts(out, ", not timed");
    else if (strcmp(used.timing, "ce-timing-0") == 0)
        buf_puts(out, ", uncertified");
}

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
    write_protocol(b, out);
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
    buf bars, intervals, values, absent, problems;
    double low, high, y;
} blocks;

static void blocks_init(blocks *d)
{
    buf_init(&d->bars, DATA_MAX);
    buf_init(&d->intervals, DATA_MAX);
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
    buf_fini(&d->intervals);
    buf_fini(&d->values);
    buf_fini(&d->absent);
    buf_fini(&d->problems);
}

static void add_bar(blocks *d, size_t entrant, const grid_cell *cell)
{
    const double speedup = cell->speedup, reach = cell->high > speedup ? cell->high : speedup;
    const double left = speedup < 1 ? speedup : 1, right = speedup < 1 ? 1 : speedup;
    buf_printf(&d->bars, "%zu %g %.9g %.9g\n", entrant + 1, d->y, left, right);
    if (cell->low <= cell->high)
        buf_printf(&d->intervals, "%.9g %g %.9g %.9g\n", speedup, d->y, cell->low, cell->high);
    buf_printf(&d->values, "%.9g %g \"", reach > 1 ? reach : 1, d->y);
    text_factor(&d->values, speedup);
    buf_puts(&d->values, "\"\n");
    while (d->low > fmin(speedup, fmax(cell->low, 1e-6)) / 1.1)
        d->low /= 2;
    while (d->high < reach * 1.5) /* room for the number */
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
            add_bar(d, entrant, cell);
    }
    d->y += 1.2;
}

typedef struct group {
    size_t problem;
    double best; /* speedup of the fastest entrant; 0: none has one */
} group;

/* The fastest problem first; those without a speedup last, as the suite has them. */
static int by_best(const void *a, const void *b)
{
    const group *x = a;
    const group *y = b;
    if (x->best > y->best || x->best < y->best)
        return x->best > y->best ? -1 : 1;
    return (x->problem > y->problem) - (x->problem < y->problem);
}

static group *groups_of(const grid *g)
{
    group *groups = xcalloc(g->problem_count + 1, sizeof *groups);
    for (size_t p = 0; p < g->problem_count; p++) {
        groups[p].problem = p;
        for (size_t e = 0; e < g->entrant_count; e++)
            groups[p].best = fmax(groups[p].best, grid_at(g, p, e)->speedup);
    }
    qsort(groups, g->problem_count, sizeof *groups, by_best);
    return groups;
}

void plot_data_speedup(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    const grid *g = in->f->cells;
    SCOPED(scoped_free) group *groups = groups_of(g);
    SCOPED(blocks_fini) blocks d;
    blocks_init(&d);
    for (size_t i = 0; i < g->problem_count; i++)
        add_problem(&d, g, groups[i].problem);
    write_heading(b, "Speedup over the best baseline", out);
    write_names(b, out);
    buf_printf(out, "low = %.9g\nhigh = %.9g\nbottom = %g\n", d.low, d.high, d.y);
    gnuplot_block(out, "bars", &d.bars, "0 -9 1 1\n");
    gnuplot_block(out, "intervals", &d.intervals, "1 -9 1 1\n");
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
            !isnan(b->tasks[i].speedup) && !board_is_degenerate(b->tasks[i].problem))
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
    const size_t step = declared / CURVE_POINTS + 1; /* finer than a picture shows */
    for (size_t i = 0; i < count; i += i + step < count ? step : count - i)
        buf_printf(&rows, "%.9g %.9g\n", speeds[i], 100.0 * (double)(i + 1) / (double)declared);
    while (count > 0 && *high < speeds[0] * 1.1)
        *high *= 2;
    buf_printf(&rows, "0.001 %.9g\n",
               declared > 0 ? 100.0 * (double)count / (double)declared : 0.0);
    gnuplot_block(out, name, &rows, "");
}

void plot_data_fast(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    const agg_list *aggs = in->f->aggs;
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

void plot_data_heatmap(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    const grid *g = in->f->cells;
    SCOPED(buf_fini) buf cells = {0};
    SCOPED(buf_fini) buf problems = {0};
    buf_init(&cells, DATA_MAX);
    buf_init(&problems, DATA_MAX);
    size_t longest = 0;
    for (size_t p = 0; p < g->problem_count; p++) {
        const size_t letters = strlen(g->problems[p]);
        longest = letters > longest ? letters : longest;
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
    buf_printf(out, "problems = %zu\nlongest = %zu\n", g->problem_count, longest);
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

void plot_data_failures(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    const agg_list *aggs = in->f->aggs;
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

typedef struct offer {
    double usd, share;
} offer;

static int cheapest_first(const void *a, const void *b)
{
    const offer *x = a;
    const offer *y = b;
    if (x->usd > y->usd || x->usd < y->usd)
        return x->usd < y->usd ? -1 : 1;
    return (x->share < y->share) - (x->share > y->share);
}

/* The frontier: nobody who costs no more solves more. */
static void write_frontier(offer *offers, size_t count, double high, buf *out)
{
    SCOPED(buf_fini) buf rows = {0};
    buf_init(&rows, DATA_MAX);
    double best = -1;
    qsort(offers, count, sizeof *offers, cheapest_first);
    for (size_t i = 0; i < count; i++)
        if (offers[i].share > best) {
            best = offers[i].share;
            buf_printf(&rows, "%.9g %.9g\n", offers[i].usd, best);
        }
    if (count > 0)
        buf_printf(&rows, "%.9g %.9g\n", high, best);
    gnuplot_block(out, "frontier", &rows, count > 0 ? "" : "-9 -9\n"); /* it is a line */
}

static void add_unknown(buf *unknown, const board *b, size_t entrant)
{
    buf_puts(unknown, unknown->size > 0 ? ", " : "");
    gnuplot_text(unknown, b->entrants[entrant].row->name);
}

void plot_data_cost(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    const agg_list *aggs = in->f->aggs;
    SCOPED(buf_fini) buf points = {0};
    SCOPED(buf_fini) buf unknown = {0};
    SCOPED(scoped_free) offer *offers = xcalloc(b->entrant_count + 1, sizeof *offers);
    size_t count = 0;
    double high = 0;
    buf_init(&points, DATA_MAX);
    buf_init(&unknown, DATA_MAX);
    for (size_t e = 0; e < b->entrant_count; e++) {
        const agg *a = &aggs->rows[e];
        if (a->cost_unknown > 0)
            add_unknown(&unknown, b, e);
        if (a->cost_unknown > 0 || a->declared == 0)
            continue;
        const double share = 100.0 * (double)a->correct / (double)a->declared;
        buf_printf(&points, "%zu %.9g %.9g %.9g %.9g\n", e + 1, a->cost_usd, share,
                   100 * a->correct_low, 100 * a->correct_high);
        offers[count++] = (offer){a->cost_usd, share};
        high = fmax(high, a->cost_usd);
    }
    high = high > 0 ? high * 1.1 : 1.0;
    write_heading(b, "Correct answers and what they cost", out);
    write_names(b, out);
    buf_printf(out, "high = %.9g\nunknown = \"%s\"\n", high, buf_text(&unknown));
    gnuplot_block(out, "points", &points, "0 -9 -9 -9 -9\n");
    write_frontier(offers, count, high, out);
}

/* ---- roofline: times against the least that the card allows ---- */

typedef struct roofs {
    buf points, baselines;
    double low, high;
} roofs;

static void reach(roofs *r, double ms)
{
    while (r->low > ms)
        r->low /= 10;
    while (r->high < ms)
        r->high *= 10;
}

/* Tasks of one problem and entrant follow each other. */
static size_t same_cell(const board *b, size_t first)
{
    size_t n = 1;
    while (first + n < b->task_count && b->tasks[first + n].entrant == b->tasks[first].entrant &&
           b->tasks[first + n].problem == b->tasks[first].problem)
        n++;
    return n;
}

static void add_roof(roofs *r, const board_task *tasks, size_t count)
{
    SCOPED(scoped_free) double *mine = xcalloc(2 * count, sizeof *mine);
    double *theirs = mine + count, floor_ms = (double)NAN;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const board_task *t = &tasks[i];
        if (!board_task_correct(t) || isnan(t->candidate_ms) || isnan(t->baseline_ms) ||
            isnan(t->row->outcome.floor_ms))
            continue;
        floor_ms = t->row->outcome.floor_ms;
        mine[n] = t->candidate_ms;
        theirs[n++] = t->baseline_ms;
    }
    if (n == 0)
        return;
    const double candidate = stats_median(mine, n), baseline = stats_median(theirs, n);
    buf_printf(&r->points, "%u %.9g %.9g \"", tasks->entrant + 1, floor_ms, candidate);
    gnuplot_text(&r->points, tasks->row->problem);
    buf_puts(&r->points, "\"\n");
    buf_printf(&r->baselines, "%.9g %.9g\n", floor_ms, baseline);
    reach(r, floor_ms);
    reach(r, candidate);
    reach(r, baseline);
}

void plot_data_roofline(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    roofs r = {.low = 0.01, .high = 0.1};
    buf_init(&r.points, DATA_MAX);
    buf_init(&r.baselines, DATA_MAX);
    for (size_t i = 0, n; i < b->task_count; i += n) {
        n = same_cell(b, i);
        add_roof(&r, &b->tasks[i], n);
    }
    write_heading(b, "Times against the least that the card allows", out);
    write_names(b, out);
    buf_printf(out, "low = %.9g\nhigh = %.9g\nempty = %d\n", r.low, r.high, r.points.size == 0);
    gnuplot_block(out, "points", &r.points, "0 1e-9 1e-9 \"\"\n");
    gnuplot_block(out, "baselines", &r.baselines, "1e-9 1e-9\n");
    buf_fini(&r.points);
    buf_fini(&r.baselines);
}

/* ---- gain: what further tries bring ---- */

void plot_data_gain(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    size_t tries = 0, timed = 0;
    double high = 1.1;
    for (size_t e = 0; e < b->entrant_count; e++) {
        tries = b->gains[e].tries > tries ? b->gains[e].tries : tries;
        timed += b->gains[e].timed;
    }
    write_heading(b, "What further tries bring", out);
    write_names(b, out);
    for (size_t e = 0; e < b->entrant_count; e++) {
        SCOPED(buf_fini) buf rows = {0};
        buf_init(&rows, DATA_MAX);
        char name[32];
        snprintf(name, sizeof name, "gain%zu", e + 1);
        for (size_t k = 0; k < tries; k++) {
            const double best = gain_best(&b->gains[e], k);
            buf_printf(&rows, "%zu %.9g %.9g\n", k + 1, 100 * gain_share(&b->gains[e], k), best);
            high = fmax(high, 1.05 * best);
        }
        gnuplot_block(out, name, &rows, tries > 0 ? "" : "-9 -9 1\n");
    }
    buf_printf(out, "tries = %zu\nhigh = %.9g\ntimed = %d\n", tries, high, timed > 0);
}

/* ---- trend: the same entrants, night after night ---- */

/* The run itself is its own newest night. */
static history_row tonight(const board *b, size_t entrant)
{
    history_row row = {.created_ms = b->runs[0].row.created_ms};
    for (size_t i = 0; i < b->task_count; i++) {
        const board_task *t = &b->tasks[i];
        if (t->entrant != entrant || board_is_degenerate(t->problem))
            continue;
        row.declared++;
        row.correct += board_task_correct(t) ? 1 : 0;
        if (!board_task_correct(t) || isnan(t->speedup) || board_is_gemm(t->problem))
            continue;
        row.measured++;
        row.ln_sum += log(t->speedup);
        row.ln_squares += log(t->speedup) * log(t->speedup);
    }
    return row;
}

/* Of the mean of ln speedup, by the normal distribution: a band for the eye, no test is made of it. */
static double half_width(const history_row *row)
{
    const double n = (double)row->measured;
    if (row->measured < 2)
        return 0;
    const double mean = row->ln_sum / n;
    const double variance = fmax(0, row->ln_squares / n - mean * mean) * n / (n - 1);
    return 1.96 * sqrt(variance / n);
}

static void add_night(const history_row *row, double *high, buf *rows)
{
    double low_share, high_share;
    if (row->declared == 0)
        return;
    stats_wilson(row->correct, row->declared, &low_share, &high_share);
    buf_printf(rows, "%.3f %.9g %.9g %.9g ", (double)row->created_ms / 1000,
               100.0 * (double)row->correct / (double)row->declared, 100 * low_share,
               100 * high_share);
    if (row->measured == 0) {
        buf_puts(rows, "NaN NaN NaN\n");
        return;
    }
    const double mean = row->ln_sum / (double)row->measured, half = half_width(row);
    buf_printf(rows, "%.9g %.9g %.9g\n", exp(mean), exp(mean - half), exp(mean + half));
    while (*high < exp(mean + half))
        *high *= 2;
}

static bool is_of(const history_row *row, const board *b, size_t entrant)
{
    return strcmp(row->entrant, b->entrants[entrant].row->name) == 0;
}

void plot_data_trend(const plot_input *in, buf *out)
{
    const board *b = in->f->b;
    const size_t count = in->earlier != NULL ? in->earlier->count : 0;
    const int64_t last = b->runs[0].row.created_ms;
    double high = 2;
    bool timed = false;
    write_heading(b, "Night after night", out);
    write_names(b, out);
    for (size_t e = 0; e < b->entrant_count; e++) {
        SCOPED(buf_fini) buf rows = {0};
        buf_init(&rows, DATA_MAX);
        char name[32];
        snprintf(name, sizeof name, "nights%zu", e + 1);
        for (size_t i = 0; i < count; i++)
            if (is_of(&in->earlier->rows[i], b, e))
                add_night(&in->earlier->rows[i], &high, &rows);
        const history_row now = tonight(b, e);
        add_night(&now, &high, &rows);
        timed |= now.measured > 0;
        gnuplot_block(out, name, &rows, "");
    }
    const int64_t first = count > 0 ? in->earlier->rows[0].created_ms : last;
    buf_printf(out, "first = %lld\nlast = %lld\nhigh = %.9g\ntimed = %d\nalone = %d\n",
               (long long)(first / 1000), (long long)(last / 1000), high, timed, count == 0);
}
