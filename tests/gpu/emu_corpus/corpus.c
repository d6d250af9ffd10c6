/* corpus - see corpus.h.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/gpu/emu_corpus/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { MODULE_MAX = 1 << 22, OUT_WORDS = 2 };

static const struct {
    const char *type; /* of the register */
    unsigned bits;
} kinds[KIND_COUNT] = {
    [KIND_PRED] = {"pred", 1},      [KIND_U16] = {"u16", 16},       [KIND_S16] = {"s16", 16},
    [KIND_U32] = {"u32", 32},       [KIND_S32] = {"s32", 32},       [KIND_U64] = {"u64", 64},
    [KIND_S64] = {"s64", 64},       [KIND_F16] = {"b16", 16},       [KIND_F16X2] = {"b32", 32},
    [KIND_BF16] = {"b16", 16},      [KIND_BF16X2] = {"b32", 32},    [KIND_F32] = {"f32", 32},
    [KIND_F64] = {"f64", 64},       [KIND_AMOUNT] = {"u32", 32},    [KIND_DIVISOR16] = {"b16", 16},
    [KIND_DIVISOR32] = {"b32", 32}, [KIND_DIVISOR64] = {"b64", 64},
};

unsigned corpus_bits(corpus_kind kind)
{
    return kinds[kind].bits;
}

const char *corpus_type(corpus_kind kind)
{
    return kinds[kind].type;
}

size_t corpus_out_bytes(void)
{
    return CORPUS_THREADS * (OUT_WORDS * sizeof(uint64_t) + CORPUS_CELL);
}

corpus *corpus_create(void)
{
    corpus *c = xcalloc(1, sizeof *c);
    corpus_integers(c);
    corpus_floats(c);
    corpus_conversions(c);
    corpus_comparisons(c);
    corpus_memory(c);
    return c;
}

void corpus_destroy(corpus **self)
{
    corpus *c = TAKE(*self);
    if (c == NULL)
        return;
    free(c->rows);
    free(c);
}

corpus_row *corpus_add(corpus *self, corpus_kind d, corpus_kind a, corpus_kind b, corpus_kind c)
{
    if ((self->count & (self->count - 1)) == 0)
        self->rows =
            xreallocarray(self->rows, self->count == 0 ? 1 : 2 * self->count, sizeof *self->rows);
    corpus_row *r = &self->rows[self->count++];
    *r = (corpus_row){.d = d, .in = {a, b, c}};
    return r;
}

/* ---- PTX ---- */

static void add_registers(buf *out, const corpus_row *r)
{
    static const char names[] = "abcf";
    for (size_t i = 0; i < CORPUS_OPERANDS; i++)
        if (r->in[i] != KIND_NONE)
            buf_printf(out, "  .reg .%s %%v%c;\n", kinds[r->in[i]].type, names[i]);
    if (r->d != KIND_NONE)
        buf_printf(out, "  .reg .%s %%vd;\n", kinds[r->d].type);
    if (r->e != KIND_NONE)
        buf_printf(out, "  .reg .%s %%ve;\n", kinds[r->e].type);
}

static void add_load(buf *out, corpus_kind kind, char name, size_t offset)
{
    if (kind == KIND_PRED)
        buf_printf(out,
                   "  ld.global.u32 %%word, [%%in+%zu];\n"
                   "  setp.ne.u32 %%v%c, %%word, 0;\n",
                   offset, name);
    else
        buf_printf(out, "  ld.global.b%u %%v%c, [%%in+%zu];\n", kinds[kind].bits, name, offset);
}

static void add_store(buf *out, corpus_kind kind, char name, size_t offset)
{
    if (kind == KIND_PRED)
        buf_printf(out,
                   "  selp.u32 %%word, 1, 0, %%v%c;\n"
                   "  st.global.u32 [%%out+%zu], %%word;\n",
                   name, offset);
    else
        buf_printf(out, "  st.global.b%u [%%out+%zu], %%v%c;\n", kinds[kind].bits, offset, name);
}

static void add_body(buf *out, const char *body)
{
    buf_puts(out, "  ");
    for (const char *p = body; *p != '\0'; p++) {
        if (*p != '$') {
            buf_add(out, p, 1);
            continue;
        }
        p++;
        if (*p == 's' || *p == 'g' || *p == 'l')
            buf_printf(out, "%%%s", *p == 's' ? "shared" : *p == 'g' ? "global" : "local");
        else
            buf_printf(out, "%%v%c", *p);
    }
    buf_puts(out, "\n");
}

