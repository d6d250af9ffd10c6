/* random_message - messages with random fields, for tests of the codec
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/wire/random_message.h"

#include <string.h>

#include "common/xalloc.h"

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

static size_t below(uint64_t *state, size_t limit)
{
    return limit == 0 ? 0 : (size_t)(random_next(state) % limit);
}

/* Edges come often: most faults of a codec live there. */
static int64_t random_i64(const schema_field *f, uint64_t *state)
{
    uint64_t range = (uint64_t)f->max - (uint64_t)f->min;
    switch (below(state, 4)) {
    case 0:
        return f->min;
    case 1:
        return f->max;
    default: {
        uint64_t step = range == UINT64_MAX ? random_next(state) : random_next(state) % (range + 1);
        return (int64_t)((uint64_t)f->min + step);
    }
    }
}

static size_t random_size(const schema_field *f, uint64_t *state, size_t size)
{
    size_t max = (uint64_t)f->max < size ? (size_t)f->max : size;
    return below(state, 4) == 0 ? max : below(state, max + 1);
}

static char *random_text(size_t max, uint64_t *state)
{
    static const char *const pieces[] = {"a", "Z", " ", "\n", "\x7f", "\"", "é", "€", "𝄞"};
    char *text = xcalloc(max + 1, 1);
    for (size_t size = 0;;) {
        const char *piece = pieces[below(state, sizeof(pieces) / sizeof(pieces[0]))];
        size_t n = strlen(piece);
        if (size + n > max)
            return text;
        memcpy(text + size, piece, n);
        size += n;
    }
}

static void random_bytes(uint8_t *out, size_t size, uint64_t *state)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)random_next(state);
}

static void random_fields(const schema *s, uint64_t *state, size_t size, void *base);

static void random_list(const schema_field *f, uint64_t *state, size_t size, void *base)
{
    const schema *row = f->row();
    size_t count = random_size(f, state, size < 16 ? size : 16);
    char *rows = count > 0 ? xcalloc(count, row->size) : NULL;
    for (size_t i = 0; i < count; i++)
        random_fields(row, state, size, rows + i * row->size);
    memcpy((char *)base + f->offset, &rows, sizeof(rows));
    memcpy((char *)base + f->count_offset, &count, sizeof(count));
}

static void random_field(const schema_field *f, uint64_t *state, size_t size, void *base)
{
    void *at = (char *)base + f->offset;
    switch (f->type) {
    case SCHEMA_I64:
        *(int64_t *)at = random_i64(f, state);
        break;
    case SCHEMA_F64:
        random_bytes(at, sizeof(double), state);
        break;
    case SCHEMA_BOOL:
        *(bool *)at = below(state, 2) == 1;
        break;
    case SCHEMA_STR:
        *(char **)at = random_text(random_size(f, state, size), state);
        break;
    case SCHEMA_BYTES: {
        message_bytes *bytes = at;
        bytes->size = random_size(f, state, size);
        bytes->data = bytes->size > 0 ? xmalloc(bytes->size) : NULL;
        random_bytes(bytes->data, bytes->size, state);
        break;
    }
    case SCHEMA_HASH:
        random_bytes(at, sizeof(hash), state);
        break;
    case SCHEMA_LIST:
        random_list(f, state, size, base);
        break;
    }
}

static void random_fields(const schema *s, uint64_t *state, size_t size, void *base)
{
    for (size_t i = 0; i < s->field_count; i++)
        random_field(&s->fields[i], state, size, base);
}

void random_message(const schema *s, uint64_t *state, size_t size, message *out)
{
    message_init(out, (message_type)s->number);
    out->seq = random_next(state);
    random_fields(s, state, size, &out->body);
}

static bool same_fields(const schema *s, const void *a, const void *b);

static bool same_list(const schema_field *f, const void *a, const void *b)
{
    const schema *row = f->row();
    const char *rows[2];
    size_t counts[2];
    memcpy(&rows[0], (const char *)a + f->offset, sizeof(rows[0]));
    memcpy(&rows[1], (const char *)b + f->offset, sizeof(rows[1]));
    memcpy(&counts[0], (const char *)a + f->count_offset, sizeof(counts[0]));
    memcpy(&counts[1], (const char *)b + f->count_offset, sizeof(counts[1]));
    if (counts[0] != counts[1])
        return false;
    for (size_t i = 0; i < counts[0]; i++)
        if (!same_fields(row, rows[0] + i * row->size, rows[1] + i * row->size))
            return false;
    return true;
}

static bool same_bytes(const message_bytes *a, const message_bytes *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static bool same_field(const schema_field *f, const void *a, const void *b)
{
    const void *x = (const char *)a + f->offset;
    const void *y = (const char *)b + f->offset;
    switch (f->type) {
    case SCHEMA_I64:
    case SCHEMA_F64:
        return memcmp(x, y, 8) == 0;
    case SCHEMA_BOOL:
        return *(const bool *)x == *(const bool *)y;
    case SCHEMA_STR:
        return strcmp(*(char *const *)x, *(char *const *)y) == 0;
    case SCHEMA_BYTES:
        return same_bytes(x, y);
    case SCHEMA_HASH:
        return hash_equal(x, y);
    case SCHEMA_LIST:
        return same_list(f, a, b);
    }
    return false;
}

static bool same_fields(const schema *s, const void *a, const void *b)
{
    for (size_t i = 0; i < s->field_count; i++)
        if (!same_field(&s->fields[i], a, b))
            return false;
    return true;
}

bool same_message(const message *a, const message *b)
{
    return a->type == b->type && a->seq == b->seq &&
           same_fields(schema_of(a->type), &a->body, &b->body);
}
