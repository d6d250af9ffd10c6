/* reference_memory - moves, memory, atomics, lanes; and which part knows a row
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/unit/emulator/reference.h"

static bool is(const reference_case *c, const char *op)
{
    return strcmp(c->row->op, op) == 0;
}

static uint64_t keep(corpus_kind k, uint64_t v)
{
    const unsigned bits = corpus_bits(k);
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static uint64_t extended(uint64_t v, unsigned bits, bool has_sign)
{
    v = bits == 64 ? v : v & ((1ull << bits) - 1);
    return has_sign && bits < 64 && (v >> (bits - 1) & 1) != 0 ? v | UINT64_MAX << bits : v;
}

/* ---- moves ---- */

static bool moves(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    const uint64_t a = reference_operand(c, 0), b = reference_operand(c, 1);
    if (is(c, "mov"))
        out[0] = r->d == KIND_PRED ? a != 0 : a;
    else if (is(c, "same"))
        out[0] = a, out[1] = b;
    else if (is(c, "pack"))
        out[0] = a | b << corpus_bits(r->type);
    else if (is(c, "unpack"))
        out[0] = keep(r->d, a), out[1] = keep(r->d, a >> corpus_bits(r->d));
    else if (is(c, "upper"))
        out[0] = a >> 32;
    else
        return false;
    return true;
}

/* mov.b64 {w, x, y, z}, a; mov.b64 d, {z, y, x, w} turns the four parts round. */
static uint64_t turned(uint64_t a)
{
    return a << 48 | (a & 0xffff0000u) << 16 | (a >> 16 & 0xffff0000u) | a >> 48;
}

static bool selects(const reference_case *c, uint64_t out[2])
{
    const uint64_t a = reference_operand(c, 0), b = reference_operand(c, 1);
    const uint64_t by = reference_operand(c, 2);
    if (is(c, "selp"))
        out[0] = by != 0 ? a : b;
    else if (is(c, "slct") && c->row->from == KIND_S32)
        out[0] = (by >> 31 & 1) == 0 ? a : b;
    else if (is(c, "slct"))
        out[0] = reference_value(KIND_F32, by) >= 0 ? a : b;
    else
        return false;
    return true;
}

/* Bytes and words through memory or cvt. */
static bool resized(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    const uint64_t a = reference_operand(c, 0);
    const bool load = strncmp(r->op, "ld.", 3) == 0;
    if (load) {
        const char *t = r->op + 3;
        const unsigned bits =
            t[1] == '8' ? 8 : (unsigned)(t[1] - '0') * 10 + (unsigned)(t[2] - '0');
        out[0] = keep(r->d, extended(a, bits, t[0] == 's'));
        return true;
    }
    const bool to_byte = strncmp(r->op, "to.", 3) == 0;
    if (!to_byte && strncmp(r->op, "from.", 5) != 0 && !is(c, "cvt"))
        return false;
    if (is(c, "cvt") && (r->type >= KIND_F16 || r->from >= KIND_F16))
        return false;
    const bool byte_signed = strchr(r->op, 's') != NULL && !is(c, "cvt");
    const bool from_signed = is(c, "cvt") ? corpus_type(r->from)[0] == 's'
                             : to_byte    ? corpus_type(r->type)[0] == 's'
                                          : byte_signed;
    const bool to_signed = is(c, "cvt") || !to_byte ? corpus_type(r->type)[0] == 's' : byte_signed;
    const unsigned from = is(c, "cvt") ? corpus_bits(r->from) : to_byte ? corpus_bits(r->type) : 8;
    const unsigned to = is(c, "cvt") || !to_byte ? corpus_bits(r->type) : 8;
    const uint64_t wide = extended(a, from, from_signed);
    uint64_t v = wide;
    if ((r->flags & CORPUS_SAT) != 0) {
        const bool negative = from_signed && (wide >> 63) != 0;
        const uint64_t top = to_signed  ? (1ull << (to - 1)) - 1
                             : to == 64 ? UINT64_MAX
                                        : (1ull << to) - 1;
        if (negative)
            v = !to_signed ? 0 : (int64_t)wide < -(int64_t)top - 1 ? ~top : wide;
        else
            v = wide > top ? top : wide;
    }
    out[0] = keep(r->d, extended(v, to, to_signed));
    return true;
}

