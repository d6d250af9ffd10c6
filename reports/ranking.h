/* ranking - who stands where on a board, and who does not, and why
 *
 * Purpose:   a board holds one suite, one device, one pair of protocols: those of its newest run. Entrants
 *            measured otherwise stand apart. Of the others those have a rank whose every task is in the
 *            view `ranked`. Rank = 1 + entrants that are shown to have more certified wins (paired
 *            bootstrap over problems, then samples; Holm over pairs). The suite's own kernels take no
 *            rank: they are the human line.
 * Ownership: ranking_create gives an owned object, one row an entrant of the board, same order; the board
 *            must live as long.
 * Threads:   pure: neither names nor the order of entrants change a rank.
 * Errors:    none; an undefined number is NaN.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_RANKING_H
#define CE_REPORTS_RANKING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/versus.h"
#include "reports/agg.h"
#include "reports/board.h"
#include "reports/grid.h"

typedef struct ranking_row {
    bool is_apart;  /* measured otherwise: not on this board */
    bool is_human;  /* the suite's own kernels */
    char *unranked; /* why there is no rank; NULL: there is one, or it is the human line */
    versus_rank place;
    size_t covered;        /* problems of the scope with a speed */
    double common_geomean; /* over the common set; NaN: no speed there */
} ranking_row;

typedef struct ranking {
    ranking_row *rows;
    size_t *order; /* as printed: by rank (the human line where its wins put it), unranked, apart */
    size_t count;
    size_t shown;             /* of the order: those of this board; the rest stands apart */
    size_t ranked;            /* entrants that have a rank */
    size_t problems, samples; /* that ranks stand on */
    size_t scope;             /* problems without the GEMM track */
    size_t common;     /* of them, those where every entrant here that has any speed has one */
    double detectable; /* smallest difference of shares that so many problems show; NaN: no pair */
    const board_run *newest; /* what the board is of */
} ranking;

/* ranking_create: `aggs` and `cells` of the same board; only the lines inside a shared rank are ordered by the
 * former. */
ranking *ranking_create(const board *b, const agg_list *aggs, const grid *cells);
void ranking_destroy(ranking **self);

#endif
