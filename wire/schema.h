/* schema - messages.def as data: what each message consists of
 *
 * Purpose:   one table for the codec, the destructor, the documentation and the tests.
 * Ownership: static data.
 * Threads:   safe.
 * Errors:    NULL for a number that is no message.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_SCHEMA_H
#define CE_WIRE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

typedef struct schema schema;

typedef enum schema_type {
    SCHEMA_I64,
    SCHEMA_F64,
    SCHEMA_BOOL,
    SCHEMA_STR,
    SCHEMA_BYTES,
    SCHEMA_HASH,
    SCHEMA_LIST
} schema_type;

typedef struct schema_field {
    const char *name;
    schema_type type;
    size_t offset;              /* in struct msg_x or row_x */
    size_t count_offset;        /* lists: of x_count */
    const schema *(*row)(void); /* lists: what a row consists of */
    int64_t min;                /* I64 */
    int64_t max;                /* I64: value, STR and BYTES: size, LIST: rows */
    const char *doc;
} schema_field;

struct schema {
    const char *name; /* "hello" */
    uint16_t number;  /* 0 for a row */
    const char *from; /* who may send it; "" for a row */
    const char *doc;
    const schema_field *fields;
    size_t field_count;
    size_t size; /* of the struct */
};

const schema *schema_of(unsigned number);
/* schema_retired says why a number is no message any more; NULL when it never was one. */
const char *schema_retired(unsigned number);
/* schema_at gives the messages, schema_row_at the rows, in file order; NULL past the end. */
const schema *schema_at(size_t index);
const schema *schema_row_at(size_t index);

#endif