/* Addresses: operands and results of the thread, its cells. */
static void add_prologue(buf *out, size_t number)
{
    buf_printf(out,
               ".visible .entry k%zu(.param .u64 in, .param .u64 out)\n{\n"
               "  .reg .u32 %%word, %%me, %%shared;\n"
               "  .reg .u64 %%in, %%out, %%global, %%local, %%wide;\n"
               "  .local .align 16 .b8 frame[%d];\n",
               number, CORPUS_CELL);
    buf_printf(out,
               "  mov.u32 %%me, %%tid.x;\n"
               "  ld.param.u64 %%in, [in];\n"
               "  ld.param.u64 %%out, [out];\n"
               "  mul.wide.u32 %%wide, %%me, %d;\n"
               "  add.u64 %%global, %%out, %%wide;\n"
               "  add.u64 %%global, %%global, %zu;\n"
               "  mov.u32 %%word, cells;\n"
               "  mad.lo.u32 %%shared, %%me, %d, %%word;\n"
               "  mov.u64 %%local, frame;\n",
               CORPUS_CELL, CORPUS_THREADS * OUT_WORDS * sizeof(uint64_t), CORPUS_CELL);
    buf_printf(out,
               "  mul.wide.u32 %%wide, %%me, %zu;\n"
               "  add.u64 %%in, %%in, %%wide;\n"
               "  mul.wide.u32 %%wide, %%me, %zu;\n"
               "  add.u64 %%out, %%out, %%wide;\n",
               CORPUS_OPERANDS * sizeof(uint64_t), OUT_WORDS * sizeof(uint64_t));
}

static void add_kernel(buf *out, const corpus_row *r, size_t number)
{
    static const char names[] = "abcf";
    add_prologue(out, number);
    add_registers(out, r);
    for (size_t i = 0; i < CORPUS_OPERANDS; i++)
        if (r->in[i] != KIND_NONE)
            add_load(out, r->in[i], names[i], i * sizeof(uint64_t));
    add_body(out, r->body);
    if (r->d != KIND_NONE)
        add_store(out, r->d, 'd', 0);
    if (r->e != KIND_NONE)
        add_store(out, r->e, 'e', sizeof(uint64_t));
    buf_puts(out, "  ret;\n}\n");
}

char *corpus_module(const corpus *self, size_t first)
{
    buf text;
    buf_init(&text, MODULE_MAX);
    buf_printf(&text,
               ".version 7.8\n.target sm_80\n.address_size 64\n"
               ".shared .align 32 .b8 cells[%d];\n"
               ".const .align 4 .u32 letters[4] = {1, 22, 333, 4444};\n",
               CORPUS_THREADS * CORPUS_CELL);
    for (size_t i = first; i < self->count && i < first + CORPUS_CHUNK; i++)
        add_kernel(&text, &self->rows[i], i);
    return buf_take(&text);
}

/* ---- operands ---- */

static uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static const uint64_t special_words[] = {0,
                                         1,
                                         2,
                                         UINT64_MAX,
                                         0x8000000080008000u,
                                         0x7fffffff7fff7fffu,
                                         0x7fffffffffffffffu,
                                         0x8000000000000000u,
                                         0xffffffffu,
                                         0x80000000u,
                                         0x7fffffffu,
                                         0xff80ff7fu,
                                         255,
                                         32,
                                         31,
                                         64};

/* ±0, ±1, the smallest subnormal, the largest one, the smallest normal, the largest, ±inf, NaN, … */
static const uint16_t special_f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001,
                                       0x03ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                       0x7e00, 0xfe01, 0x3bff, 0x3c01};
static const uint16_t special_bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8001,
                                        0x007f, 0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
                                        0x7fc0, 0xffc1, 0x3f7f, 0x3f81};
static const uint32_t special_f32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x4f000000, 0x3f000000};
static const uint64_t special_f64[] = {
    0x0000000000000000u, 0x8000000000000000u, 0x3ff0000000000000u, 0xbff0000000000000u,
    0x0000000000000001u, 0x8000000000000001u, 0x000fffffffffffffu, 0x0010000000000000u,
    0x7fefffffffffffffu, 0xffefffffffffffffu, 0x7ff0000000000000u, 0xfff0000000000000u,
    0x7ff8000000000000u, 0xfff8000000000001u, 0x41dfffffffc00000u, 0x3fe0000000000000u};

