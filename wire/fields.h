/* fields - a struct as a table of named fields, written to and read from JSON
 *
 * Purpose:   one table a record says the JSON keys, their types and where they lie in the struct; it
 *            writes, reads strictly and frees, so the three cannot disagree.
 * Ownership: fields_read fills owned text and lists; fields_fini frees them. fields_write borrows.
 * Threads:   tables are constant.
 * Errors:    ERR_CONFIG with the JSON pointer; after a failed read the struct is empty (all zero).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_FIELDS_H
#define CE_WIRE_FIELDS_H

#include <stddef.h>

#include "common/err.h"
#include "common/json.h"

typedef enum field_type {
    FIELD_TEXT,         /* char *, never NULL */
    FIELD_TEXT_OR_NULL, /* char * */
    FIELD_TEXT_IF_ANY, /* char *; NULL: the key is left out, as in records of before it was known */
    FIELD_INT,         /* int64_t */
    FIELD_INT_IF_ANY,  /* int64_t; 0: the key is left out */
    FIELD_REAL,        /* double; NaN is null */
    FIELD_REAL_IF_ANY, /* double; 0: the key is left out */
    FIELD_BOOL,        /* bool */
    FIELD_BOOL_SINCE,  /* bool; missing (false) in records of before it was known */
    FIELD_HASH,        /* hash; all zero is null */
    FIELD_OUTCOME,     /* outcome, by name */
    FIELD_OBJECT,      /* nested object in the same struct: `inner` offsets count from the struct */
    FIELD_LIST,        /* pointer + size_t count: `inner` describes an element */
    FIELD_LIST_IF_ANY  /* the same; an empty one is left out */
} field_type;

typedef struct field {
    const char *key; /* NULL ends a table */
    field_type type;
    size_t offset;             /* FIELD_LIST: of the pointer */
    const struct field *inner; /* FIELD_OBJECT, FIELD_LIST */
    size_t count_offset;       /* FIELD_LIST: of the count */
    size_t size;               /* FIELD_LIST: of an element */
    size_t max;                /* FIELD_LIST: elements */
} field;

/* fields_write gives a JSON object with every key of the table. Caller owns. */
json *fields_write(const field *table, const void *base);
/* fields_read wants exactly the table's keys. base is zeroed first. */
int fields_read(const json_cursor *c, const field *table, void *base, size_t base_size, err *e);
/* fields_fini frees what fields_read allocated and zeroes those members. */
void fields_fini(const field *table, void *base);

/* fields_dump and fields_parse are the same on canonical JSON text. */
char *fields_dump(const field *table, const void *base);
int fields_parse(const char *text, size_t size, const char *origin, const field *table, void *base,
                 size_t base_size, err *e);

#endif
