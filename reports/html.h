/* html - pages that stand alone: no script, nothing fetched
 *
 * Purpose:   the frame of every page (policy, width, light and dark) and the escaping of every text in it.
 * Ownership: appends to a caller's buf.
 * Threads:   pure.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_HTML_H
#define CE_REPORTS_HTML_H

#include "common/buf.h"

/* html_open begins a page up to the opening of <main>; html_close ends it. The title is escaped. */
void html_open(buf *out, const char *title);
void html_close(buf *out);
/* html_text writes text that may be anybody's, for content and quoted attributes: what means something there is
 * escaped, control characters but line ends and tabs become U+FFFD, and so do marks that turn the direction of
 * writing and what is no UTF-8. NULL is "–". */
void html_text(buf *out, const char *text);
/* html_region opens a box in which a wide table scrolls by itself, named by the heading with that id; the caller
 * closes it with </table></div>. The caption is for screen readers; our own words. */
void html_region(buf *out, const char *heading_id, const char *caption);

#endif
