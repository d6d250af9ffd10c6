/* glyph - foreign text as a terminal may be given it
 *
 * Purpose:   what a model, a node or a file wrote must not steer a terminal, and must keep its column.
 *            Control characters, marks without a width of their own and everything that turns the direction of
 *            writing (right-to-left letters as well: they reorder what stands beside them) become one
 *            replacement each; so does a byte that is no UTF-8, and where the terminal is not UTF-8 every
 *            character beyond ASCII.
 * Ownership: appends to a caller's buf.
 * Threads:   safe.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_GLYPH_H
#define CE_COMMON_GLYPH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/* glyph_width is how many columns the whole text takes. */
size_t glyph_width(const char *text, bool utf8);
/* glyph_add appends the text, at most `columns` wide; what does not fit is cut and ends with … (ASCII:
 * three dots, where they fit). The result is the columns taken. */
size_t glyph_add(buf *out, const char *text, size_t columns, bool utf8);
/* glyph_fill is glyph_add and then spaces up to `columns`. */
void glyph_fill(buf *out, const char *text, size_t columns, bool utf8);

#endif
