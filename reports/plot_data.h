/* plot_data - what the plots draw
 *
 * Purpose:   writes, for each plot, the data that its template in reports/gp reads; the template says what
 *            each name means. The file stands beside the picture, so that a reader can draw it anew.
 * Ownership: appends to a caller's buf.
 * Threads:   pure.
 * Errors:    none: without any number the data say so, and the picture is empty with a label.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_PLOT_DATA_H
#define CE_REPORTS_PLOT_DATA_H

#include "common/buf.h"
#include "reports/board.h"

void plot_data_speedup(const board *b, buf *out);
void plot_data_fast(const board *b, buf *out);
void plot_data_heatmap(const board *b, buf *out);
void plot_data_failures(const board *b, buf *out);
void plot_data_cost(const board *b, buf *out);

#endif