/* ---- atomics ---- */

static bool less(corpus_kind k, uint64_t x, uint64_t y)
{
    const unsigned bits = corpus_bits(k);
    const uint64_t turn = corpus_type(k)[0] == 's' ? 1ull << (bits - 1) : 0;
    return (x ^ turn) < (y ^ turn);
}

static uint64_t float_sum(corpus_kind k, uint64_t x, uint64_t y)
{
    const quad a = reference_value(k, x), b = reference_value(k, y);
    if (k == KIND_F64 && (a != a || b != b))
        return (a != a ? x : y) | 1ull << 51; /* a NaN comes through */
    return reference_round(k, a + b, 0, CORPUS_RN);
}

static uint64_t any_sum(corpus_kind k, uint64_t x, uint64_t y)
{
    if (k == KIND_F16X2)
        return float_sum(KIND_F16, x & 0xffff, y & 0xffff) | float_sum(KIND_F16, x >> 16, y >> 16)
                                                                 << 16;
    return k >= KIND_F16 ? float_sum(k, x, y) : keep(k, x + y);
}

static bool updated(const char *op, corpus_kind k, const uint64_t in[3], uint64_t *next)
{
    const uint64_t a = in[0], b = in[1];
    if (strcmp(op, "and") == 0)
        *next = a & b;
    else if (strcmp(op, "or") == 0)
        *next = a | b;
    else if (strcmp(op, "xor") == 0)
        *next = a ^ b;
    else if (strcmp(op, "exch") == 0)
        *next = b;
    else if (strcmp(op, "cas") == 0)
        *next = a == b ? in[2] : a;
    else if (strcmp(op, "add") == 0)
        *next = any_sum(k, a, b);
    else if (strcmp(op, "inc") == 0)
        *next = a >= b ? 0 : a + 1;
    else if (strcmp(op, "dec") == 0)
        *next = a == 0 || a > b ? b : a - 1;
    else if (strcmp(op, "min") == 0)
        *next = less(k, b, a) ? b : a;
    else if (strcmp(op, "max") == 0)
        *next = less(k, a, b) ? b : a;
    else
        return false;
    return true;
}

static bool atomics(const reference_case *c, uint64_t out[2])
{
    const uint64_t in[3] = {reference_operand(c, 0), reference_operand(c, 1),
                            reference_operand(c, 2)};
    if (strncmp(c->row->op, "atom.", 5) != 0 || !updated(c->row->op + 5, c->row->type, in, &out[1]))
        return false;
    out[0] = c->row->d != KIND_NONE ? in[0] : 0;
    return true;
}

/* ---- lanes ---- */

static uint64_t of_lane(const reference_case *c, unsigned lane, unsigned i)
{
    return c->operands[(c->thread / 32 * 32 + lane) * CORPUS_OPERANDS + i];
}

static bool shuffles(const reference_case *c, uint64_t out[2])
{
    static const struct {
        const char *op;
        char mode;
        unsigned segment;
    } rows[] = {{"shfl.up", 'u', 32},  {"shfl.down", 'd', 32}, {"shfl.bfly", 'x', 32},
                {"shfl.idx", 'i', 32}, {"shfl.idx8", 'i', 8},  {"shfl.down8", 'd', 8},
                {"shfl.up8", 'u', 8}};
    const int lane = (int)c->thread % 32, b = (int)(reference_operand(c, 1) & 31);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is(c, rows[i].op))
            continue;
        const int size = (int)rows[i].segment, start = lane / size * size;
        int from = rows[i].mode == 'u'   ? lane - b
                   : rows[i].mode == 'd' ? lane + b
                   : rows[i].mode == 'x' ? lane ^ b
                                         : start + b % size;
        const bool inside = from >= start && from < start + size;
        out[0] = of_lane(c, (unsigned)(inside ? from : lane), 0);
        out[1] = inside;
        return true;
    }
    return false;
}

