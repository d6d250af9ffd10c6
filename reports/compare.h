/* compare - entrants side by side over the problems they share; no model is called
 *
 * Purpose:   per entrant over the common problems: correct, fast_p, median; the geometric mean only over
 *            the set that every one of them solved with a speed; then who wins where.
 * Ownership: appends to a caller's buf.
 * Threads:   pure: the same database gives the same bytes.
 * Errors:    ERR_USAGE: fewer than two entrants; ERR_CONFIG: no problem in common.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_COMPARE_H
#define CE_REPORTS_COMPARE_H

#include "common/buf.h"
#include "reports/board.h"
#include "store/claim.h"

/* Speeds closer than this factor are a tie while timing gives no interval. */
#define COMPARE_TIE 1.05

/* `claims` stand in a section of their own. */
int compare_markdown(const board *b, const claim_list *claims, buf *out, err *e);
int compare_json(const board *b, const claim_list *claims, buf *out, err *e);

#endif
