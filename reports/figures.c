/* figures - what every report of a board adds up, computed once
 *
 * SPDX-License-Identifier: MIT */
#include "reports/figures.h"

#include <stdlib.h>

#include "common/xalloc.h"

figures *figures_create(const board *b)
{
    figures *self = xcalloc(1, sizeof *self);
    self->b = b;
    self->aggs = agg_list_create(b);
    self->cells = grid_create(b);
    self->ranks = ranking_create(b, self->aggs, self->cells);
    return self;
}

void figures_destroy(figures **self)
{
    if (*self == NULL)
        return;
    ranking_destroy(&(*self)->ranks);
    grid_destroy(&(*self)->cells);
    agg_list_destroy(&(*self)->aggs);
    free(*self);
    *self = NULL;
}
