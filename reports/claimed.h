/* claimed - what other programs say they measured, apart from what was measured here
 *
 * Purpose:   by format and entrant: correct, raw fast_1, median, quartile, geometric mean; a place among the
 *            entrants of the same format over the problems that they share. Formats are never compared: each
 *            times and checks in its own way.
 * Ownership: appends to a caller's buf; borrows the rows.
 * Threads:   pure: the order of the rows changes nothing.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_CLAIMED_H
#define CE_REPORTS_CLAIMED_H

#include "common/buf.h"
#include "common/json.h"
#include "store/claim.h"

/* claimed_markdown appends a section; nothing without rows. */
void claimed_markdown(const claim_row *rows, size_t count, buf *out);
/* claimed_html appends the same section. */
void claimed_html(const claim_row *rows, size_t count, buf *out);
/* claimed_json gives a list of entrants, caller frees. */
json *claimed_json(const claim_row *rows, size_t count);

#endif
