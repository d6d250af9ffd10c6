/* message - what processes say to each other, as C structs (from messages.def)
 *
 * The codec walks a message's schema (wire/schema.h). A body is a msgpack map with exactly the schema's
 * keys, in any order; a list is an array of such maps. Errors are put together on the way out: the
 * field says what is wrong, the row and the message prefix their names.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/message.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/pack.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "wire/frame.h"
#include "wire/schema.h"

/* ---- fields in memory ---- */

static void *at(void *base, const schema_field *f)
{
    return (char *)base + f->offset;
}

static const void *at_const(const void *base, const schema_field *f)
{
    return (const char *)base + f->offset;
}

static size_t list_count(const void *base, const schema_field *f)
{
    size_t count;
    memcpy(&count, (const char *)base + f->count_offset, sizeof(count));
    return count;
}

/* A list's pointer has the row's type: copied, not read through another pointer type. */
static char *list_rows(const void *base, const schema_field *f)
{
    char *rows;
    memcpy(&rows, at_const(base, f), sizeof(rows));
    return rows;
}

static void list_set(void *base, const schema_field *f, char *rows, size_t count)
{
    memcpy(at(base, f), &rows, sizeof(rows));
    memcpy((char *)base + f->count_offset, &count, sizeof(count));
}

static void fini_fields(const schema *s, void *base);

static void fini_list(const schema_field *f, void *base)
{
    char *rows = list_rows(base, f);
    const schema *row = f->row();
    for (size_t i = 0, n = list_count(base, f); i < n; i++)
        fini_fields(row, rows + i * row->size);
    free(rows);
}

static void fini_fields(const schema *s, void *base)
{
    for (const schema_field *f = s->fields; f < s->fields + s->field_count; f++) {
        if (f->type == SCHEMA_STR)
            free(*(char **)at(base, f));
        else if (f->type == SCHEMA_BYTES)
            free(((message_bytes *)at(base, f))->data);
        else if (f->type == SCHEMA_LIST)
            fini_list(f, base);
    }
    memset(base, 0, s->size);
}

void message_init(message *self, message_type type)
{
    memset(self, 0, sizeof(*self));
    self->type = type;
}

void message_fini(message *self)
{
    const schema *s = schema_of(self->type);
    if (s != NULL)
        fini_fields(s, &self->body);
    memset(self, 0, sizeof(*self));
}

/* ---- setters ---- */

/* clean_copy is a copy of the first size bytes in which bytes that are no UTF-8 are '?'. */
static char *clean_copy(const char *text, size_t size)
{
    char *copy = xstrndup(text, size);
    for (size_t i = 0; i < size;) {
        size_t step = str_utf8_step(copy + i, size - i);
        if (step == 0)
            copy[i] = '?';
        i += step == 0 ? 1 : step;
    }
    return copy;
}

void message_set_str(char **target, const char *text)
{
    message_cut_str(target, text, SIZE_MAX);
}

void message_cut_str(char **target, const char *text, size_t max)
{
    const char *from = text != NULL ? text : "";
    size_t size = strnlen(from, max);
    if (from[size] != '\0') /* do not cut through a sequence */
        while (size > 0 && ((unsigned char)from[size] & 0xc0) == 0x80)
            size--;
    char *copy = clean_copy(from, size);
    free(*target);
    *target = copy;
}

void message_set_bytes(message_bytes *target, const void *data, size_t size)
{
    uint8_t *copy = size > 0 ? xmemdup(data, size) : NULL;
    free(target->data);
    *target = (message_bytes){copy, size};
}

/* ---- bounds, the same both ways ---- */

static int check_i64(const schema_field *f, int64_t value, err *e)
{
    if (value < f->min || value > f->max)
        return err_set(e, ERR_PROTOCOL, "%s: %" PRId64 " is not in %" PRId64 "..%" PRId64, f->name,
                       value, f->min, f->max);
    return 0;
}

static int check_size(const schema_field *f, size_t size, const char *unit, err *e)
{
    if (size > (uint64_t)f->max)
        return err_set(e, ERR_PROTOCOL, "%s: %zu %s, the maximum is %" PRId64, f->name, size, unit,
                       f->max);
    return 0;
}

