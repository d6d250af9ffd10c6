/* progress - how far a run is, for people on stderr
 *
 * Purpose:   on a terminal one line that is redrawn; elsewhere plain lines, not often. Done/total, in
 *            flight with their stages, spend, time left.
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
#include "coordinator/run.h"

enum { PROGRESS_TERMINAL_MS = 200, PROGRESS_PLAIN_MS = 2000, PROGRESS_BAR = 20 };

typedef struct progress progress;

/* progress_create: now_ms is monotonic; `of` is where the run stands at the start. */
progress *progress_create(FILE *out, bool terminal, const run *of, int64_t now_ms);
void progress_destroy(progress **self);
/* progress_show writes when it is time to and something has changed; last: in any case, and for good. */
void progress_show(progress *self, const run *now, size_t nodes, int64_t now_ms, bool last);
/* progress_say writes a sentence of its own line. */
void progress_say(progress *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* progress_line writes what is shown: elapsed_ms since the start, `done_before` tasks done before it. */
void progress_line(buf *out, const run *now, size_t nodes, int64_t elapsed_ms, size_t done_before);

#endif
