/* reference_int - integer and bit rows
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/unit/emulator/reference.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static bool is_signed(corpus_kind k)
{
    return k == KIND_S16 || k == KIND_S32 || k == KIND_S64;
}

static uint64_t cut(corpus_kind k, u128 v)
{
    const unsigned bits = corpus_bits(k);
    return bits == 64 ? (uint64_t)v : (uint64_t)v & ((1ull << bits) - 1);
}

/* The number that a word of this kind is. */
static s128 number(corpus_kind k, uint64_t w)
{
    const unsigned bits = corpus_bits(k);
    const s128 v = (s128)cut(k, w);
    return is_signed(k) && (w >> (bits - 1) & 1) != 0 ? v - ((s128)1 << bits) : v;
}

static s128 least(corpus_kind k)
{
    return is_signed(k) ? -((s128)1 << (corpus_bits(k) - 1)) : 0;
}

static s128 most(corpus_kind k)
{
    return ((s128)1 << (corpus_bits(k) - (is_signed(k) ? 1 : 0))) - 1;
}

static s128 clamp(corpus_kind k, s128 v)
{
    return v < least(k) ? least(k) : v > most(k) ? most(k) : v;
}

typedef struct args {
    const corpus_row *row;
    s128 x, y, z;
    uint64_t a, b, c, f; /* words */
    unsigned bits;
} args;

typedef s128 whole_fn(const args *g);

static s128 f_add(const args *g)
{
    return g->x + g->y;
}
static s128 f_sub(const args *g)
{
    return g->x - g->y;
}
static s128 f_mul_lo(const args *g)
{
    return (s128)((u128)g->x * (u128)g->y);
}
static s128 f_mul_hi(const args *g)
{
    /* Two unsigned 64-bit numbers do not fit into a signed product. */
    if (!is_signed(g->row->type))
        return (s128)(((u128)g->x * (u128)g->y) >> g->bits);
    return (g->x * g->y) >> g->bits;
}
static s128 f_mad_lo(const args *g)
{
    return (s128)((u128)f_mul_lo(g) + (u128)g->z);
}
static s128 f_mad_hi(const args *g)
{
    return f_mul_hi(g) + g->z;
}
static s128 f_min(const args *g)
{
    return g->x < g->y ? g->x : g->y;
}
static s128 f_max(const args *g)
{
    return g->x > g->y ? g->x : g->y;
}
static s128 f_div(const args *g)
{
    return g->x / g->y;
}
static s128 f_rem(const args *g)
{
    return g->x % g->y;
}
static s128 f_sad(const args *g)
{
    return g->z + (g->x > g->y ? g->x - g->y : g->y - g->x);
}
static s128 f_neg(const args *g)
{
    return -g->x;
}
static s128 f_abs(const args *g)
{
    return g->x < 0 ? -g->x : g->x;
}
static s128 f_add_sat(const args *g)
{
    return clamp(KIND_S32, g->x + g->y);
}
static s128 f_sub_sat(const args *g)
{
    return clamp(KIND_S32, g->x - g->y);
}
static s128 f_mad_hi_sat(const args *g)
{
    return clamp(KIND_S32, f_mad_hi(g));
}

/* The low 24 bits as a number. */
static s128 low24(const args *g, s128 v)
{
    const s128 low = v & 0xffffff;
    return is_signed(g->row->type) && low >= 0x800000 ? low - 0x1000000 : low;
}
static s128 f_mul24_lo(const args *g)
{
    return low24(g, g->x) * low24(g, g->y);
}
static s128 f_mul24_hi(const args *g)
{
    return f_mul24_lo(g) >> 16;
}
/* The 32 bits from 16 on are a number of the type again. */
static s128 f_mad24_lo(const args *g)
{
    return f_mul24_lo(g) + g->z;
}
static s128 f_mad24_hi(const args *g)
{
    return f_mul24_hi(g) + g->z;
}
static s128 f_mad24_hi_sat(const args *g)
{
    return clamp(KIND_S32, f_mad24_hi(g));
}

