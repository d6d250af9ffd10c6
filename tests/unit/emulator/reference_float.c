/* reference_float - floating-point rows, conversions and comparisons, in quadruple precision
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "tests/unit/emulator/reference.h"

typedef struct format {
    int mantissa, exponent;
    uint64_t nan;
} format;

static format format_of(corpus_kind k)
{
    switch ((int)k) {
    case KIND_F16:
    case KIND_F16X2:
        return (format){10, 5, 0x7fff};
    case KIND_BF16:
    case KIND_BF16X2:
        return (format){7, 8, 0x7fff};
    case KIND_F32:
        return (format){23, 8, 0x7fffffff};
    default:
        return (format){52, 11, 0xfff8000000000000u};
    }
}

static quad power(int n)
{
    quad v = 1, step = n < 0 ? (quad)0.5 : (quad)2;
    for (unsigned left = (unsigned)(n < 0 ? -n : n); left != 0; left /= 2, step *= step)
        if (left % 2 != 0)
            v *= step;
    return v;
}

static bool is_negative(quad v)
{
    unsigned char bytes[16];
    memcpy(bytes, &v, sizeof bytes);
    return (bytes[15] & 0x80) != 0;
}

static quad magnitude(quad v)
{
    return is_negative(v) ? -v : v;
}

quad reference_value(corpus_kind kind, uint64_t word)
{
    const format f = format_of(kind);
    const int bias = (1 << (f.exponent - 1)) - 1;
    const int exponent = (int)(word >> f.mantissa & ((1u << f.exponent) - 1));
    const uint64_t fraction = word & ((1ull << f.mantissa) - 1);
    const bool negative = (word >> (f.mantissa + f.exponent) & 1) != 0;
    quad v = 0;
    if (exponent == 2 * bias + 1)
        v = fraction != 0 ? (quad)(double)NAN : (quad)(double)INFINITY;
    else if (exponent == 0)
        v = (quad)fraction * power(1 - bias - f.mantissa);
    else
        v = (quad)(fraction + (1ull << f.mantissa)) * power(exponent - bias - f.mantissa);
    return negative ? -v : v;
}

/* Does a positive number with this rest behind its whole part round up? */
static bool rounds_up(quad part, int rest, bool odd, bool negative, corpus_round how)
{
    const bool inexact = part > 0 || rest != 0;
    const quad half = (quad)0.5;
    switch (how) {
    case CORPUS_RZ:
        return false;
    case CORPUS_RM:
        return inexact && negative;
    case CORPUS_RP:
        return inexact && !negative;
    case CORPUS_RN:
        break;
    }
    if (part != half)
        return part > half;
    return rest > 0 || (rest == 0 && odd);
}

static quad whole_part(quad v)
{
    __extension__ typedef unsigned __int128 u128;
    return v >= power(112) ? v : (quad)(u128)v;
}

