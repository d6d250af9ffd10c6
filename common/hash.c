/* hash - content hash (SHA-256 by libsodium)
 *
 * SPDX-License-Identifier: MIT */
#include "common/hash.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { PIECE = 64 * 1024 };

_Static_assert(HASH_SIZE == crypto_hash_sha256_BYTES, "a hash is a SHA-256");

hash hash_of(const void *data, size_t size)
{
    hash result;
    static const unsigned char nothing[1];
    crypto_hash_sha256(result.bytes, size == 0 ? nothing : data, size);
    return result;
}

hash hash_of_text(const char *text)
{
    return hash_of(text, strlen(text));
}

struct hash_stream {
    crypto_hash_sha256_state state;
};

hash_stream *hash_stream_create(void)
{
    hash_stream *self = xcalloc(1, sizeof *self);
    crypto_hash_sha256_init(&self->state);
    return self;
}

void hash_stream_add(hash_stream *self, const void *data, size_t size)
{
    crypto_hash_sha256_update(&self->state, data, size);
}

hash hash_stream_finish(hash_stream **self)
{
    hash result;
    crypto_hash_sha256_final(&(*self)->state, result.bytes);
    hash_stream_destroy(self);
    return result;
}

void hash_stream_destroy(hash_stream **self)
{
    free(*self);
    *self = NULL;
}

int hash_of_file(const char *path, hash *out, int64_t *size, err *e)
{
    unsigned char piece[PIECE];
    SCOPED(scoped_fclose) FILE *file = fopen(path, "rb");
    if (file == NULL)
        return err_errno(e, errno, "open %s", path);
    SCOPED(hash_stream_destroy) hash_stream *stream = hash_stream_create();
    *size = 0;
    for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0; *size += (int64_t)n)
        hash_stream_add(stream, piece, n);
    if (ferror(file))
        return err_errno(e, errno, "read %s", path);
    *out = hash_stream_finish(&stream);
    return 0;
}

void hash_hex(const hash *self, char out[HASH_HEX])
{
    sodium_bin2hex(out, HASH_HEX, self->bytes, HASH_SIZE);
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool hash_parse(const char *hex, hash *out)
{
    hash value;
    for (size_t i = 0; i < HASH_SIZE; i++) {
        int high = nibble(hex[2 * i]);
        int low = high < 0 ? -1 : nibble(hex[2 * i + 1]);
        if (low < 0)
            return false;
        value.bytes[i] = (uint8_t)(high << 4 | low);
    }
    if (hex[HASH_HEX - 1] != '\0')
        return false;
    *out = value;
    return true;
}

bool hash_equal(const hash *a, const hash *b)
{
    return memcmp(a->bytes, b->bytes, HASH_SIZE) == 0;
}

bool hash_is_zero(const hash *self)
{
    static const hash zero;
    return hash_equal(self, &zero);
}

static void add_sized(crypto_hash_sha256_state *state, const void *data, size_t size)
{
    unsigned char length[8];
    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (unsigned char)((uint64_t)size >> (8 * i));
    crypto_hash_sha256_update(state, length, sizeof length);
    if (size > 0)
        crypto_hash_sha256_update(state, data, size);
}

hash hash_list(const hash_part *parts, size_t count)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < count; i++) {
        add_sized(&state, parts[i].name, strlen(parts[i].name));
        add_sized(&state, parts[i].data, parts[i].size);
    }
    hash result;
    crypto_hash_sha256_final(&state, result.bytes);
    return result;
}
