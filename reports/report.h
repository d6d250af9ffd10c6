/* report - all files of a run in one folder
 *
 * Purpose:   report.md, leaderboard.md, results.json, results.csv, entrants.json and the plots, each with its data beside it
 *            (speedup.svg, speedup.dat, …): what `eval` leaves behind and `leaderboard RUN --out DIR`
 *            redraws, byte for byte the same.
 * Ownership: borrows the store.
 * Threads:   not from the store's own thread.
 * Errors:    as the store and the file system say. Without gnuplot: one sentence on stderr, success; a
 *            plot of earlier data is then removed, so that no file contradicts another; data are written.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_REPORT_H
#define CE_REPORTS_REPORT_H

#include <stdbool.h>

#include "common/err.h"

struct store;

/* Each is an id, a unique prefix or "latest". */
typedef struct report_ask {
    const char *run;
    const char *against; /* what report.md is held against, or NULL */
    bool png;            /* pictures as PNG too */
} report_ask;

/* report_write_all makes out_dir. */
int report_write_all(struct store *db, const report_ask *ask, const char *out_dir, err *e);

/* report_print writes a finished report to the file `path`, or to stdout when it is NULL. */
struct buf;
int report_print(const struct buf *text, const char *path, err *e);

#endif