/* Bytes (n = 4) or halves by bytes. */
static s128 part(uint64_t w, unsigned i, unsigned bits, bool has_sign)
{
    const s128 v = (s128)(w >> (i * bits) & ((1u << bits) - 1));
    return has_sign && v >= (1 << (bits - 1)) ? v - (1 << bits) : v;
}
static s128 f_dp4a(const args *g)
{
    s128 sum = g->z;
    for (unsigned i = 0; i < 4; i++)
        sum +=
            part(g->a, i, 8, is_signed(g->row->type)) * part(g->b, i, 8, is_signed(g->row->from));
    return sum;
}
static s128 dp2a(const args *g, unsigned from)
{
    s128 sum = g->z;
    for (unsigned i = 0; i < 2; i++)
        sum += part(g->a, i, 16, is_signed(g->row->type)) *
               part(g->b, i + from, 8, is_signed(g->row->from));
    return sum;
}
static s128 f_dp2a_lo(const args *g)
{
    return dp2a(g, 0);
}
static s128 f_dp2a_hi(const args *g)
{
    return dp2a(g, 2);
}

static const struct {
    const char *op;
    whole_fn *fn;
} wholes[] = {
    {"add", f_add},
    {"sub", f_sub},
    {"mul.lo", f_mul_lo},
    {"mul.hi", f_mul_hi},
    {"mul.wide", f_mul_lo},
    {"mad.lo", f_mad_lo},
    {"mad.hi", f_mad_hi},
    {"mad.wide", f_mad_lo},
    {"min", f_min},
    {"max", f_max},
    {"div", f_div},
    {"rem", f_rem},
    {"sad", f_sad},
    {"neg", f_neg},
    {"abs", f_abs},
    {"add.sat", f_add_sat},
    {"sub.sat", f_sub_sat},
    {"mad.hi.sat", f_mad_hi_sat},
    {"mul24.lo", f_mul24_lo},
    {"mul24.hi", f_mul24_hi},
    {"mad24.lo", f_mad24_lo},
    {"mad24.hi", f_mad24_hi},
    {"mad24.hi.sat", f_mad24_hi_sat},
    {"dp4a", f_dp4a},
    {"dp2a.lo", f_dp2a_lo},
    {"dp2a.hi", f_dp2a_hi},
};

bool reference_integer(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    if (r->type < KIND_U16 || r->type > KIND_S64)
        return false;
    args g = {.row = r, .bits = corpus_bits(r->type)};
    g.a = reference_operand(c, 0);
    g.b = reference_operand(c, 1);
    g.c = reference_operand(c, 2);
    g.x = number(r->type, g.a);
    g.y = number(r->type, g.b);
    g.z = number(r->in[2] != KIND_NONE && r->in[2] <= KIND_S64 ? r->in[2] : r->type, g.c);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (strcmp(wholes[i].op, r->op) == 0) {
            out[0] = cut(r->d, (u128)wholes[i].fn(&g));
            return true;
        }
    return false;
}

/* ---- carries ---- */

typedef struct carry {
    corpus_kind k;
    unsigned flag;
} carry;

static uint64_t sum(carry *s, uint64_t x, uint64_t y, unsigned in)
{
    const u128 v = (u128)x + y + in;
    s->flag = (unsigned)(v >> corpus_bits(s->k)) & 1;
    return cut(s->k, v);
}

static uint64_t difference(carry *s, uint64_t x, uint64_t y, unsigned in)
{
    s->flag = (u128)x < (u128)y + in;
    return cut(s->k, (u128)x - y - in);
}

