/* progress - how far a run is, for people on stderr
 *
 * Purpose:   on a terminal one line that is redrawn and never wider than it; elsewhere, and on a dumb terminal,
 *            plain lines, not often. Done/total, in flight with their stages, spend, time left.
 * Ownership: progress_create gives an owned object.
 * Threads:   one owner. Time is a parameter.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_PROGRESS_H
#define CE_COORDINATOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/term.h"
#include "coordinator/run.h"

enum { PROGRESS_TERMINAL_MS = 200, PROGRESS_PLAIN_MS = 2000, PROGRESS_BAR = 20 };

typedef struct progress progress;

/* progress_create: `on` says what `out` is; now_ms is monotonic; `of` is where the run stands at the start. */
progress *progress_create(FILE *out, const term_kind *on, const run *of, int64_t now_ms);
void progress_destroy(progress **self);
/* progress_show writes when it is time to and something has changed; last: in any case, and for good. */
void progress_show(progress *self, const run *now, size_t nodes, int64_t now_ms, bool last);
/* progress_say writes a sentence of its own line; what a node said in it cannot steer a terminal. */
void progress_say(progress *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where a run stands. */
typedef struct progress_at {
    const run *run;
    size_t nodes;       /* connected */
    int64_t elapsed_ms; /* since the start */
    size_t done_before; /* tasks that were done before it */
} progress_at;
/* progress_line writes what is shown. Where it would be wider than `width`, stages are left out first, then the
 * bar. */
void progress_line(buf *out, const progress_at *at, size_t width);

#endif
