/* plot - the pictures of a board
 *
 * Purpose:   one table of all plots: name, data, and what the picture says in words.
 * Ownership: static storage; plot_draw appends to a caller's buf.
 * Threads:   safe.
 * Errors:    those of reports/gnuplot.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_PLOT_H
#define CE_REPORTS_PLOT_H

#include "common/buf.h"
#include "reports/plot_data.h"

typedef struct plot {
    const char *name;    /* of the template and the picture: speedup.gp, speedup.svg */
    const char *numbers; /* of the file with its data: speedup.dat */
    void (*data)(const plot_input *in, buf *out);
    const char *alt;
} plot;

enum { PLOT_COUNT = 8 };
extern const plot plots[PLOT_COUNT];

/* plot_draw draws data that plot->data wrote, as SVG or as PNG. */
int plot_draw(const plot *self, const buf *data, bool png, buf *picture, err *e);

#endif