static bool chained(const reference_case *c, uint64_t out[2])
{
    const char *op = c->row->op;
    carry s = {c->row->type, 0};
    const uint64_t a = reference_operand(c, 0), b = reference_operand(c, 1);
    const uint64_t x = reference_operand(c, 2), f = reference_operand(c, 3);
    const u128 product = (u128)a * b;
    const uint64_t low = cut(s.k, product), high = cut(s.k, product >> corpus_bits(s.k));
    if (strcmp(op, "add.cc") == 0 || strcmp(op, "addc.cc") == 0) {
        out[0] = sum(&s, a, b, 0);
        out[1] = sum(&s, x, f, s.flag);
        if (strcmp(op, "addc.cc") == 0) {
            out[0] = out[1];
            out[1] = s.flag;
        }
        return true;
    }
    if (strcmp(op, "sub.cc") == 0 || strcmp(op, "subc.cc") == 0) {
        out[0] = difference(&s, a, b, 0);
        out[1] = difference(&s, x, f, s.flag);
        if (strcmp(op, "subc.cc") == 0) {
            out[0] = out[1];
            out[1] = difference(&s, 0, 0, s.flag);
        }
        return true;
    }
    const bool after_add = strcmp(op, "madc.lo.cc") == 0 || strcmp(op, "madc.lo") == 0;
    const bool after_mad = strcmp(op, "madc.hi.cc") == 0 || strcmp(op, "madc.hi") == 0;
    if (!after_add && !after_mad && strcmp(op, "mad.lo.cc") != 0 && strcmp(op, "mad.hi.cc") != 0)
        return false;
    out[0] =
        after_add ? sum(&s, a, b, 0) : sum(&s, strcmp(op, "mad.hi.cc") == 0 ? high : low, x, 0);
    if (strcmp(op, "madc.lo") == 0)
        out[1] = sum(&s, low, x, s.flag);
    else if (after_add) {
        out[0] = sum(&s, low, x, s.flag);
        out[1] = sum(&s, f, 0, s.flag);
    } else if (strcmp(op, "madc.hi") == 0)
        out[1] = sum(&s, high, f, s.flag);
    else if (after_mad) {
        out[0] = sum(&s, high, f, s.flag);
        out[1] = s.flag;
    } else
        out[1] = sum(&s, f, 0, s.flag);
    return true;
}

/* ---- bit by bit ---- */

static bool bit(uint64_t w, unsigned i)
{
    return (w >> i & 1) != 0;
}

static uint64_t put(unsigned i, bool on)
{
    return on ? 1ull << i : 0;
}

/* shl, shr: bit i comes from bit i + by. */
static uint64_t moved(const args *g, int by)
{
    uint64_t v = 0;
    const bool sign = is_signed(g->row->type) && bit(g->a, g->bits - 1);
    for (unsigned i = 0; i < g->bits; i++) {
        const int from = (int)i + by;
        v |= put(i, from < 0 ? false : from >= (int)g->bits ? sign : bit(g->a, (unsigned)from));
    }
    return v;
}

static uint64_t field(const args *g)
{
    const unsigned at = (unsigned)g->b & 0xff, length = (unsigned)g->c & 0xff, top = g->bits - 1;
    const unsigned last = at + length - 1 < top ? at + length - 1 : top;
    const bool fill = is_signed(g->row->type) && length != 0 && bit(g->a, last);
    uint64_t v = 0;
    for (unsigned i = 0; i < g->bits; i++)
        v |= put(i, i < length && at + i <= top ? bit(g->a, at + i) : fill);
    return v;
}

static uint64_t insertion(const args *g)
{
    const unsigned at = (unsigned)g->c & 0xff, length = (unsigned)g->f & 0xff;
    uint64_t v = g->b;
    for (unsigned i = 0; i < length && at + i < g->bits; i++)
        v = (v & ~put(at + i, true)) | put(at + i, bit(g->a, i));
    return v;
}

static uint64_t found(const args *g, bool amount)
{
    const bool sign = is_signed(g->row->type) && bit(g->a, g->bits - 1);
    for (unsigned i = g->bits; i-- > 0;)
        if (bit(g->a, i) != sign)
            return amount ? g->bits - 1 - i : i;
    return 0xffffffffu;
}

static uint64_t funnel(const args *g)
{
    const bool left = g->row->op[4] == 'l', clamps = strstr(g->row->op, "clamp") != NULL;
    const unsigned n = clamps ? (g->c < 32 ? (unsigned)g->c : 32) : (unsigned)g->c & 31;
    uint64_t v = 0;
    for (unsigned i = 0; i < 32; i++) {
        const unsigned from = left ? 32 + i - n : i + n; /* in {b, a} */
        v |= put(i, from < 32 ? bit(g->a, from) : bit(g->b, from - 32));
    }
    return v;
}