static int check_text(const schema_field *f, const char *text, size_t size, err *e)
{
    if (check_size(f, size, "bytes", e) < 0)
        return -1;
    size_t valid = str_utf8_valid(text, size);
    if (valid != size)
        return err_set(e, ERR_PROTOCOL, "%s: byte %zu is no UTF-8", f->name, valid);
    if (memchr(text, '\0', size) != NULL)
        return err_set(e, ERR_PROTOCOL, "%s: the text holds a NUL byte", f->name);
    return 0;
}

/* ---- encode ---- */

static int encode_fields(const schema *s, const void *base, buf *out, err *e);

static int encode_str(const schema_field *f, const char *text, buf *out, err *e)
{
    const char *value = text != NULL ? text : "";
    size_t size = strlen(value);
    if (check_text(f, value, size, e) < 0)
        return -1;
    pack_str(out, value, size);
    return 0;
}

static int encode_bytes(const schema_field *f, const message_bytes *bytes, buf *out, err *e)
{
    if (check_size(f, bytes->size, "bytes", e) < 0)
        return -1;
    pack_bytes(out, bytes->data, bytes->size);
    return 0;
}

static int encode_list(const schema_field *f, const void *base, buf *out, err *e)
{
    const char *rows = list_rows(base, f);
    const schema *row = f->row();
    size_t count = list_count(base, f);
    if (check_size(f, count, "rows", e) < 0)
        return -1;
    pack_array(out, count);
    for (size_t i = 0; i < count; i++)
        if (encode_fields(row, rows + i * row->size, out, e) < 0)
            return err_wrap(e, "%s[%zu]", f->name, i);
    return 0;
}

static int encode_i64(const schema_field *f, int64_t value, buf *out, err *e)
{
    if (check_i64(f, value, e) < 0)
        return -1;
    pack_i64(out, value);
    return 0;
}

static int encode_field(const schema_field *f, const void *base, buf *out, err *e)
{
    const void *value = at_const(base, f);
    pack_str(out, f->name, strlen(f->name));
    switch (f->type) {
    case SCHEMA_I64:
        return encode_i64(f, *(const int64_t *)value, out, e);
    case SCHEMA_F64:
        pack_f64(out, *(const double *)value);
        return 0;
    case SCHEMA_BOOL:
        pack_bool(out, *(const bool *)value);
        return 0;
    case SCHEMA_STR:
        return encode_str(f, *(char *const *)value, out, e);
    case SCHEMA_BYTES:
        return encode_bytes(f, value, out, e);
    case SCHEMA_HASH:
        pack_bytes(out, ((const hash *)value)->bytes, HASH_SIZE);
        return 0;
    case SCHEMA_LIST:
        return encode_list(f, base, out, e);
    }
    return err_set(e, ERR_INTERNAL, "%s: no such field type", f->name);
}

static int encode_fields(const schema *s, const void *base, buf *out, err *e)
{
    pack_map(out, s->field_count);
    for (const schema_field *f = s->fields; f < s->fields + s->field_count; f++)
        if (encode_field(f, base, out, e) < 0)
            return -1;
    return 0;
}

int message_encode(const message *self, buf *out, err *e)
{
    const schema *s = schema_of(self->type);
    if (s == NULL)
        return err_set(e, ERR_INTERNAL, "%d is no message to send", (int)self->type);
    frame head = {.version = MESSAGE_PROTOCOL, .number = s->number, .seq = self->seq};
    frame_write(&head, out);
    if (encode_fields(s, &self->body, out, e) < 0)
        return err_wrap(e, "%s", s->name);
    if (out->overflow)
        return err_set(e, ERR_LIMIT, "%s: the message is longer than %zu bytes", s->name, out->max);
    return 0;
}

/* ---- decode ---- */

static int decode_fields(const schema *s, pack_reader *r, void *base, err *e);

static int decode_i64(const schema_field *f, pack_reader *r, int64_t *out, err *e)
{
    int64_t value;
    if (pack_read_i64(r, &value, e) < 0)
        return err_wrap(e, "%s", f->name);
    if (check_i64(f, value, e) < 0)
        return -1;
    *out = value;
    return 0;
}

static int decode_str(const schema_field *f, pack_reader *r, char **out, err *e)
{
    str view;
    if (pack_read_str(r, SIZE_MAX, &view, e) < 0)
        return err_wrap(e, "%s", f->name);
    if (check_text(f, view.data, view.size, e) < 0)
        return -1;
    *out = xstrndup(view.data, view.size);
    return 0;
}

