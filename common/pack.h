/* pack - msgpack maps with string keys, strictly (msgpack-c inside, nowhere else)
 *
 * Purpose:   what wire/message.c encodes and decodes with.
 * Ownership: a writer appends to a caller's buf; a reader borrows the input, and every str/bytes view
 *            it gives points into it.
 * Threads:   one owner.
 * Errors:    ERR_PROTOCOL with the key's name; ERR_LIMIT past a bound.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_PACK_H
#define CE_COMMON_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/str.h"

void pack_map(buf *out, size_t members);
void pack_array(buf *out, size_t elements);
void pack_i64(buf *out, int64_t value);
void pack_f64(buf *out, double value);
void pack_bool(buf *out, bool value);
void pack_str(buf *out, const char *text, size_t size);
void pack_bytes(buf *out, const void *data, size_t size);

/* A cursor over encoded bytes: each read advances it. */
typedef struct pack_reader {
    const char *data;
    size_t size;
    size_t at;
} pack_reader;

int pack_read_map(pack_reader *r, size_t max, size_t *members, err *e);
int pack_read_array(pack_reader *r, size_t max, size_t *elements, err *e);
int pack_read_i64(pack_reader *r, int64_t *out, err *e);
int pack_read_f64(pack_reader *r, double *out, err *e);
int pack_read_bool(pack_reader *r, bool *out, err *e);
int pack_read_str(pack_reader *r, size_t max, str *out, err *e);
int pack_read_bytes(pack_reader *r, size_t max, str *out, err *e);
bool pack_at_end(const pack_reader *r);

#endif
