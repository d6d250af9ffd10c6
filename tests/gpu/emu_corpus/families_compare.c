/* families_compare - rows of setp, set, testp
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emu_corpus/corpus.h"

static const char *const ordered[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *const unordered[] = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
static const char *const unsigned_names[] = {"lo", "ls", "hi", "hs"};
static const char *const joints[] = {"and", "or", "xor"};

static const char *name_of(corpus_kind kind)
{
    return kind == KIND_F16 ? "f16" : kind == KIND_F16X2 ? "f16x2" : corpus_type(kind);
}

/* setp.cmp{.ftz}.type d|e, a, b */
static corpus_row *setp(corpus *c, const char *cmp, const char *words, corpus_kind k)
{
    corpus_row *r = corpus_add(c, KIND_PRED, k, k, KIND_NONE);
    snprintf(r->name, sizeof r->name, "setp.%s%s.%s", cmp, words, name_of(k));
    const bool single = k == KIND_F16; /* has one result only */
    snprintf(r->body, sizeof r->body, "%s $d%s, $a, $b;", r->name, single ? "" : "|$e");
    snprintf(r->op, sizeof r->op, "setp.%s", cmp);
    r->e = single ? KIND_NONE : KIND_PRED;
    r->type = k;
    r->flags = strcmp(words, ".ftz") == 0 ? CORPUS_FTZ : 0;
    return r;
}

static void joined(corpus *c, const char *cmp, const char *joint, corpus_kind k)
{
    corpus_row *r = corpus_add(c, KIND_PRED, k, k, KIND_PRED);
    snprintf(r->name, sizeof r->name, "setp.%s.%s.%s", cmp, joint, name_of(k));
    const bool single = k == KIND_F16;
    snprintf(r->body, sizeof r->body, "%s $d%s, $a, $b, %s$c;", r->name, single ? "" : "|$e",
             joint[0] == 'o' ? "!" : "");
    snprintf(r->op, sizeof r->op, "setp.%s", cmp);
    r->e = single ? KIND_NONE : KIND_PRED;
    r->type = k;
    r->imm = joint[0] == 'a' ? 1 : joint[0] == 'o' ? 2 : 3;
}

static void set(corpus *c, const char *cmp, const char *to, corpus_kind d, corpus_kind k)
{
    corpus_row *r = corpus_add(c, d, k, k, KIND_NONE);
    snprintf(r->name, sizeof r->name, "set.%s.%s.%s", cmp, to, name_of(k));
    snprintf(r->body, sizeof r->body, "%s $d, $a, $b;", r->name);
    snprintf(r->op, sizeof r->op, "set.%s", cmp);
    r->type = k;
    r->from = d;
}

static void all_of(corpus *c, const char *const *cmps, size_t count, corpus_kind k)
{
    for (size_t i = 0; i < count; i++) {
        setp(c, cmps[i], "", k);
        if (k == KIND_F16X2) {
            set(c, cmps[i], "f16x2", KIND_F16X2, k);
            continue;
        }
        set(c, cmps[i], "u32", KIND_U32, k);
        set(c, cmps[i], "s32", KIND_S32, k);
        if (k != KIND_F16)
            set(c, cmps[i], "f32", KIND_F32, k);
        if (k == KIND_F16)
            set(c, cmps[i], "f16", KIND_F16, k);
        if (k == KIND_F32)
            setp(c, cmps[i], ".ftz", k);
    }
}

/* eq and ne of bits: the same registers under another name. */
static void bits_of(corpus *c, corpus_kind k)
{
    static const char *const to[] = {"u32", "s32", "f32"};
    static const corpus_kind kinds[] = {KIND_U32, KIND_S32, KIND_F32};
    char *dot = NULL;
    for (size_t i = 0; i < 2; i++)
        for (size_t t = 0; t < 4; t++) {
            if (t < 3)
                set(c, ordered[i], to[t], kinds[t], k);
            else
                setp(c, ordered[i], "", k);
            corpus_row *r = &c->rows[c->count - 1];
            dot = strrchr(r->name, '.');
            dot[1] = 'b';
            snprintf(r->body, sizeof r->body, "%s %s, $a, $b;", r->name, t < 3 ? "$d" : "$d|$e");
        }
}

static void flushing_sets(corpus *c)
{
    static const char *const to[] = {"ftz.u32", "ftz.s32", "ftz.f32"};
    static const corpus_kind kinds[] = {KIND_U32, KIND_S32, KIND_F32};
    for (size_t i = 0; i < 14; i++) {
        const char *cmp = i < 6 ? ordered[i] : unordered[i - 6];
        for (size_t t = 0; t < 3; t++) {
            set(c, cmp, to[t], kinds[t], KIND_F32);
            c->rows[c->count - 1].flags = CORPUS_FTZ;
        }
        setp(c, cmp, ".ftz", KIND_F16);
        set(c, cmp, "u32", KIND_U32, KIND_F16X2);
        set(c, cmp, "s32", KIND_S32, KIND_F16X2);
    }
}

static void joints_of(corpus *c, corpus_kind k)
{
    for (size_t i = 0; i < 3; i++) {
        joined(c, "lt", joints[i], k);
        joined(c, "ne", joints[i], k);
    }
}

static void testp(corpus *c)
{
    static const char *const tests[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
    static const corpus_kind kinds[] = {KIND_F32, KIND_F64};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
            corpus_row *r = corpus_add(c, KIND_PRED, kinds[k], KIND_NONE, KIND_NONE);
            snprintf(r->name, sizeof r->name, "testp.%s.%s", tests[i], corpus_type(kinds[k]));
            snprintf(r->body, sizeof r->body, "%s $d, $a;", r->name);
            snprintf(r->op, sizeof r->op, "testp");
            r->type = kinds[k];
            r->imm = i;
        }
}

void corpus_comparisons(corpus *self)
{
    static const corpus_kind integers[] = {KIND_U16, KIND_S16, KIND_U32,
                                           KIND_S32, KIND_U64, KIND_S64};
    static const corpus_kind floats[] = {KIND_F16, KIND_F16X2, KIND_F32, KIND_F64};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        all_of(self, ordered, 6, integers[i]);
        joints_of(self, integers[i]);
        if (corpus_type(integers[i])[0] != 'u')
            continue;
        bits_of(self, integers[i]);
        for (size_t n = 0; n < 4; n++) {
            setp(self, unsigned_names[n], "", integers[i]);
            set(self, unsigned_names[n], "u32", KIND_U32, integers[i]);
            set(self, unsigned_names[n], "s32", KIND_S32, integers[i]);
            set(self, unsigned_names[n], "f32", KIND_F32, integers[i]);
        }
    }
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        all_of(self, ordered, 6, floats[i]);
        all_of(self, unordered, 8, floats[i]);
        if (floats[i] != KIND_F16X2)
            joints_of(self, floats[i]);
    }
    flushing_sets(self);
    testp(self);
}
