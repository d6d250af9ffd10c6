/* columns - the tables of a board: which columns, and what stands in a cell
 *
 * Purpose:   one place for Markdown and HTML: each table is a list of columns, each cell plain text that
 *            the writer escapes for its sink. Tables are narrow enough to be read on a phone.
 * Ownership: static storage; a view borrows.
 * Threads:   pure.
 * Errors:    the buf's own overflow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_COLUMNS_H
#define CE_REPORTS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "reports/agg.h"
#include "reports/board.h"
#include "reports/ranking.h"

/* What cells are made from; `stable` leaves out run ids and durations. */
typedef struct columns_view {
    const board *b;
    const agg_list *aggs;
    const ranking *ranks;
    bool stable;
} columns_view;

typedef struct columns_column {
    const char *name;
    bool is_text;     /* set to the left; numbers to the right */
    bool is_foreign;  /* somebody else's words: escaped by every writer */
    bool is_unstable; /* left out of a stable board */
    void (*put)(const columns_view *v, size_t entrant, buf *out);
} columns_column;

typedef struct columns_table {
    const char *id, *title;
    void (*note)(const columns_view *v,
                 buf *out);                  /* sentences above the table, our own words; or NULL */
    bool (*is_shown)(const columns_view *v); /* NULL: always */
    const columns_column *columns;           /* ends with a NULL name */
} columns_table;

typedef enum columns_id {
    COLUMNS_RANKS,
    COLUMNS_SPEED,
    COLUMNS_FAST,
    COLUMNS_PASS,
    COLUMNS_COST,
    COLUMNS_EFFORT,
    COLUMNS_CHECKS,
    COLUMNS_COUNT
} columns_id;
extern const columns_table columns_tables[COLUMNS_COUNT];

/* columns_gemm and columns_degenerate: a paragraph about problems that stand apart, below the speeds; nothing
 * where there is none. Names in it are foreign words. */
void columns_gemm(const columns_view *v, buf *out);
void columns_degenerate(const columns_view *v, buf *out);
/* columns_name writes an entrant's name, with its run where there are several: foreign words. */
void columns_name(const columns_view *v, size_t entrant, buf *out);
/* columns_is_shown: the column belongs on this board. */
bool columns_is_shown(const columns_view *v, const columns_column *column);

#endif
