/* families_convert - rows of cvt, mov with parts, selection
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emu_corpus/corpus.h"

static const corpus_kind integers[] = {KIND_U16, KIND_S16, KIND_U32, KIND_S32, KIND_U64, KIND_S64};
static const corpus_kind floats[] = {KIND_F16, KIND_F32, KIND_F64};
static const char *const rounds[] = {"rn", "rz", "rm", "rp"};
enum { INTEGERS = sizeof integers / sizeof *integers, FLOATS = sizeof floats / sizeof *floats };

static const char *name_of(corpus_kind kind)
{
    return kind == KIND_F16 ? "f16" : kind == KIND_BF16 ? "bf16" : corpus_type(kind);
}

static corpus_row *convert(corpus *c, const char *words, corpus_kind to, corpus_kind from)
{
    corpus_row *r = corpus_add(c, to, from, KIND_NONE, KIND_NONE);
    snprintf(r->name, sizeof r->name, "cvt%s.%s.%s", words, name_of(to), name_of(from));
    snprintf(r->body, sizeof r->body, "%s $d, $a;", r->name);
    snprintf(r->op, sizeof r->op, "cvt");
    r->type = to;
    r->from = from;
    return r;
}

/* .sat is legal only where a value may not fit. */
static bool may_not_fit(bool to_signed, unsigned to_bits, bool from_signed, unsigned from_bits)
{
    if (from_signed && !to_signed)
        return true;
    return to_signed && !from_signed ? from_bits >= to_bits : from_bits > to_bits;
}

static bool is_signed(corpus_kind kind)
{
    return corpus_type(kind)[0] == 's';
}

static void between_integers(corpus *c)
{
    for (size_t t = 0; t < INTEGERS; t++)
        for (size_t f = 0; f < INTEGERS; f++) {
            convert(c, "", integers[t], integers[f]);
            if (may_not_fit(is_signed(integers[t]), corpus_bits(integers[t]),
                            is_signed(integers[f]), corpus_bits(integers[f])))
                convert(c, ".sat", integers[t], integers[f])->flags = CORPUS_SAT;
        }
}

/* 8-bit types live in wider registers. */
static void byte_row(corpus *c, bool to_byte, bool byte_signed, corpus_kind k, bool sat)
{
    const char *byte = byte_signed ? "s8" : "u8", *other = corpus_type(k);
    corpus_row *r = corpus_add(c, k, k, KIND_NONE, KIND_NONE);
    snprintf(r->name, sizeof r->name, "cvt%s.%s.%s", sat ? ".sat" : "", to_byte ? byte : other,
             to_byte ? other : byte);
    snprintf(r->body, sizeof r->body, "%s $d, $a;", r->name);
    snprintf(r->op, sizeof r->op, "%s.%s", to_byte ? "to" : "from", byte);
    r->type = k;
    r->flags = sat ? CORPUS_SAT : 0;
}

static void bytes(corpus *c)
{
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < INTEGERS; k++) {
            const corpus_kind kind = integers[k];
            byte_row(c, true, s, kind, false);
            byte_row(c, false, s, kind, false);
            if (may_not_fit(s, 8, is_signed(kind), corpus_bits(kind)))
                byte_row(c, true, s, kind, true);
            if (may_not_fit(is_signed(kind), corpus_bits(kind), s, 8))
                byte_row(c, false, s, kind, true);
        }
}

static void with_floats(corpus *c)
{
    char words[24];
    for (size_t f = 0; f < FLOATS; f++)
        for (size_t i = 0; i < INTEGERS; i++)
            for (unsigned round = 0; round < 4; round++) {
                snprintf(words, sizeof words, ".%s", rounds[round]);
                convert(c, words, floats[f], integers[i])->round = (corpus_round)round;
                snprintf(words, sizeof words, ".%si", rounds[round]);
                convert(c, words, integers[i], floats[f])->round = (corpus_round)round;
                if (floats[f] != KIND_F32)
                    continue;
                snprintf(words, sizeof words, ".%si.ftz", rounds[round]);
                corpus_row *r = convert(c, words, integers[i], KIND_F32);
                r->round = (corpus_round)round;
                r->flags = CORPUS_FTZ;
            }
}

