/* columned - measure, give way, write
 *
 * SPDX-License-Identifier: MIT */
#include "reports/columned.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/glyph.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { ROW_BYTES_MAX = 64 * 1024 };

void columned_init(columned *self, const columned_column *columns, size_t count)
{
    assert(count <= COLUMNED_MAX);
    *self = (columned){.columns = columns, .column_count = count};
}

void columned_fini(columned *self)
{
    for (size_t i = 0; i < self->rows * self->column_count; i++)
        free(self->cells[i]);
    free(self->cells);
    *self = (columned){0};
}

void columned_add(columned *self, char *const *cells)
{
    const size_t at = self->rows * self->column_count;
    self->cells = xreallocarray(self->cells, at + self->column_count, sizeof *self->cells);
    memcpy(self->cells + at, cells, self->column_count * sizeof *cells);
    self->rows++;
}

static const char *cell(const columned *self, size_t row, size_t column)
{
    const char *text = self->cells[row * self->column_count + column];
    return text != NULL ? text : "";
}

/* As wide as its widest cell, at most `width`. */
static size_t natural(const columned *self, size_t column, size_t width, bool utf8)
{
    size_t most = 0;
    for (size_t row = 0; row < self->rows; row++) {
        size_t has = glyph_width(cell(self, row, column), utf8);
        most = has > most ? has : most;
    }
    return most < width ? most : width;
}

static size_t total(const columned *self, const size_t widths[COLUMNED_MAX])
{
    size_t sum = 0, shown = 0;
    for (size_t i = 0; i < self->column_count; i++) {
        sum += widths[i];
        shown += widths[i] > 0;
    }
    return shown > 0 ? sum + (shown - 1) * COLUMNED_GAP : 0;
}

/* Takes columns from the widest that may give some; false: none may. */
static bool narrow(const columned *self, size_t widths[COLUMNED_MAX])
{
    size_t widest = COLUMNED_MAX;
    for (size_t i = 0; i < self->column_count; i++) {
        bool may = widths[i] > self->columns[i].least;
        if (may && (widest == COLUMNED_MAX || widths[i] > widths[widest]))
            widest = i;
    }
    if (widest == COLUMNED_MAX)
        return false;
    widths[widest]--;
    return true;
}

/* The least wanted column that is still there; false: only one is. */
static bool leave_out(const columned *self, bool out[COLUMNED_MAX])
{
    size_t least = COLUMNED_MAX, left = 0;
    for (size_t i = 0; i < self->column_count; i++) {
        if (out[i])
            continue;
        left++;
        if (least == COLUMNED_MAX || self->columns[i].rank < self->columns[least].rank)
            least = i;
    }
    if (left < 2)
        return false;
    out[least] = true;
    return true;
}

void columned_widths(const columned *self, size_t width, bool utf8, size_t out[COLUMNED_MAX])
{
    bool gone[COLUMNED_MAX] = {false};
    do {
        for (size_t i = 0; i < COLUMNED_MAX; i++)
            out[i] = i < self->column_count && !gone[i] ? natural(self, i, width, utf8) : 0;
        while (total(self, out) > width && narrow(self, out)) {
        }
    } while (total(self, out) > width && leave_out(self, gone));
}

void columned_row(const columned *self, size_t row, const size_t widths[COLUMNED_MAX], bool utf8,
                  buf *out)
{
    SCOPED(buf_fini) buf line;
    buf_init(&line, ROW_BYTES_MAX);
    for (size_t i = 0; i < self->column_count; i++) {
        if (widths[i] == 0)
            continue;
        if (line.size > 0)
            buf_printf(&line, "%*s", COLUMNED_GAP, "");
        glyph_fill(&line, cell(self, row, i), widths[i], utf8);
    }
    size_t size = line.size;
    while (size > 0 && line.data[size - 1] == ' ')
        size--;
    buf_add(out, line.data, size);
}