static uint64_t permutation(const args *g)
{
    static const struct {
        const char *mode;
        unsigned bytes[4][4]; /* by the low bits of c: lowest byte first */
    } modes[] = {{"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
                 {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
                 {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                 {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
                 {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
                 {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}};
    uint8_t bytes[8];
    uint64_t v = 0;
    memcpy(bytes, &g->a, 4);
    memcpy(bytes + 4, &g->b, 4);
    for (unsigned i = 0; i < 4; i++) {
        unsigned select = (unsigned)(g->c >> (4 * i)) & 15;
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            if (strcmp(modes[m].mode, g->row->op) == 0)
                select = modes[m].bytes[g->c & 3][i];
        const uint8_t byte = bytes[select & 7];
        v |= (uint64_t)((select & 8) != 0 ? ((byte & 0x80) != 0 ? 0xff : 0) : byte) << (8 * i);
    }
    return v;
}

static uint64_t nth(const args *g)
{
    const int n = (int)g->c - 35;
    const unsigned base = (unsigned)g->b & 31;
    int count = 0;
    if (n == 0)
        return bit(g->a, base) ? base : 0xffffffffu;
    for (int i = (int)base; i >= 0 && i<32; i += n> 0 ? 1 : -1) {
        count += bit(g->a, (unsigned)i);
        if (count == (n > 0 ? n : -n))
            return (uint64_t)i;
    }
    return 0xffffffffu;
}

static uint64_t logic3(const args *g)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 32; i++) {
        const unsigned row = (unsigned)bit(g->a, i) * 4 + (unsigned)bit(g->b, i) * 2 + bit(g->c, i);
        v |= put(i, bit(g->row->imm, row));
    }
    return v;
}

static uint64_t mask(const args *g, bool clamps)
{
    uint64_t v = 0;
    const unsigned at = clamps ? (unsigned)g->a : (unsigned)g->a & 31;
    const unsigned length = clamps ? (unsigned)g->b : (unsigned)g->b & 31;
    for (unsigned i = 0; i < 32; i++)
        v |= put(i, i >= at && i - at < length);
    return v;
}

static uint64_t count(const args *g, bool leading)
{
    uint64_t n = 0;
    for (unsigned i = g->bits; i-- > 0;) {
        if (leading && bit(g->a, i))
            break;
        n += leading || bit(g->a, i);
    }
    return n;
}

static uint64_t mirror(const args *g)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < g->bits; i++)
        v |= put(g->bits - 1 - i, bit(g->a, i));
    return v;
}

static bool is_permutation(const char *op)
{
    static const char *const names[] = {"prmt", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], op) == 0)
            return true;
    return false;
}

static bool is(const args *g, const char *op)
{
    return strcmp(g->row->op, op) == 0;
}

static bool simple_bits(const args *g, uint64_t *v)
{
    if (is(g, "and"))
        *v = g->a & g->b;
    else if (is(g, "or"))
        *v = g->a | g->b;
    else if (is(g, "xor"))
        *v = (g->a | g->b) & ~(g->a & g->b);
    else if (is(g, "not"))
        *v = UINT64_MAX - g->a;
    else if (is(g, "cnot") || is(g, "not.pred"))
        *v = g->a == 0;
    else if (is(g, "popc") || is(g, "clz"))
        *v = count(g, is(g, "clz"));
    else if (is(g, "brev"))
        *v = mirror(g);
    else
        return false;
    return true;
}

bool reference_bits(const reference_case *c, uint64_t out[2])
{
    const corpus_row *r = c->row;
    args g = {.row = r, .bits = corpus_bits(r->type)};
    g.a = reference_operand(c, 0);
    g.b = reference_operand(c, 1);
    g.c = reference_operand(c, 2);
    g.f = reference_operand(c, 3);
    uint64_t v = 0;
    if (r->in[3] != KIND_NONE && !is(&g, "bfi"))
        return chained(c, out);
    if (r->type == KIND_PRED)
        g.a = g.a != 0, g.b = g.b != 0;
    if (simple_bits(&g, &v))
        ;
    else if (is(&g, "shl") || is(&g, "shr"))
        v = moved(&g, is(&g, "shl") ? -(int)g.b : (int)g.b);
    else if (is(&g, "bfe"))
        v = field(&g);
    else if (is(&g, "bfi"))
        v = insertion(&g);
    else if (is(&g, "bfind") || is(&g, "bfind.shiftamt"))
        v = found(&g, r->op[5] == '.');
    else if (strncmp(r->op, "shf.", 4) == 0)
        v = funnel(&g);
    else if (is_permutation(r->op))
        v = permutation(&g);
    else if (is(&g, "fns"))
        v = nth(&g);
    else if (is(&g, "lop3"))
        v = logic3(&g);
    else if (strncmp(r->op, "bmsk", 4) == 0)
        v = mask(&g, is(&g, "bmsk.clamp"));
    else
        return false;
    out[0] = cut(r->d, v);
    return true;
}