static void between_floats(corpus *c)
{
    static const corpus_kind pairs[][2] = {
        {KIND_F16, KIND_F32}, {KIND_F16, KIND_F64}, {KIND_F32, KIND_F64}};
    char words[24];
    for (size_t i = 0; i < 3; i++) {
        const corpus_kind low = pairs[i][0], high = pairs[i][1];
        convert(c, "", high, low);
        for (unsigned round = 0; round < 4; round++) {
            snprintf(words, sizeof words, ".%s", rounds[round]);
            convert(c, words, low, high)->round = (corpus_round)round;
        }
        corpus_row *r = convert(c, ".rn.sat", low, high);
        r->flags = CORPUS_SAT;
    }
    for (unsigned flags = 1; flags < 4; flags++) {
        snprintf(words, sizeof words, ".rn%s%s", (flags & 1) != 0 ? ".ftz" : "",
                 (flags & 2) != 0 ? ".sat" : "");
        if (flags != 2)
            convert(c, words, KIND_F32, KIND_F64)->flags = flags;
    }
    convert(c, ".ftz", KIND_F64, KIND_F32)->flags = CORPUS_FTZ;
    convert(c, ".sat", KIND_F32, KIND_F16)->flags = CORPUS_SAT;
}

static void to_whole(corpus *c)
{
    char words[24];
    for (size_t f = 0; f < FLOATS; f++)
        for (unsigned round = 0; round < 4; round++) {
            snprintf(words, sizeof words, ".%si", rounds[round]);
            corpus_row *r = convert(c, words, floats[f], floats[f]);
            r->round = (corpus_round)round;
            snprintf(r->op, sizeof r->op, "whole");
        }
    corpus_row *r = convert(c, ".rni.ftz.sat", KIND_F32, KIND_F32);
    r->flags = CORPUS_FTZ | CORPUS_SAT;
    snprintf(r->op, sizeof r->op, "whole");
}

static void brain(corpus *c)
{
    static const char *const words[] = {".rn", ".rz", ".rn.relu", ".rz.relu"};
    for (unsigned i = 0; i < 4; i++) {
        corpus_row *r = convert(c, words[i], KIND_BF16, KIND_F32);
        r->round = (corpus_round)(i & 1);
        r->flags = i >= 2 ? CORPUS_RELU : 0;
    }
    for (unsigned i = 2; i < 4; i++) {
        corpus_row *r = convert(c, words[i], KIND_F16, KIND_F32);
        r->round = (corpus_round)(i & 1);
        r->flags = CORPUS_RELU;
    }
}

/* cvt.rn.f16x2.f32 d, a, b */
static void pairs(corpus *c)
{
    static const char *const words[] = {".rn", ".rz", ".rn.relu", ".rz.relu"};
    for (unsigned i = 0; i < 8; i++) {
        const bool is_brain = i >= 4;
        corpus_row *r =
            corpus_add(c, is_brain ? KIND_BF16X2 : KIND_F16X2, KIND_F32, KIND_F32, KIND_NONE);
        snprintf(r->name, sizeof r->name, "cvt%s.%s.f32", words[i % 4],
                 is_brain ? "bf16x2" : "f16x2");
        snprintf(r->body, sizeof r->body, "%s $d, $a, $b;", r->name);
        snprintf(r->op, sizeof r->op, "cvt2");
        r->type = r->d;
        r->from = KIND_F32;
        r->round = (corpus_round)(i & 1);
        r->flags = (i & 2) != 0 ? CORPUS_RELU : 0;
    }
}

/* ---- mov and selection ---- */

