/* plot - the speedup plot, drawn by gnuplot
 *
 * Purpose:   one bar an entrant and problem on a log scale with a line at 1×; where there is no speedup
 *            the outcome stands instead. The template is reports/gp/speedup.gp.
 * Ownership: appends SVG to a caller's buf.
 * Threads:   safe; runs one child.
 * Errors:    ERR_UNAVAILABLE: gnuplot is not installed (reports go on without a plot); ERR_TIMEOUT;
 *            ERR_INTERNAL with gnuplot's own words.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_PLOT_H
#define CE_REPORTS_PLOT_H

#include "common/buf.h"
#include "reports/board.h"

int plot_speedup(const board *b, buf *svg, err *e);
/* plot_speedup_data writes what the template reads (tests look at it). */
void plot_speedup_data(const board *b, buf *out);

#endif