static uint64_t ballot(const reference_case *c)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 32; i++)
        v |= of_lane(c, i, 0) != 0 ? 1ull << i : 0;
    return v;
}

static bool votes(const reference_case *c, uint64_t out[2])
{
    const uint64_t all = 0xffffffffu, v = ballot(c);
    uint64_t block = 0;
    for (unsigned t = 0; t < CORPUS_THREADS; t++)
        block += c->operands[t * CORPUS_OPERANDS] != 0;
    if (is(c, "vote.all"))
        out[0] = v == all, out[1] = v == 0;
    else if (is(c, "vote.any"))
        out[0] = v != 0, out[1] = v != all;
    else if (is(c, "vote.uni"))
        out[0] = out[1] = v == all || v == 0;
    else if (is(c, "vote.ballot"))
        out[0] = v, out[1] = v ^ all;
    else if (is(c, "bar.popc"))
        out[0] = block, out[1] = CORPUS_THREADS - block;
    else if (is(c, "bar.and"))
        out[0] = block == CORPUS_THREADS, out[1] = block != 0;
    else
        return false;
    return true;
}

static bool matches(const reference_case *c, uint64_t out[2])
{
    const unsigned lane = c->thread % 32;
    uint64_t same = 0;
    for (unsigned i = 0; i < 32; i++)
        same |= (of_lane(c, i, 0) & 3) == (of_lane(c, lane, 0) & 3) ? 1ull << i : 0;
    if (is(c, "match.any"))
        out[0] = same;
    else if (is(c, "match.all"))
        out[0] = same == 0xffffffffu ? same : 0, out[1] = same == 0xffffffffu;
    else if (is(c, "match.same"))
        out[0] = 0xffffffffu, out[1] = 1;
    else
        return false;
    return true;
}

static bool reductions(const reference_case *c, uint64_t out[2])
{
    if (strncmp(c->row->op, "redux.", 6) != 0)
        return false;
    out[0] = of_lane(c, 0, 0);
    for (unsigned i = 1; i < 32; i++) {
        const uint64_t in[3] = {out[0], of_lane(c, i, 0), 0};
        if (!updated(c->row->op + 6, c->row->type, in, &out[0]))
            return false;
    }
    return true;
}

static bool others(const reference_case *c, uint64_t out[2])
{
    const unsigned lane = c->thread % 32;
    if (is(c, "first") || is(c, "both") || is(c, "neither"))
        out[0] = !is(c, "neither"), out[1] = is(c, "both");
    else if (is(c, "letters"))
        out[0] = 22, out[1] = 333;
    else if (is(c, "ones"))
        out[0] = 0xffffffffu;
    else if (is(c, "brx"))
        out[0] = keep(KIND_U32, reference_operand(c, 1) + 1 + (reference_operand(c, 0) & 1));
    else if (is(c, "specials"))
        out[0] = c->thread * CORPUS_THREADS + lane + ((1u << lane) - 1),
        out[1] = (uint32_t) ~((1u << lane) - 1);
    else
        return false;
    return true;
}

bool reference_memory(const reference_case *c, uint64_t out[2])
{
    if (is(c, "turn16")) {
        out[0] = turned(reference_operand(c, 0));
        return true;
    }
    return moves(c, out) || selects(c, out) || resized(c, out) || atomics(c, out) ||
           shuffles(c, out) || votes(c, out) || matches(c, out) || reductions(c, out) ||
           others(c, out);
}

bool reference(const reference_case *c, uint64_t out[2])
{
    out[0] = out[1] = 0;
    if (c->row->op[0] == '\0')
        return false;
    return reference_memory(c, out) || reference_bits(c, out) || reference_integer(c, out) ||
           reference_float(c, out);
}
