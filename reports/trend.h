/* trend - what entrants of a run did in earlier runs like it
 *
 * Purpose:   the points of the live page's trends, from store/history.h: the same suite, device and
 *            protocols, oldest first.
 * Ownership: appends to a caller's buf.
 * Threads:   as store_run.
 * Errors:    as the store says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_TREND_H
#define CE_REPORTS_TREND_H

#include "common/buf.h"
#include "store/store.h"

/* trend_json: an object with `trend`; run NULL: the latest. */
int trend_json(store *db, const char *run, buf *out, err *e);

#endif
