/* board_html - the board as one page that needs nothing else
 *
 * Purpose:   the tables of reports/columns.h, why who has no rank, failures, models, problems and what it was
 *            measured on; no script, readable at the width of a phone, light and dark.
 * Ownership: appends to a caller's buf.
 * Threads:   pure: the same database gives the same bytes.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_BOARD_HTML_H
#define CE_REPORTS_BOARD_HTML_H

#include <stdbool.h>

#include "common/buf.h"
#include "reports/figures.h"

/* `stable` as leaderboard_write. */
void board_html_write(const figures *f, bool stable, buf *out);
/* board_html_site is the first page of a site (reports/site.h): problems link to their pages. */
void board_html_site(const figures *f, buf *out);

#endif
