/* hash - content hash (SHA-256 by libsodium)
 *
 * Purpose:   the name of an artifact, a contract, a suite.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    hash_parse says false on anything but 64 lower-case hex digits; hash_of_file as errno says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_HASH_H
#define CE_COMMON_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { HASH_SIZE = 32, HASH_HEX = 65 };

typedef struct hash {
    uint8_t bytes[HASH_SIZE];
} hash;

hash hash_of(const void *data, size_t size);
hash hash_of_text(const char *text);
/* hash_of_file reads it piece by piece; *size is how long it is. */
int hash_of_file(const char *path, hash *out, int64_t *size, err *e);
/* hash_stream hashes what comes in pieces; hash_stream_finish gives the hash and ends it. */
typedef struct hash_stream hash_stream;
hash_stream *hash_stream_create(void);
void hash_stream_add(hash_stream *self, const void *data, size_t size);
hash hash_stream_finish(hash_stream **self);
void hash_stream_destroy(hash_stream **self);
void hash_hex(const hash *self, char out[HASH_HEX]);
bool hash_parse(const char *hex, hash *out);
bool hash_equal(const hash *a, const hash *b);
bool hash_is_zero(const hash *self); /* all zero: "no blob" on the wire */

/* hash_list hashes a list of named parts so that no two lists collide by concatenation:
 * SHA-256 over (size of name, name, size of part, part) in order. */
typedef struct hash_part {
    const char *name;
    const void *data;
    size_t size;
} hash_part;
hash hash_list(const hash_part *parts, size_t count);

#endif
