/* grid - problems × entrants: several samples made one cell
 *
 * Two passes over the tasks: the first counts the speeds of each cell, the second puts them into one
 * array, cell after cell, of which each cell takes its median.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "reports/agg.h"

/* Tasks come in suite order, so the next problem is at the hint or just after it. */
size_t grid_find(const grid *self, const char *id, size_t *hint)
{
    for (size_t n = 0; n < self->problem_count; n++, (*hint)++) {
        if (*hint >= self->problem_count)
            *hint = 0;
        if (strcmp(self->problems[*hint], id) == 0)
            return *hint;
    }
    return self->problem_count;
}

static void list_problems(grid *g, const board *b)
{
    size_t room = 1, hint = 0;
    for (size_t r = 0; r < b->run_count; r++)
        room += b->runs[r].problems.count;
    g->problems = xcalloc(room, sizeof *g->problems);
    for (size_t r = 0; r < b->run_count; r++)
        for (size_t i = 0; i < b->runs[r].problems.count; i++) {
            const char *id = b->runs[r].problems.rows[i].id;
            if (grid_find(g, id, &hint) == g->problem_count)
                g->problems[g->problem_count++] = id;
        }
}

static bool is_measured(const board_task *t)
{
    return board_task_correct(t) && !isnan(t->speedup);
}

static void count(grid *g, const board *b, grid_cell **of_task)
{
    size_t hint = 0;
    for (size_t i = 0; i < b->task_count; i++) {
        const board_task *t = &b->tasks[i];
        size_t problem = grid_find(g, t->row->problem, &hint);
        grid_cell *cell = &g->cells[problem * g->entrant_count + t->entrant];
        if (cell->example == NULL)
            cell->example = t;
        cell->correct += board_task_correct(t) ? 1 : 0;
        cell->certified += agg_is_certified(t, 1) ? 1 : 0;
        if (is_measured(t)) {
            cell->measured++;
            cell->low = t->ci_low; /* stays only where it is the only one */
            cell->high = t->ci_high;
        }
        of_task[i] = cell;
    }
}

static void summarise(grid_cell *cell, const double *speeds)
{
    cell->speedup = stats_median(speeds, cell->measured);
    if (cell->measured != 1) {
        cell->low = stats_quantile(speeds, cell->measured, 0.25);
        cell->high = stats_quantile(speeds, cell->measured, 0.75);
    }
}

static void take_medians(grid *g, const board *b, grid_cell *const *of_task)
{
    size_t cells = g->problem_count * g->entrant_count;
    SCOPED(scoped_free) double *speeds = xcalloc(b->task_count + 1, sizeof *speeds);
    SCOPED(scoped_free) size_t *ends = xcalloc(cells + 1, sizeof *ends);
    for (size_t c = 1; c < cells; c++)
        ends[c] = ends[c - 1] + g->cells[c - 1].measured;
    for (size_t i = 0; i < b->task_count; i++)
        if (is_measured(&b->tasks[i]))
            speeds[ends[of_task[i] - g->cells]++] = b->tasks[i].speedup;
    for (size_t c = 0; c < cells; c++)
        summarise(&g->cells[c], speeds + (ends[c] - g->cells[c].measured));
}

grid *grid_create(const board *b)
{
    grid *self = xcalloc(1, sizeof *self);
    self->entrant_count = b->entrant_count;
    list_problems(self, b);
    self->cells = xcalloc(self->problem_count * self->entrant_count + 1, sizeof *self->cells);
    SCOPED(scoped_free) grid_cell **of_task = xcalloc(b->task_count + 1, sizeof(grid_cell *));
    count(self, b, of_task);
    take_medians(self, b, of_task);
    return self;
}

void grid_destroy(grid **self)
{
    if (*self == NULL)
        return;
    free((*self)->problems);
    free((*self)->cells);
    free(*self);
    *self = NULL;
}

const grid_cell *grid_at(const grid *self, size_t problem, size_t entrant)
{
    return &self->cells[problem * self->entrant_count + entrant];
}