static uint64_t special_of(corpus_kind kind, unsigned i)
{
    switch ((int)kind) {
    case KIND_F16:
        return special_f16[i];
    case KIND_F16X2:
        return special_f16[i] | (uint64_t)special_f16[(i * 7 + 3) % 16] << 16;
    case KIND_BF16:
        return special_bf16[i];
    case KIND_BF16X2:
        return special_bf16[i] | (uint64_t)special_bf16[(i * 7 + 3) % 16] << 16;
    case KIND_F32:
        return special_f32[i];
    case KIND_F64:
        return special_f64[i];
    default:
        return special_words[i];
    }
}

/* A float of moderate size, so that sums do not only round away: exponents near the middle. */
static uint64_t moderate(corpus_kind kind, uint64_t r)
{
    switch ((int)kind) {
    case KIND_F16:
    case KIND_F16X2:
        return (r & 0x83ff83ffu) | ((13 + (r >> 32 & 3)) << 10) | ((13 + (r >> 40 & 3)) << 26);
    case KIND_BF16:
    case KIND_BF16X2:
        return (r & 0x807f807fu) | ((125 + (r >> 32 & 3)) << 7) | ((125 + (r >> 40 & 3)) << 23);
    case KIND_F32:
        return (r & 0x807fffffu) | (122 + (r >> 32 & 7)) << 23;
    default:
        return (r & 0x800fffffffffffffu) | (1018 + (r >> 54 & 7)) << 52;
    }
}

static bool is_float(corpus_kind kind)
{
    return kind >= KIND_F16 && kind <= KIND_F64;
}

static uint64_t in_range(corpus_kind kind, double low, double high, uint64_t r)
{
    const double v = low + (high - low) * ((double)(r >> 11) / 9007199254740992.0);
    uint64_t word = 0;
    if (kind == KIND_F64)
        memcpy(&word, &v, sizeof v);
    if (kind == KIND_F32) {
        const float f = (float)v;
        memcpy(&word, &f, sizeof f);
    }
    return word;
}

/* Halves in a range: the code of a number near it, by search over the exponent alone. */
static uint64_t half_in_range(double high, uint64_t r)
{
    uint64_t exponent = 15;
    for (double top = 2.0; top > high && exponent > 5; top /= 2)
        exponent--;
    return (r & 0x83ffu) | (exponent - (r >> 20 & 3)) << 10;
}

static uint64_t limited(corpus_kind kind, uint64_t v)
{
    const unsigned bits = kinds[kind].bits;
    const uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    switch ((int)kind) {
    case KIND_AMOUNT:
        return v % 71;
    case KIND_DIVISOR16:
    case KIND_DIVISOR32:
    case KIND_DIVISOR64:
        v &= mask;
        return v == 0 || v == mask ? 3 : v;
    default:
        return v & mask;
    }
}

static uint64_t draw(const corpus_row *row, size_t operand, unsigned thread)
{
    const corpus_kind kind = row->in[operand];
    const uint64_t r = mix(thread * 977 + operand * 31 + 5);
    if (is_float(kind) && row->low < row->high)
        return kind == KIND_F16 || kind == KIND_F16X2
                   ? half_in_range(row->high, r) |
                         (kind == KIND_F16X2 ? half_in_range(row->high, r >> 8) << 16 : 0)
                   : in_range(kind, row->low, row->high, r);
    if (thread < 48) /* pairs of special values */
        return limited(kind, special_of(kind, (thread * (2 * (unsigned)operand + 1) +
                                               (unsigned)operand * (thread / 16)) %
                                                  16));
    if (is_float(kind) && thread % 2 == 0)
        return limited(kind, moderate(kind, r));
    if (!is_float(kind) && thread % 4 == 0)
        return limited(kind, r >> 40); /* small numbers too */
    return limited(kind, r);
}

void corpus_operands(const corpus_row *row, uint64_t *out)
{
    for (unsigned t = 0; t < CORPUS_THREADS; t++)
        for (size_t i = 0; i < CORPUS_OPERANDS; i++)
            out[t * CORPUS_OPERANDS + i] = row->in[i] != KIND_NONE ? draw(row, i, t) : 0;
}

uint32_t corpus_hash(const corpus_row *row)
{
    uint64_t words[CORPUS_THREADS * CORPUS_OPERANDS];
    uint32_t h = 2166136261u;
    corpus_operands(row, words);
    for (const char *p = row->name; *p != '\0'; p++)
        h = (h ^ (uint8_t)*p) * 16777619u;
    for (const char *p = row->body; *p != '\0'; p++)
        h = (h ^ (uint8_t)*p) * 16777619u;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        h = (h ^ (uint32_t)(words[i] ^ words[i] >> 32)) * 16777619u;
    return h;
}