static int decode_bytes(const schema_field *f, pack_reader *r, message_bytes *out, err *e)
{
    str view;
    if (pack_read_bytes(r, SIZE_MAX, &view, e) < 0)
        return err_wrap(e, "%s", f->name);
    if (check_size(f, view.size, "bytes", e) < 0)
        return -1;
    message_set_bytes(out, view.data, view.size);
    return 0;
}

static int decode_hash(const schema_field *f, pack_reader *r, hash *out, err *e)
{
    str view;
    if (pack_read_bytes(r, SIZE_MAX, &view, e) < 0)
        return err_wrap(e, "%s", f->name);
    if (view.size != HASH_SIZE)
        return err_set(e, ERR_PROTOCOL, "%s: a hash has %d bytes, not %zu", f->name, HASH_SIZE,
                       view.size);
    memcpy(out->bytes, view.data, HASH_SIZE);
    return 0;
}

static int decode_list(const schema_field *f, pack_reader *r, void *base, err *e)
{
    size_t count;
    if (pack_read_array(r, SIZE_MAX, &count, e) < 0)
        return err_wrap(e, "%s", f->name);
    if (check_size(f, count, "rows", e) < 0)
        return -1;
    const schema *row = f->row();
    char *rows = count > 0 ? xcalloc(count, row->size) : NULL;
    list_set(base, f, rows, count);
    for (size_t i = 0; i < count; i++)
        if (decode_fields(row, r, rows + i * row->size, e) < 0)
            return err_wrap(e, "%s[%zu]", f->name, i);
    return 0;
}

static int decode_field(const schema_field *f, pack_reader *r, void *base, err *e)
{
    void *value = at(base, f);
    switch (f->type) {
    case SCHEMA_I64:
        return decode_i64(f, r, value, e);
    case SCHEMA_F64:
        return pack_read_f64(r, value, e) < 0 ? err_wrap(e, "%s", f->name) : 0;
    case SCHEMA_BOOL:
        return pack_read_bool(r, value, e) < 0 ? err_wrap(e, "%s", f->name) : 0;
    case SCHEMA_STR:
        return decode_str(f, r, value, e);
    case SCHEMA_BYTES:
        return decode_bytes(f, r, value, e);
    case SCHEMA_HASH:
        return decode_hash(f, r, value, e);
    case SCHEMA_LIST:
        return decode_list(f, r, base, e);
    }
    return err_set(e, ERR_INTERNAL, "%s: no such field type", f->name);
}

/* decode_key reads a key and marks its field in *seen. NULL on failure. */
static const schema_field *decode_key(const schema *s, pack_reader *r, uint64_t *seen, err *e)
{
    str key;
    if (pack_read_str(r, SIZE_MAX, &key, e) < 0)
        return NULL;
    for (size_t i = 0; i < s->field_count; i++) {
        if (!str_equal(key, s->fields[i].name))
            continue;
        if (*seen & UINT64_C(1) << i) {
            err_set(e, ERR_PROTOCOL, "%s: the key comes twice", s->fields[i].name);
            return NULL;
        }
        *seen |= UINT64_C(1) << i;
        return &s->fields[i];
    }
    err_set(e, ERR_PROTOCOL, "unknown key \"%.*s\"", key.size < 64 ? (int)key.size : 64, key.data);
    return NULL;
}

