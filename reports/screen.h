/* screen - a moment of a run as lines of a terminal
 *
 * Purpose:   what `ce-coord status --watch` shows: progress, spend against budget, nodes, tasks that run and
 *            that wait with the reason, in exactly the width and height that there are. A pure function: the
 *            same moment gives the same lines.
 * Ownership: appends to a caller's buf.
 * Threads:   pure.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_SCREEN_H
#define CE_REPORTS_SCREEN_H

#include "common/buf.h"
#include "reports/moment.h"

/* What the lines must fit. */
typedef struct screen_shape {
    size_t width, height;
    bool utf8;   /* else ASCII */
    bool colour; /* bold titles, yellow and red where something is wrong */
    bool keys;   /* say which there are */
} screen_shape;

/* screen_draw appends at most `height` lines, each ended by '\n' and at most `width` columns wide. */
void screen_draw(buf *out, const moment *m, const screen_shape *shape);
/* screen_sentence appends the same in one line without its end, for where nothing is redrawn; screen_left
 * what is left of it in time (", about 3 min left"), or nothing. */
void screen_sentence(buf *out, const moment *m, bool utf8);
void screen_left(buf *out, const moment *m);

#endif
