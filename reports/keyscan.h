/* keyscan - finds what must not be published: keys
 *
 * Purpose:   recognises values that the caller knows to be secret, and texts of the forms in which
 *            providers and ssh write keys, so that no pack carries one.
 * Ownership: borrows.
 * Threads:   safe.
 * Errors:    none. A text that only looks like a key counts as one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_KEYSCAN_H
#define CE_REPORTS_KEYSCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

enum { KEYSCAN_LENGTH_MIN = 8 }; /* shorter known values are words, not keys */

#define KEYSCAN_MASK "[key removed]"

/* Values known to be secret: NULL-ended, or NULL. */
typedef const char *const *keyscan_list;

/* keyscan_in: does the text hold a key? */
bool keyscan_in(keyscan_list known, const char *text, size_t size);
/* keyscan_mask appends the text with every key replaced; gives how many there were. */
size_t keyscan_mask(keyscan_list known, const char *text, size_t size, buf *out);

#endif
