/* pack - msgpack maps with string keys, strictly (msgpack-c inside, nowhere else)
 *
 * Writing is msgpack-c's packer. Reading is by hand, element by element, because msgpack-c only
 * unpacks whole trees (allocating what the peer asks for): here every length is checked against the
 * input and against the caller's maximum before anything is touched, and nothing is allocated.
 *
 * SPDX-License-Identifier: MIT */
#include "common/pack.h"

#include <msgpack.h>
#include <string.h>

/* ---- write ---- */

static int append(void *out, const char *data, size_t size)
{
    return buf_add(out, data, size);
}

static msgpack_packer packer(buf *out)
{
    msgpack_packer p;
    msgpack_packer_init(&p, out, append);
    return p;
}

void pack_map(buf *out, size_t members)
{
    msgpack_packer p = packer(out);
    msgpack_pack_map(&p, members);
}

void pack_array(buf *out, size_t elements)
{
    msgpack_packer p = packer(out);
    msgpack_pack_array(&p, elements);
}

void pack_i64(buf *out, int64_t value)
{
    msgpack_packer p = packer(out);
    msgpack_pack_int64(&p, value);
}

void pack_f64(buf *out, double value)
{
    msgpack_packer p = packer(out);
    msgpack_pack_double(&p, value);
}

void pack_bool(buf *out, bool value)
{
    msgpack_packer p = packer(out);
    if (value)
        msgpack_pack_true(&p);
    else
        msgpack_pack_false(&p);
}

void pack_str(buf *out, const char *text, size_t size)
{
    msgpack_packer p = packer(out);
    msgpack_pack_str_with_body(&p, size == 0 ? "" : text, size);
}

void pack_bytes(buf *out, const void *data, size_t size)
{
    msgpack_packer p = packer(out);
    msgpack_pack_bin_with_body(&p, size == 0 ? "" : data, size);
}

/* ---- read ---- */

/* How a family of elements (str, bin, array, map) spells its lengths; 0 is "no such spelling". */
typedef struct family {
    const char *name;
    uint8_t fix_base, fix_mask; /* length in the first byte */
    uint8_t wide[3];            /* first byte when 1, 2 or 4 length bytes follow */
} family;

static const family maps = {"a map", 0x80, 0x0f, {0, 0xde, 0xdf}};
static const family arrays = {"a list", 0x90, 0x0f, {0, 0xdc, 0xdd}};
static const family strings = {"a text", 0xa0, 0x1f, {0xd9, 0xda, 0xdb}};
static const family blobs = {"bytes", 0, 0, {0xc4, 0xc5, 0xc6}};

static int cut_short(err *e)
{
    return err_set(e, ERR_PROTOCOL, "the message is cut short");
}

static int not_a(const char *wanted, uint8_t found, err *e)
{
    return err_set(e, ERR_PROTOCOL, "expected %s, found type byte 0x%02x", wanted, (unsigned)found);
}

/* number_at reads `width` big-endian bytes behind the first one. */
static uint64_t number_at(const pack_reader *r, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | (uint8_t)r->data[r->at + 1 + i];
    return value;
}

static bool has(const pack_reader *r, size_t bytes)
{
    return bytes <= r->size - r->at;
}

/* read_length gives an element's length and how many bytes its head takes; advances nothing. */
static int read_length(const pack_reader *r, const family *f, uint64_t *length, size_t *head,
                       err *e)
{
    if (!has(r, 1))
        return cut_short(e);
    uint8_t first = (uint8_t)r->data[r->at];
    if (f->fix_mask != 0 && (first & ~f->fix_mask) == f->fix_base) {
        *length = first & f->fix_mask;
        *head = 1;
        return 0;
    }
    for (size_t i = 0; i < 3; i++) {
        if (f->wide[i] == 0 || f->wide[i] != first)
            continue;
        size_t width = (size_t)1 << i;
        if (!has(r, 1 + width))
            return cut_short(e);
        *length = number_at(r, width);
        *head = 1 + width;
        return 0;
    }
    return not_a(f->name, first, e);
}

/* read_count: every element takes at least `least` bytes, so a count beyond the input is a lie. */
static int read_count(pack_reader *r, const family *f, size_t max, size_t least, size_t *out,
                      err *e)
{
    uint64_t length = 0;
    size_t head = 0;
    if (read_length(r, f, &length, &head, e) < 0)
        return -1;
    if (length > max)
        return err_set(e, ERR_LIMIT, "%s of %llu entries; the maximum is %zu", f->name,
                       (unsigned long long)length, max);
    if (length > (r->size - r->at - head) / least)
        return cut_short(e);
    r->at += head;
    *out = (size_t)length;
    return 0;
}

