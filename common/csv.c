/* csv - a table of comma-separated values (RFC 4180), read strictly
 *
 * All cells lie in one text, each ended by a NUL; a table knows where each begins.
 *
 * SPDX-License-Identifier: MIT */
#include "common/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

struct csv {
    char *origin, *text;
    size_t *cells; /* offsets into text, row after row; the names first */
    size_t count, room;
    size_t *lines; /* where each row begins */
    size_t row_count, row_room;
    size_t columns;
};

typedef struct reading {
    csv *out;
    const char *at, *end;
    size_t line, used; /* used: bytes of out->text */
} reading;

static int fail_at(const csv *self, size_t line, err *e, const char *message)
{
    return err_set(e, ERR_CONFIG, "%s:%zu: %s", self->origin, line, message);
}

static void keep(reading *r, char c)
{
    r->out->text[r->used++] = c;
}

/* The text between quotes, and the closing one. */
static int read_quoted(reading *r, err *e)
{
    size_t began = r->line;
    for (r->at++; r->at < r->end; r->at++) {
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) {
            r->at++;
            return 0;
        }
        if (*r->at == '"')
            r->at++;
        r->line += *r->at == '\n' ? 1 : 0;
        keep(r, *r->at);
    }
    return fail_at(r->out, began, e, "a quote is opened and never closed");
}

static bool at_line_end(const reading *r)
{
    return r->at == r->end || *r->at == '\n' ||
           (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static int read_cell(reading *r, err *e)
{
    csv *t = r->out;
    if (t->count == t->room) {
        t->room = 2 * t->room + 64;
        t->cells = xreallocarray(t->cells, t->room, sizeof *t->cells);
    }
    if (t->count >= CSV_CELLS_MAX)
        return err_set(e, ERR_LIMIT, "%s: more than %d cells", t->origin, CSV_CELLS_MAX);
    t->cells[t->count++] = r->used;
    if (r->at < r->end && *r->at == '"') {
        if (read_quoted(r, e) < 0)
            return -1;
        if (!at_line_end(r) && *r->at != ',')
            return fail_at(t, r->line, e, "text stands after a closing quote");
    }
    for (; !at_line_end(r) && *r->at != ','; r->at++) {
        if (*r->at == '"')
            return fail_at(t, r->line, e, "a quote stands inside a cell that begins without one");
        keep(r, *r->at);
    }
    keep(r, '\0');
    return 0;
}

static int read_row(reading *r, err *e)
{
    csv *t = r->out;
    size_t first = t->count, line = r->line;
    for (bool more = true; more;) {
        if (read_cell(r, e) < 0)
            return -1;
        more = r->at < r->end && *r->at == ',';
        r->at += more ? 1 : 0;
    }
    r->at += r->at < r->end && *r->at == '\r' ? 1 : 0;
    r->at += r->at < r->end ? 1 : 0;
    r->line++;
    if (t->row_count == t->row_room) {
        t->row_room = 2 * t->row_room + 64;
        t->lines = xreallocarray(t->lines, t->row_room, sizeof *t->lines);
    }
    t->lines[t->row_count++] = line;
    if (t->row_count == 1)
        t->columns = t->count - first;
    if (t->columns > CSV_COLUMNS_MAX)
        return err_set(e, ERR_LIMIT, "%s:1: more than %d columns", t->origin, CSV_COLUMNS_MAX);
    if (t->count - first == t->columns)
        return 0;
    return err_set(e, ERR_CONFIG, "%s:%zu: %zu cells, and %zu columns have a name", t->origin, line,
                   t->count - first, t->columns);
}

static int check_names(const csv *self, err *e)
{
    if (self->row_count == 0)
        return err_set(e, ERR_CONFIG, "%s: empty: the first line has to name the columns",
                       self->origin);
    for (size_t i = 0; i < self->columns; i++)
        if (csv_column(self, csv_name(self, i)) != i)
            return err_set(e, ERR_CONFIG, "%s:1: two columns are named %.60s", self->origin,
                           csv_name(self, i));
    return 0;
}

csv *csv_create(const char *text, size_t size, const char *origin, err *e)
{
    static const char mark[] = "\xEF\xBB\xBF";
    SCOPED(csv_destroy) csv *self = xcalloc(1, sizeof *self);
    reading r = {.out = self, .at = text, .end = text + size, .line = 1};
    self->origin = xstrdup(origin);
    self->text = xmalloc(2 * size + 2); /* each cell ends in a NUL, each but the last in a byte */
    if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0)
        r.at += sizeof mark - 1;
    size_t valid = str_utf8_valid(text, size);
    if (valid < size || memchr(text, '\0', size) != NULL) {
        err_set(e, ERR_CONFIG, "%s: byte %zu is no text (UTF-8 is wanted)", origin, valid);
        return NULL;
    }
    while (r.at < r.end)
        if (read_row(&r, e) < 0)
            return NULL;
    return check_names(self, e) == 0 ? TAKE(self) : NULL;
}

void csv_destroy(csv **self)
{
    if (*self == NULL)
        return;
    free((*self)->origin);
    free((*self)->text);
    free((*self)->cells);
    free((*self)->lines);
    free(*self);
    *self = NULL;
}

size_t csv_rows(const csv *self)
{
    return self->row_count - 1;
}

size_t csv_columns(const csv *self)
{
    return self->columns;
}

const char *csv_name(const csv *self, size_t column)
{
    return self->text + self->cells[column];
}

size_t csv_column(const csv *self, const char *name)
{
    for (size_t i = 0; i < self->columns; i++)
        if (strcmp(csv_name(self, i), name) == 0)
            return i;
    return self->columns;
}

const char *csv_cell(const csv *self, size_t row, size_t column)
{
    return self->text + self->cells[(row + 1) * self->columns + column];
}

int csv_fail(const csv *self, size_t row, size_t column, err *e, const char *message)
{
    return err_set(e, ERR_CONFIG, "%s:%zu: %.60s: %s", self->origin, self->lines[row + 1],
                   csv_name(self, column), message);
}
