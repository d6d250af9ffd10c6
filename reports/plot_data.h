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
#include "reports/figures.h"

struct history_list;

typedef struct plot_input {
    const figures *f;
    const struct history_list *earlier; /* for the trend; NULL: nothing is known */
} plot_input;

void plot_data_speedup(const plot_input *in, buf *out);
void plot_data_fast(const plot_input *in, buf *out);
void plot_data_heatmap(const plot_input *in, buf *out);
void plot_data_failures(const plot_input *in, buf *out);
void plot_data_cost(const plot_input *in, buf *out);
void plot_data_roofline(const plot_input *in, buf *out);
void plot_data_gain(const plot_input *in, buf *out);
void plot_data_trend(const plot_input *in, buf *out);

#endif