static int decode_fields(const schema *s, pack_reader *r, void *base, err *e)
{
    assert(s->field_count <= 64);
    size_t members;
    uint64_t seen = 0;
    if (pack_read_map(r, SIZE_MAX, &members, e) < 0)
        return -1;
    for (size_t i = 0; i < members; i++) {
        const schema_field *f = decode_key(s, r, &seen, e);
        if (f == NULL || decode_field(f, r, base, e) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->field_count; i++)
        if (!(seen & UINT64_C(1) << i))
            return err_set(e, ERR_PROTOCOL, "%s: the key is missing", s->fields[i].name);
    return 0;
}

/* schema_for refuses what this program cannot read. NULL on failure. */
static const schema *schema_for(const frame *head, err *e)
{
    if (head->version != MESSAGE_PROTOCOL) {
        err_set(e, ERR_PROTOCOL,
                "the peer speaks protocol %u and this program %d: use equal versions",
                head->version, MESSAGE_PROTOCOL);
        return NULL;
    }
    const schema *s = schema_of(head->number);
    const char *retired = schema_retired(head->number);
    if (s == NULL && retired != NULL)
        err_set(e, ERR_PROTOCOL, "message number %u is retired: %s", head->number, retired);
    else if (s == NULL)
        err_set(e, ERR_PROTOCOL, "unknown message number %u", head->number);
    return s;
}

int message_decode(const void *data, size_t size, message *out, err *e)
{
    frame head;
    if (frame_read(data, size, &head, e) < 0)
        return -1;
    const schema *s = schema_for(&head, e);
    if (s == NULL)
        return -1;
    message m;
    message_init(&m, (message_type)head.number);
    m.seq = head.seq;
    pack_reader r = {.data = data, .size = size, .at = FRAME_HEAD};
    int rc = decode_fields(s, &r, &m.body, e);
    if (rc == 0 && !pack_at_end(&r))
        rc = err_set(e, ERR_PROTOCOL, "%zu bytes follow the message", size - r.at);
    if (rc < 0) {
        message_fini(&m);
        return err_wrap(e, "%s", s->name);
    }
    *out = m;
    return 0;
}

/* ---- names and documentation ---- */

const char *message_name(message_type type)
{
    const schema *s = schema_of(type);
    return s != NULL ? s->name : "?";
}

const char *message_from(message_type type)
{
    const schema *s = schema_of(type);
    return s != NULL ? s->from : "?";
}

static void doc_type(FILE *out, const schema_field *f)
{
    switch (f->type) {
    case SCHEMA_I64:
        if (f->min == INT64_MIN && f->max == INT64_MAX)
            fputs("i64", out);
        else if (f->max == INT64_MAX)
            fprintf(out, "i64, from %" PRId64, f->min);
        else
            fprintf(out, "i64, %" PRId64 " to %" PRId64, f->min, f->max);
        break;
    case SCHEMA_F64:
        fputs("f64", out);
        break;
    case SCHEMA_BOOL:
        fputs("bool", out);
        break;
    case SCHEMA_STR:
        fprintf(out, "str, %" PRId64 " bytes", f->max);
        break;
    case SCHEMA_BYTES:
        fprintf(out, "bytes, %" PRId64, f->max);
        break;
    case SCHEMA_HASH:
        fputs("hash", out);
        break;
    case SCHEMA_LIST:
        fprintf(out, "list of [%s](#row-%s), %" PRId64, f->row()->name, f->row()->name, f->max);
        break;
    }
}

static void doc_fields(FILE *out, const schema *s)
{
    fputs("\n| key | type | meaning |\n|---|---|---|\n", out);
    for (const schema_field *f = s->fields; f < s->fields + s->field_count; f++) {
        fprintf(out, "| `%s` | ", f->name);
        doc_type(out, f);
        fprintf(out, " | %s |\n", f->doc);
    }
}

static const char doc_head[] =
    "# Protocol %d\n\n"
    "Printed by `ce-coord docs protocol` from `wire/messages.def`; do not edit.\n\n"
    "A message is one byte string: `c` `e`, version (u8), message number (u16), sequence (u64), "
    "all big\n"
    "endian, then one msgpack map. The map has exactly the keys listed here, in any order. Text "
    "is\n"
    "UTF-8 without NUL, a hash is 32 bytes (SHA-256; all zero: none). The number beside a type is "
    "its\n"
    "maximum. Between coordinator and node a message is one ZeroMQ frame; on the socketpair to a "
    "child\n"
    "its length (u32, big endian) stands before it.\n";

void message_doc(FILE *out)
{
    fprintf(out, doc_head, MESSAGE_PROTOCOL);
    fputs("\n## Messages\n", out);
    const schema *s;
    for (size_t i = 0; (s = schema_at(i)) != NULL; i++) {
        fprintf(out, "\n### %u `%s`\n\nFrom %s: %s.\n", s->number, s->name, s->from, s->doc);
        doc_fields(out, s);
    }
    fputs("\n## Rows of lists\n", out);
    for (size_t i = 0; (s = schema_row_at(i)) != NULL; i++) {
        fprintf(out, "\n### row `%s`\n\nA row is %s.\n", s->name, s->doc);
        doc_fields(out, s);
    }
    fputs("\n## Retired numbers\n\n", out);
    for (unsigned number = 0; number <= UINT16_MAX; number++)
        if (schema_retired(number) != NULL)
            fprintf(out, "* %u: %s\n", number, schema_retired(number));
}
