/* figures - what every report of a board adds up, computed once
 *
 * Purpose:   sums by entrant, cells of problems by entrant, and ranks: each takes a pass over all tasks, and a
 *            report of a million of them is written from a dozen places.
 * Ownership: figures_create gives an owned object; it borrows the board, which must live as long.
 * Threads:   immutable after creation.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_FIGURES_H
#define CE_REPORTS_FIGURES_H

#include "reports/agg.h"
#include "reports/board.h"
#include "reports/grid.h"
#include "reports/ranking.h"

typedef struct figures {
    const board *b;
    agg_list *aggs;
    grid *cells;
    ranking *ranks;
} figures;

figures *figures_create(const board *b);
void figures_destroy(figures **self);

#endif