int pack_read_map(pack_reader *r, size_t max, size_t *members, err *e)
{
    return read_count(r, &maps, max, 2, members, e);
}

int pack_read_array(pack_reader *r, size_t max, size_t *elements, err *e)
{
    return read_count(r, &arrays, max, 1, elements, e);
}

/* int_width is how many bytes follow an integer's first byte; -1 when it begins no integer. */
static int int_width(uint8_t first)
{
    if (first < 0x80 || first >= 0xe0)
        return 0;
    if (first >= 0xcc && first <= 0xcf)
        return 1 << (first - 0xcc);
    return first >= 0xd0 && first <= 0xd3 ? 1 << (first - 0xd0) : -1;
}

static int64_t signed_of(uint64_t bits, int width)
{
    switch (width) {
    case 1:
        return (int8_t)bits;
    case 2:
        return (int16_t)bits;
    case 4:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

int pack_read_i64(pack_reader *r, int64_t *out, err *e)
{
    if (!has(r, 1))
        return cut_short(e);
    uint8_t first = (uint8_t)r->data[r->at];
    int width = int_width(first);
    if (width < 0)
        return not_a("an integer", first, e);
    if (!has(r, 1 + (size_t)width))
        return cut_short(e);
    uint64_t bits = number_at(r, (size_t)width);
    if (width == 0)
        *out = signed_of(first, 1);
    else if (first >= 0xd0)
        *out = signed_of(bits, width);
    else if (bits > INT64_MAX)
        return err_set(e, ERR_PROTOCOL, "an integer larger than 63 bits");
    else
        *out = (int64_t)bits;
    r->at += 1 + (size_t)width;
    return 0;
}

int pack_read_f64(pack_reader *r, double *out, err *e)
{
    if (!has(r, 1))
        return cut_short(e);
    uint8_t first = (uint8_t)r->data[r->at];
    if (first != 0xcb)
        return not_a("a real of 64 bits", first, e);
    if (!has(r, 9))
        return cut_short(e);
    uint64_t bits = number_at(r, 8);
    memcpy(out, &bits, sizeof *out);
    r->at += 9;
    return 0;
}

int pack_read_bool(pack_reader *r, bool *out, err *e)
{
    if (!has(r, 1))
        return cut_short(e);
    uint8_t first = (uint8_t)r->data[r->at];
    if (first != 0xc2 && first != 0xc3)
        return not_a("true or false", first, e);
    *out = first == 0xc3;
    r->at++;
    return 0;
}

/* look_view finds the element's body and does not advance. */
static int look_view(const pack_reader *r, const family *f, size_t max, str *body, size_t *head,
                     err *e)
{
    uint64_t length = 0;
    if (read_length(r, f, &length, head, e) < 0)
        return -1;
    if (length > max)
        return err_set(e, ERR_LIMIT, "%s of %llu bytes; the maximum is %zu", f->name,
                       (unsigned long long)length, max);
    if (length > r->size - r->at - *head)
        return cut_short(e);
    *body = (str){r->data + r->at + *head, (size_t)length};
    return 0;
}

int pack_read_str(pack_reader *r, size_t max, str *out, err *e)
{
    str body = {NULL, 0};
    size_t head = 0;
    if (look_view(r, &strings, max, &body, &head, e) < 0)
        return -1;
    if (str_utf8_valid(body.data, body.size) != body.size)
        return err_set(e, ERR_PROTOCOL, "a text that is not UTF-8");
    if (body.size > 0 && memchr(body.data, '\0', body.size) != NULL)
        return err_set(e, ERR_PROTOCOL, "a text with a NUL byte");
    *out = body;
    r->at += head + body.size;
    return 0;
}

int pack_read_bytes(pack_reader *r, size_t max, str *out, err *e)
{
    str body = {NULL, 0};
    size_t head = 0;
    if (look_view(r, &blobs, max, &body, &head, e) < 0)
        return -1;
    *out = body;
    r->at += head + body.size;
    return 0;
}

bool pack_at_end(const pack_reader *r)
{
    return r->at == r->size;
}