/* The exponent of a positive number, at least `least`, at most 1100. */
static int exponent_of(quad size, int least)
{
    int low = least, high = 1100;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (size >= power(middle + 1))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t reference_round(corpus_kind kind, quad v, int rest, corpus_round how)
{
    const format f = format_of(kind);
    const int least = 2 - (1 << (f.exponent - 1));
    const uint64_t infinity = ((1ull << f.exponent) - 1) << f.mantissa;
    const bool negative = is_negative(v);
    const uint64_t sign = negative ? 1ull << (f.mantissa + f.exponent) : 0;
    quad size = magnitude(v);
    if (v != v)
        return f.nan;
    if (size > power(16000))
        return sign | infinity;
    if (size == 0 && rest == 0)
        return sign;
    rest = negative ? -rest : rest; /* outwards */
    const int exponent = exponent_of(size, least);
    quad units = size * power(f.mantissa - exponent);
    quad whole = whole_part(units), part = units - whole;
    if (part == 0 && rest < 0) { /* just below a whole number */
        whole -= 1;
        part = 1;
    }
    const bool odd = whole_part(whole / 2) * 2 != whole;
    if (part == 1 ? rounds_up((quad)0.75, 0, odd, negative, how)
                  : rounds_up(part, rest, odd, negative, how))
        whole += 1;
    if (exponent >= 1100 || whole >= power(62))
        whole = power(62);
    const uint64_t code = ((uint64_t)(exponent - least) << f.mantissa) + (uint64_t)whole;
    if (code < infinity)
        return sign | code;
    const bool stays =
        how == CORPUS_RZ || (how == CORPUS_RM && !negative) || (how == CORPUS_RP && negative);
    return sign | (stays ? infinity - 1 : infinity);
}

quad reference_rint(quad v, corpus_round how)
{
    const bool negative = is_negative(v);
    const quad size = magnitude(v);
    if (v != v || size >= power(100))
        return v;
    quad whole = whole_part(size);
    const bool odd = whole_part(whole / 2) * 2 != whole;
    if (rounds_up(size - whole, 0, odd, negative, how))
        whole += 1;
    return negative ? -whole : whole;
}

uint64_t reference_whole(corpus_kind to, quad v, corpus_round how, bool from_f64)
{
    const unsigned bits = corpus_bits(to);
    const bool has_sign = corpus_type(to)[0] == 's';
    const quad low = has_sign ? -power((int)bits - 1) : 0;
    const quad high = power((int)bits - (has_sign ? 1 : 0)) - 1;
    const uint64_t keep = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (v != v)
        return bits == 64 || from_f64 ? 1ull << (bits - 1) : 0;
    v = reference_rint(v, how);
    v = v < low ? low : v > high ? high : v;
    return v < 0 ? (0 - (uint64_t)-v) & keep : (uint64_t)v & keep;
}

/* ---- arithmetic ---- */

typedef struct sum {
    quad v;
    int rest;
} sum;

static int sign_of(quad v)
{
    return v > 0 ? 1 : v < 0 ? -1 : 0;
}

/* x + y with the sign of what does not fit. A zero of opposite numbers is -0 when rounding down. */
static sum add(quad x, quad y, corpus_round how)
{
    const quad s = x + y;
    if (s != s || magnitude(s) > power(16000))
        return (sum){s, 0};
    if (s == 0 && (x != 0 || is_negative(x) != is_negative(y)))
        return (sum){how == CORPUS_RM ? -(quad)0 : (quad)0, 0};
    const quad back = s - x;
    return (sum){s, sign_of((x - (s - back)) + (y - back))};
}

static quad root(quad x)
{
    if (x < 0 || x != x)
        return (quad)(double)NAN;
    if (x == 0 || x > power(16000))
        return x;
    quad scale = 1;
    while (x * scale * scale < 1)
        scale *= 2;
    while (x * scale * scale >= 4)
        scale /= 2;
    const quad m = x * scale * scale;
    quad r = (quad)sqrt((double)m);
    for (int i = 0; i < 4; i++)
        r = (r + m / r) / 2;
    return r / scale;
}

/* The square root, exactly where it is a number of few digits. */
static sum sqrt_of(quad x)
{
    const quad r = root(x);
    if (r != r || r == 0 || r > power(8000))
        return (sum){r, 0};
    const quad back = r * r - x;
    return (sum){r, sign_of(-back)};
}

static uint64_t flushed(corpus_kind k, uint64_t w)
{
    const format f = format_of(k);
    const uint64_t exponent = w >> f.mantissa & ((1u << f.exponent) - 1);
    return exponent == 0 ? w & 1ull << (f.mantissa + f.exponent) : w;
}

static uint64_t limited(const corpus_row *r, corpus_kind k, uint64_t w)
{
    const format f = format_of(k);
    const quad v = reference_value(k, w);
    if ((r->flags & CORPUS_FTZ) != 0)
        w = flushed(k, w);
    if ((r->flags & CORPUS_SAT) != 0)
        w = v != v || v <= 0 ? 0 : v >= 1 ? ((1ull << (f.exponent - 1)) - 1) << f.mantissa : w;
    if ((r->flags & CORPUS_RELU) != 0)
        w = v != v ? f.nan : is_negative(v) ? 0 : w;
    return w;
}

/* A NaN in another format: its sign and the upper bits of its payload, quiet. */
static uint64_t carried(corpus_kind from, corpus_kind to, uint64_t w)
{
    const format f = format_of(from), t = format_of(to);
    const uint64_t payload = w & ((1ull << f.mantissa) - 1);
    const uint64_t sign = w >> (f.mantissa + f.exponent) & 1;
    const uint64_t exponent = (1ull << t.exponent) - 1;
    return sign << (t.mantissa + t.exponent) | exponent << t.mantissa | 1ull << (t.mantissa - 1) |
           (t.mantissa > f.mantissa ? payload << (t.mantissa - f.mantissa)
                                    : payload >> (f.mantissa - t.mantissa));
}

static uint64_t extreme(const corpus_row *r, corpus_kind k, uint64_t x, uint64_t y)
{
    const quad a = reference_value(k, x), b = reference_value(k, y);
    const bool smaller = strcmp(r->op, "min") == 0;
    if ((a != a && b != b) || ((r->flags & CORPUS_NAN) != 0 && (a != a || b != b)))
        return format_of(k).nan;
    if (a != a || b != b)
        return a != a ? y : x;
    if (a == b)
        return is_negative(a) == smaller ? x : y;
    return (a < b) == smaller ? x : y;
}

static uint64_t with_sign(corpus_kind k, uint64_t w, bool negative)
{
    const format f = format_of(k);
    const uint64_t bit = 1ull << (f.mantissa + f.exponent);
    return negative ? w | bit : w & ~bit;
}

static bool is(const corpus_row *r, const char *op)
{
    return strcmp(r->op, op) == 0;
}

static bool by_sign(const corpus_row *r, corpus_kind k, const uint64_t in[3], uint64_t *out)
{
    const bool first = is_negative(reference_value(k, in[0])),
               nan = reference_value(k, in[0]) != reference_value(k, in[0]);
    const format f = format_of(k);
    const bool sign = nan ? (in[0] >> (f.mantissa + f.exponent) & 1) != 0 : first;
    if (is(r, "abs") || is(r, "neg"))
        *out = nan ? (k == KIND_F64 ? carried(k, k, in[0]) : f.nan)
                   : with_sign(k, in[0], is(r, "neg") && !sign);
    else if (is(r, "copysign"))
        *out = with_sign(k, in[1], sign);
    else if (is(r, "min") || is(r, "max"))
        *out = extreme(r, k, in[0], in[1]);
    else
        return false;
    return true;
}

/* One element of a type. */
static bool element(const corpus_row *r, corpus_kind k, const uint64_t words[3], uint64_t *out)
{
    uint64_t in[3] = {words[0], words[1], words[2]};
    for (int i = 0; (r->flags & CORPUS_FTZ) != 0 && i < 3; i++)
        in[i] = flushed(k, in[i]);
    const quad x = reference_value(k, in[0]), y = reference_value(k, in[1]),
               z = reference_value(k, in[2]);
    sum s = {0, 0};
    if (by_sign(r, k, in, out))
        return true;
    if (is(r, "add"))
        s = add(x, y, r->round);
    else if (is(r, "sub"))
        s = add(x, -y, r->round);
    else if (is(r, "mul"))
        s.v = x * y;
    else if (is(r, "fma") || is(r, "mad"))
        s = add(x * y, z, r->round);
    else if (is(r, "div"))
        s.v = x / y;
    else if (is(r, "rcp"))
        s.v = 1 / x;
    else if (is(r, "sqrt"))
        s = sqrt_of(x);
    else
        return false;
    *out = limited(r, k, reference_round(k, s.v, s.rest, r->round));
    for (int i = 2; k == KIND_F64 && s.v != s.v && i >= 0; i--) {
        const quad operand = reference_value(k, in[i]);
        *out = operand != operand ? carried(k, k, in[i]) : *out;
    }
    return true;
}

/* ---- comparisons ---- */

static bool holds(const char *cmp, quad x, quad y)
{
    const bool nan = x != x || y != y;
    const size_t length = strlen(cmp);
    if (strcmp(cmp, "num") == 0)
        return !nan;
    if (strcmp(cmp, "nan") == 0)
        return nan;
    if (nan)
        return length == 3 && cmp[2] == 'u';
    switch (cmp[0]) {
    case 'e':
        return x == y;
    case 'n':
        return x != y;
    case 'l': /* lt, le; lo, ls */
        return cmp[1] == 'e' || cmp[1] == 's' ? x <= y : x < y;
    default: /* gt, ge; hi, hs */
        return cmp[1] == 'e' || cmp[1] == 's' ? x >= y : x > y;
    }
}

static quad operand_value(corpus_kind k, uint64_t w, unsigned flags)
{
    if (k >= KIND_F16)
        return reference_value(k, (flags & CORPUS_FTZ) != 0 ? flushed(k, w) : w);
    const unsigned bits = corpus_bits(k);
    const quad v = (quad)w;
    return corpus_type(k)[0] == 's' && (w >> (bits - 1) & 1) != 0 ? v - power((int)bits) : v;
}

static bool joined(const corpus_row *r, bool v, bool with)
{
    return r->imm == 1 ? v && with : r->imm == 2 ? v || !with : r->imm == 3 ? v != with : v;
}

static bool compared(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    const bool predicates = strncmp(r->op, "setp.", 5) == 0;
    if (!predicates && strncmp(r->op, "set.", 4) != 0)
        return false;
    const char *cmp = strchr(r->op, '.') + 1;
    const uint64_t a = reference_operand(c, 0), b = reference_operand(c, 1);
    const bool with = reference_operand(c, 2) != 0;
    if (r->type == KIND_F16X2) {
        const bool low = holds(cmp, reference_value(KIND_F16, a & 0xffff),
                               reference_value(KIND_F16, b & 0xffff));
        const bool high =
            holds(cmp, reference_value(KIND_F16, a >> 16), reference_value(KIND_F16, b >> 16));
        const uint64_t one = r->from == KIND_F16X2 ? 0x3c00u : 0xffffu;
        out[0] = predicates ? low : (low ? one : 0u) | (high ? one << 16 : 0u);
        out[1] = predicates ? high : 0;
        return true;
    }
    const bool v =
        holds(cmp, operand_value(r->type, a, r->flags), operand_value(r->type, b, r->flags));
    if (predicates) {
        out[0] = joined(r, v, with);
        out[1] = r->e != KIND_NONE ? joined(r, !v, with) : 0;
        return true;
    }
    out[0] = !v                    ? 0
             : r->from == KIND_F32 ? 0x3f800000u
             : r->from == KIND_F16 ? 0x3c00u
                                   : 0xffffffffu;
    return true;
}

static bool tested(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    const format f = format_of(r->type);
    const uint64_t w = reference_operand(c, 0);
    const quad v = reference_value(r->type, w);
    const quad normal = power(2 - (1 << (f.exponent - 1)));
    const bool infinite = magnitude(v) > power(16000);
    const bool truths[] = {v == v && !infinite,
                           infinite,
                           v == v,
                           v != v,
                           v == v && !infinite && (v == 0 || magnitude(v) >= normal),
                           v == v && v != 0 && magnitude(v) < normal};
    out[0] = truths[r->imm];
    return is(r, "testp");
}

/* ---- conversions ---- */

static uint64_t narrowed(const corpus_row *r, corpus_kind to, uint64_t w)
{
    const bool ftz = (r->flags & CORPUS_FTZ) != 0 && r->from == KIND_F32;
    const quad v = reference_value(r->from, w);
    if (v != v && (r->from == KIND_F64 || to == KIND_F64))
        return carried(r->from, to, ftz ? format_of(KIND_F32).nan : w);
    if (ftz)
        w = flushed(KIND_F32, w);
    return reference_round(to, reference_value(r->from, w), 0, r->round);
}

static bool converted(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    const uint64_t w = reference_operand(c, 0);
    const bool from_float = r->from >= KIND_F16, to_float = r->type >= KIND_F16;
    if (is(r, "cvt2")) {
        const corpus_kind k = r->type == KIND_F16X2 ? KIND_F16 : KIND_BF16;
        out[0] = limited(r, k, narrowed(r, k, reference_operand(c, 1))) |
                 limited(r, k, narrowed(r, k, w)) << 16;
        return true;
    }
    if (is(r, "whole")) {
        const uint64_t in = (r->flags & CORPUS_FTZ) != 0 ? flushed(r->type, w) : w;
        const quad v = reference_value(r->type, in);
        out[0] = v != v && r->type == KIND_F64
                     ? carried(r->type, r->type, in)
                     : limited(r, r->type,
                               reference_round(r->type, reference_rint(v, r->round), 0, CORPUS_RN));
        return true;
    }
    if (!is(r, "cvt") || (!from_float && !to_float))
        return false;
    if (to_float && from_float)
        out[0] = limited(r, r->type, narrowed(r, r->type, w));
    else if (to_float)
        out[0] = reference_round(r->type, operand_value(r->from, w, 0), 0, r->round);
    else
        out[0] = reference_whole(r->type, operand_value(r->from, w, r->flags), r->round,
                                 r->from == KIND_F64);
    return true;
}

/* ---- approximations: the true value, to be compared within a bound ---- */

static corpus_kind element_kind(corpus_kind k)
{
    return k == KIND_F16X2 ? KIND_F16 : k == KIND_BF16X2 ? KIND_BF16 : k;
}

static bool true_value(const corpus_row *r, uint64_t w, uint64_t other, double *out)
{
    const corpus_kind k = element_kind(r->type);
    const bool ftz = k == KIND_F32 && strstr(r->name, ".ftz") != NULL;
    const double x = (double)reference_value(k, ftz ? flushed(k, w) : w);
    double v = 0;
    if (is(r, "ex2"))
        v = exp2(x);
    else if (is(r, "lg2"))
        v = log2(x);
    else if (is(r, "sin"))
        v = sin(x);
    else if (is(r, "cos"))
        v = cos(x);
    else if (is(r, "tanh"))
        v = tanh(x);
    else if (is(r, "rsqrt"))
        v = 1 / sqrt(x);
    else if (is(r, "rcp"))
        v = 1 / x;
    else if (is(r, "sqrt"))
        v = sqrt(x);
    else if (is(r, "div"))
        v = x / (double)reference_value(k, other);
    else
        return false;
    *out = ftz && fabs(v) < 0x1p-126 ? copysign(0.0, v) : v;
    return true;
}

bool reference_true(const reference_case *c, bool high, double *out)
{
    const uint64_t w = reference_operand(c, 0);
    const bool pair = c->row->type == KIND_F16X2;
    return true_value(c->row, high ? w >> 16 : pair ? w & 0xffff : w, reference_operand(c, 1), out);
}

static bool approximated(const corpus_row *r, uint64_t w, uint64_t other, uint64_t *out)
{
    double v = 0;
    if (!true_value(r, w, other, &v))
        return false;
    *out = reference_round(element_kind(r->type), (quad)v, 0, CORPUS_RN);
    return true;
}

bool reference_float(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    const uint64_t in[3] = {reference_operand(c, 0), reference_operand(c, 1),
                            reference_operand(c, 2)};
    if (compared(c, out) || tested(c, out) || converted(c, out))
        return true;
    if (r->type < KIND_F16 || r->type > KIND_F64)
        return false;
    const bool pair = r->type == KIND_F16X2 || r->type == KIND_BF16X2;
    const corpus_kind k = element_kind(r->type);
    const uint64_t low[3] = {in[0] & 0xffff, in[1] & 0xffff, in[2] & 0xffff};
    const uint64_t high[3] = {in[0] >> 16, in[1] >> 16, in[2] >> 16};
    uint64_t upper = 0;
    bool ok = false;
    if (r->match != MATCH_BITS)
        ok = approximated(r, pair ? low[0] : in[0], in[1], out) &&
             (!pair || approximated(r, high[0], 0, &upper));
    else
        ok = element(r, k, pair ? low : in, out) && (!pair || element(r, k, high, &upper));
    out[0] |= upper << 16;
    return ok;
}
