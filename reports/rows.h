/* rows - a dumped table in memory, found by task and stage
 *
 * Purpose:   what audits ask: all rows of a task (in a stage), in the order of the table.
 * Ownership: rows_create gives an owned object; rows are borrowed from it.
 * Threads:   immutable after creation.
 * Errors:    ERR_CONFIG with the line for a line that is no JSON object.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_ROWS_H
#define CE_REPORTS_ROWS_H

#include <stddef.h>

#include "common/json.h"

typedef struct rows {
    json **all; /* in the order of the table */
    size_t count;
    struct rows_key *sorted;
} rows;

/* rows_create: `text` is what store/dump.h wrote. */
rows *rows_create(const char *text, err *e);
void rows_destroy(rows **self);
/* rows_find gives how many rows a task has (stage NULL: in any), and the first; the others follow. */
size_t rows_find(const rows *self, const char *task, const char *stage, size_t *first);
/* rows_at: the i-th of those found. */
const json *rows_at(const rows *self, size_t i);

/* rows_text, rows_int, rows_real: a column; NULL, -1 or NaN when it has no value. */
const char *rows_text(const json *row, const char *column);
int64_t rows_int(const json *row, const char *column);
double rows_real(const json *row, const char *column);

#endif
