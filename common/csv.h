/* csv - a table of comma-separated values (RFC 4180), read strictly
 *
 * Purpose:   the first line names the columns; every other line has as many cells. Cells may be quoted and then
 *            hold commas, line ends and doubled quotes. A byte order mark is skipped.
 * Ownership: csv_create gives an owned table; cells are borrowed from it.
 * Threads:   immutable after creation.
 * Errors:    ERR_CONFIG "origin:line: what": a quote that does not end, text after one, a line with more or fewer
 *            cells, a name twice, a NUL, no UTF-8; ERR_LIMIT past CSV_CELLS_MAX.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_CSV_H
#define CE_COMMON_CSV_H

#include <stddef.h>

#include "common/err.h"

enum { CSV_CELLS_MAX = 64 * 1024 * 1024, CSV_COLUMNS_MAX = 256 };

typedef struct csv csv;

csv *csv_create(const char *text, size_t size, const char *origin, err *e);
void csv_destroy(csv **self);

size_t csv_rows(const csv *self); /* without the names */
size_t csv_columns(const csv *self);
const char *csv_name(const csv *self, size_t column);
/* csv_column finds a name; csv_columns when there is none. */
size_t csv_column(const csv *self, const char *name);
const char *csv_cell(const csv *self, size_t row, size_t column); /* "" when empty */
/* csv_fail sets ERR_CONFIG "origin:line: column: message" for a cell and returns -1. */
int csv_fail(const csv *self, size_t row, size_t column, err *e, const char *message);

#endif
