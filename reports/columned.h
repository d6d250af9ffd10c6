/* columned - rows of cells in a width that is given
 *
 * Purpose:   lays rows out in columns as wide as their cells. Where that is too wide, the widest columns give
 *            way down to their minimum; where that is not enough, whole columns are left out, the least
 *            wanted first. Cells may hold foreign text (common/glyph.h).
 * Ownership: columned_add copies; columned_fini frees.
 * Threads:   one owner.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_COLUMNED_H
#define CE_REPORTS_COLUMNED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

enum { COLUMNED_MAX = 8, COLUMNED_GAP = 2 };

/* What a column is: it is not cut below `least` columns, and the column with the lowest rank goes first. */
typedef struct columned_column {
    size_t least;
    int rank;
} columned_column;

typedef struct columned {
    const columned_column *columns; /* borrowed */
    size_t column_count;
    char **cells; /* by row, owned */
    size_t rows;
} columned;

void columned_init(columned *self, const columned_column *columns, size_t count);
void columned_fini(columned *self);
/* columned_add adds a row of as many cells as there are columns; consumes them. NULL is empty. */
void columned_add(columned *self, char *const *cells);
/* columned_widths: how wide each column is drawn inside `width`; 0: it is left out. */
void columned_widths(const columned *self, size_t width, bool utf8, size_t out[COLUMNED_MAX]);
/* columned_row appends a row without its newline; nothing stands behind its last cell. */
void columned_row(const columned *self, size_t row, const size_t widths[COLUMNED_MAX], bool utf8,
                  buf *out);

#endif