static void parts(corpus *c)
{
    static const struct {
        const char *name, *body, *op;
        corpus_kind d, e, a, b;
    } rows[] = {
        {"mov.b32 pack", "mov.b32 $d, {$a, $b};", "pack", KIND_U32, KIND_NONE, KIND_U16, KIND_U16},
        {"mov.b64 pack", "mov.b64 $d, {$a, $b};", "pack", KIND_U64, KIND_NONE, KIND_U32, KIND_U32},
        {"mov.b32 unpack", "mov.b32 {$d, $e}, $a;", "unpack", KIND_U16, KIND_U16, KIND_U32,
         KIND_NONE},
        {"mov.b64 unpack", "mov.b64 {$d, $e}, $a;", "unpack", KIND_U32, KIND_U32, KIND_U64,
         KIND_NONE},
        {"mov.b64 unpack sink", "mov.b64 {_, $d}, $a;", "upper", KIND_U32, KIND_NONE, KIND_U64,
         KIND_NONE},
        {"mov.b64 four",
         "{ .reg .b16 w, x, y, z; mov.b64 {w, x, y, z}, $a; mov.b64 $d, {z, y, x, w}; }", "turn16",
         KIND_U64, KIND_NONE, KIND_U64, KIND_NONE},
        {"mov.u16", "mov.u16 $d, $a;", "mov", KIND_U16, KIND_NONE, KIND_U16, KIND_NONE},
        {"mov.u32", "mov.u32 $d, $a;", "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE},
        {"mov.f32", "mov.f32 $d, $a;", "mov", KIND_F32, KIND_NONE, KIND_F32, KIND_NONE},
        {"mov.u64", "mov.u64 $d, $a;", "mov", KIND_U64, KIND_NONE, KIND_U64, KIND_NONE},
        {"mov.f64", "mov.f64 $d, $a;", "mov", KIND_F64, KIND_NONE, KIND_F64, KIND_NONE},
        {"mov.b16", "mov.b16 $d, $a;", "mov", KIND_U16, KIND_NONE, KIND_U16, KIND_NONE},
        {"mov.s16", "mov.s16 $d, $a;", "mov", KIND_S16, KIND_NONE, KIND_S16, KIND_NONE},
        {"mov.b32", "mov.b32 $d, $a;", "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE},
        {"mov.s32", "mov.s32 $d, $a;", "mov", KIND_S32, KIND_NONE, KIND_S32, KIND_NONE},
        {"mov.b64", "mov.b64 $d, $a;", "mov", KIND_U64, KIND_NONE, KIND_U64, KIND_NONE},
        {"mov.s64", "mov.s64 $d, $a;", "mov", KIND_S64, KIND_NONE, KIND_S64, KIND_NONE},
        {"mov.pred", "mov.pred $d, $a;", "mov", KIND_PRED, KIND_NONE, KIND_PRED, KIND_NONE},
        {"not.pred", "not.pred $d, $a;", "not.pred", KIND_PRED, KIND_NONE, KIND_PRED, KIND_NONE},
        {"and.pred", "and.pred $d, $a, $b;", "and", KIND_PRED, KIND_NONE, KIND_PRED, KIND_PRED},
        {"or.pred", "or.pred $d, $a, $b;", "or", KIND_PRED, KIND_NONE, KIND_PRED, KIND_PRED},
        {"xor.pred", "xor.pred $d, $a, $b;", "xor", KIND_PRED, KIND_NONE, KIND_PRED, KIND_PRED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        corpus_row *r = corpus_add(c, rows[i].d, rows[i].a, rows[i].b, KIND_NONE);
        snprintf(r->name, sizeof r->name, "%s", rows[i].name);
        snprintf(r->body, sizeof r->body, "%s", rows[i].body);
        snprintf(r->op, sizeof r->op, "%s", rows[i].op);
        r->e = rows[i].e;
        r->type = rows[i].a;
    }
}

static void selection(corpus *c, corpus_kind k, const char *type)
{
    static const corpus_kind by[] = {KIND_S32, KIND_F32};
    corpus_row *r = corpus_add(c, k, k, k, KIND_PRED);
    snprintf(r->name, sizeof r->name, "selp.%s", type);
    snprintf(r->body, sizeof r->body, "selp.%s $d, $a, $b, $c;", type);
    snprintf(r->op, sizeof r->op, "selp");
    r->type = k;
    for (size_t b = 0; b < 2; b++) {
        r = corpus_add(c, k, k, k, by[b]);
        snprintf(r->name, sizeof r->name, "slct.%s.%s", type, corpus_type(by[b]));
        snprintf(r->body, sizeof r->body, "%s $d, $a, $b, $c;", r->name);
        snprintf(r->op, sizeof r->op, "slct");
        r->type = k;
        r->from = by[b];
    }
}

static void selections(corpus *c)
{
    static const corpus_kind kinds[] = {KIND_U16, KIND_S16, KIND_U32, KIND_S32,
                                        KIND_U64, KIND_S64, KIND_F32, KIND_F64};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        selection(c, kinds[i], corpus_type(kinds[i]));
    selection(c, KIND_U16, "b16");
    selection(c, KIND_U32, "b32");
    selection(c, KIND_U64, "b64");
}

void corpus_conversions(corpus *self)
{
    between_integers(self);
    bytes(self);
    with_floats(self);
    between_floats(self);
    to_whole(self);
    brain(self);
    pairs(self);
    parts(self);
    selections(self);
}
