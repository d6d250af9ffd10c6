/* runs - what runs there are, and how one is going
 *
 * Purpose:   the texts of `ce-coord runs` and `ce-coord status`.
 * Ownership: appends to a caller's buf.
 * Threads:   as store_run.
 * Errors:    as the store says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_RUNS_H
#define CE_REPORTS_RUNS_H

#include "common/buf.h"
#include "store/store.h"

/* runs_text / runs_json: every run, newest first. runs_page is runs_json of at most `max` of them, those
 * before run `before` (NULL: the newest). */
int runs_text(store *db, buf *out, err *e);
int runs_json(store *db, buf *out, err *e);
int runs_page(store *db, const char *before, size_t max, buf *out, err *e);

/* status_text / status_json: one run ("latest" for NULL): tasks by state, what is being worked on, what
 * went wrong, nodes. */
int status_text(store *db, const char *run, buf *out, err *e);
int status_json(store *db, const char *run, buf *out, err *e);

#endif
