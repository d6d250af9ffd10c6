/* gnuplot - draws data by a template
 *
 * Purpose:   runs gnuplot on reports/gp/NAME.gp and on data that C wrote; adds a title and dark colours.
 * Ownership: appends a picture to a caller's buf.
 * Threads:   safe; runs one child.
 * Errors:    ERR_UNAVAILABLE: gnuplot is not installed (reports go on without a plot); ERR_TIMEOUT;
 *            ERR_INTERNAL with gnuplot's own words.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_GNUPLOT_H
#define CE_REPORTS_GNUPLOT_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"

enum { GNUPLOT_SVG_MAX = 64 * 1024 * 1024 };

/* gnuplot_text: foreign text (model names, problem ids, details) inside a string of the data; nothing is
 * left that means something to gnuplot. */
void gnuplot_text(buf *out, const char *text);
/* gnuplot_block writes rows as $name. `outside` is a point beyond the picture: gnuplot refuses a block
 * without any. */
void gnuplot_block(buf *out, const char *name, const buf *rows, const char *outside);

typedef struct gnuplot_job {
    const char *template; /* "speedup": reports/gp/speedup.gp */
    const buf *data;
    const char *alt; /* what the picture shows, in words; no markup */
    bool png;        /* instead of SVG: light, no words */
} gnuplot_job;

int gnuplot_draw(const gnuplot_job *job, buf *picture, err *e);

#endif
