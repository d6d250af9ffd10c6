/* grid - problems × entrants: several samples made one cell
 *
 * Purpose:   what the plot and the comparison need of every problem and entrant.
 * Ownership: grid_create gives an owned object; it borrows the board.
 * Threads:   pure.
 * Errors:    none; a cell without a measured speed has speedup NaN.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_GRID_H
#define CE_REPORTS_GRID_H

#include <stddef.h>

#include "reports/board.h"

typedef struct grid_cell {
    const board_task *example; /* its first task; NULL: none */
    size_t correct;
    size_t certified; /* certified wins: agg_is_certified at p = 1 */
    size_t measured;  /* correct with a speedup */
    double speedup;   /* median of those */
    double low, high; /* of one sample its 95 % interval, of several their quartiles; NaN: none */
} grid_cell;

typedef struct grid {
    const char **problems; /* of all runs, each id once, in order of appearance */
    size_t problem_count;
    size_t entrant_count;
    grid_cell *cells; /* problem after problem */
} grid;

grid *grid_create(const board *b);
void grid_destroy(grid **self);
const grid_cell *grid_at(const grid *self, size_t problem, size_t entrant);
/* grid_find gives the place of a problem, problem_count when it is not there. The hint, 0 at first, makes it quick
 * for problems that are asked in order. */
size_t grid_find(const grid *self, const char *id, size_t *hint);

#endif
