/* column - which struct field is which database column (inside store/ only)
 *
 * Purpose:   one table per row struct makes its SELECT list, its INSERT, reads it, and frees its text.
 * Ownership: text fields are `const char *`: borrowed when writing; when reading they are fresh memory
 *            that column_free releases.
 * Threads:   the thread that runs the job.
 * Errors:    as the database says; ERR_CONFIG for an outcome or state this program does not know.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_COLUMN_H
#define CE_STORE_COLUMN_H

#include <stddef.h>

#include "store/db.h"

typedef enum column_type {
    COLUMN_TEXT,    /* const char *; NULL is NULL */
    COLUMN_INT,     /* int64_t */
    COLUMN_COUNT,   /* int64_t; -1 is NULL */
    COLUMN_ID,      /* int64_t; 0 is NULL */
    COLUMN_REAL,    /* double; NaN is NULL */
    COLUMN_AMOUNT,  /* double; 0 is NULL */
    COLUMN_HASH,    /* hash; zero is NULL */
    COLUMN_BOOL,    /* bool */
    COLUMN_OUTCOME, /* outcome, by name; NULL reads as OUTCOME_NOT_RUN */
    COLUMN_CHOICE   /* an enum (int sized), by name in `names` */
} column_type;

typedef struct column {
    const char *name; /* NULL ends the table */
    column_type type;
    size_t offset;
    const char *const *names; /* COLUMN_CHOICE: NULL-ended, value = index */
} column;

/* What to read: SELECT <columns> FROM <from>, with up to two text parameters ?1, ?2. */
typedef struct column_query {
    const column *columns;
    size_t size; /* of a row struct */
    const char *from;
    const char *parameters[2];
} column_query;

typedef struct column_rows {
    void *rows; /* array of row structs, or NULL */
    size_t count;
} column_rows;

int column_count(const column *columns);
/* column_names appends "a, b, c", each with `prefix` ("t.") before it. */
void column_names(buf *out, const column *columns, const char *prefix);
/* column_insert inserts a row; with a key (may be NULL), column key_name holds it as well. */
int column_insert(store_tx *tx, const char *table, const column *columns, const void *row,
                  const char *key_name, const char *key, err *e);
void column_bind(sqlite3_stmt *s, int first, const column *columns, const void *row);
/* column_read fills row from result columns first…; a failure leaves nothing to free. */
int column_read(sqlite3_stmt *s, int first, const column *columns, void *row, err *e);
/* column_peek is column_read without copies: texts are SQLite's until the statement's next step. */
int column_peek(sqlite3_stmt *s, int first, const column *columns, void *row, err *e);
void column_free(const column *columns, void *row);
/* column_select reads all rows; a failure leaves out empty. */
/* Rows may share texts with the row before: rows are neither reordered nor freed one by one. */
int column_select(store_tx *tx, const column_query *query, column_rows *out, err *e);
/* column_first reads the first row into `row`; ERR_NOT_FOUND "there is no <what>" without one. */
int column_first(store_tx *tx, const column_query *query, void *row, const char *what, err *e);
void column_rows_free(const column *columns, size_t size, void *rows, size_t count);

#endif
