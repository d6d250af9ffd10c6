/* strata - entrants by kind of problem: where each of them is strong
 *
 * Purpose:   correct, certified wins and the geometric mean of speeds for every category and every dtype, over
 *            given problems; the macro average (mean over strata) beside the micro one.
 * Ownership: appends to a caller's buf; borrows.
 * Threads:   pure.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_STRATA_H
#define CE_REPORTS_STRATA_H

#include "common/buf.h"
#include "common/json.h"
#include "reports/grid.h"

typedef struct strata_ask {
    const board *b;
    const grid *g;
    const size_t *problems; /* places in the grid */
    size_t count;
} strata_ask;

/* strata_markdown appends two sections. */
void strata_markdown(const strata_ask *ask, buf *out);
/* strata_json gives {"category": […], "dtype": […]}, caller frees. */
json *strata_json(const strata_ask *ask);

#endif
