/* families_int - rows of integer and bit instructions
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emu_corpus/corpus.h"

static const corpus_kind all[] = {KIND_U16, KIND_S16, KIND_U32, KIND_S32, KIND_U64, KIND_S64};
static const corpus_kind plain[] = {KIND_U16, KIND_U32, KIND_U64}; /* for .b16, .b32, .b64 */
static const corpus_kind words[] = {KIND_U32, KIND_S32};

#define EACH(kind, list) \
    for (size_t at_ = 0; at_ < sizeof(list) / sizeof *(list) && ((kind) = (list)[at_], true); at_++)

/* "op.type $d, $a, $b, $c;" with as many operands as there are. */
static corpus_row *plain_row(corpus *c, const char *op, const char *key, corpus_kind type,
                             corpus_kind d, const corpus_kind in[3])
{
    corpus_row *r = corpus_add(c, d, in[0], in[1], in[2]);
    snprintf(r->name, sizeof r->name, "%s", key);
    snprintf(r->op, sizeof r->op, "%s", op);
    r->type = type;
    snprintf(r->body, sizeof r->body, "%s $d, $a%s%s;", key, in[1] != KIND_NONE ? ", $b" : "",
             in[2] != KIND_NONE ? ", $c" : "");
    return r;
}

static void rows(corpus *c, const char *op, corpus_kind type, unsigned operands)
{
    char key[48];
    corpus_kind in[3] = {KIND_NONE, KIND_NONE, KIND_NONE};
    for (unsigned i = 0; i < operands; i++)
        in[i] = type;
    snprintf(key, sizeof key, "%s.%s", op, corpus_type(type));
    plain_row(c, op, key, type, type, in);
}

static corpus_kind wider(corpus_kind kind)
{
    return kind == KIND_U16   ? KIND_U32
           : kind == KIND_S16 ? KIND_S32
           : kind == KIND_U32 ? KIND_U64
                              : KIND_S64;
}

static corpus_kind divisor(corpus_kind kind)
{
    return corpus_bits(kind) == 16   ? KIND_DIVISOR16
           : corpus_bits(kind) == 32 ? KIND_DIVISOR32
                                     : KIND_DIVISOR64;
}

static void wide_rows(corpus *c)
{
    static const corpus_kind narrow[] = {KIND_U16, KIND_S16, KIND_U32, KIND_S32};
    corpus_kind k = KIND_NONE;
    char key[48];
    EACH(k, narrow)
    {
        const corpus_kind two[3] = {k, k, KIND_NONE}, three[3] = {k, k, wider(k)};
        snprintf(key, sizeof key, "mul.wide.%s", corpus_type(k));
        plain_row(c, "mul.wide", key, k, wider(k), two);
        snprintf(key, sizeof key, "mad.wide.%s", corpus_type(k));
        plain_row(c, "mad.wide", key, k, wider(k), three);
    }
}

static void arithmetic(corpus *c)
{
    static const char *const two[] = {"add", "sub", "mul.lo", "mul.hi", "min", "max"};
    static const char *const three[] = {"mad.lo", "mad.hi", "sad"};
    static const char *const halves[] = {"mul24.lo", "mul24.hi"};
    static const char *const sums[] = {"mad24.lo", "mad24.hi"};
    corpus_kind k = KIND_NONE;
    char key[48];
    EACH(k, all)
    {
        for (size_t i = 0; i < sizeof two / sizeof *two; i++)
            rows(c, two[i], k, 2);
        for (size_t i = 0; i < sizeof three / sizeof *three; i++)
            rows(c, three[i], k, 3);
        for (int rem = 0; rem < 2; rem++) {
            const corpus_kind in[3] = {k, divisor(k), KIND_NONE};
            snprintf(key, sizeof key, "%s.%s", rem ? "rem" : "div", corpus_type(k));
            plain_row(c, rem ? "rem" : "div", key, k, k, in);
        }
        if (corpus_type(k)[0] == 's') {
            rows(c, "neg", k, 1);
            rows(c, "abs", k, 1);
        }
    }
    EACH(k, words)
    {
        for (int i = 0; i < 2; i++) {
            rows(c, halves[i], k, 2);
            rows(c, sums[i], k, 3);
        }
    }
    rows(c, "add.sat", KIND_S32, 2);
    rows(c, "sub.sat", KIND_S32, 2);
    rows(c, "mad.hi.sat", KIND_S32, 3);
    rows(c, "mad24.hi.sat", KIND_S32, 3);
    wide_rows(c);
}

/* Two words by way of the carry. */
static void chain(corpus *c, const char *name, const char *format, corpus_kind k)
{
    corpus_row *r = corpus_add(c, k, k, k, k);
    const char *t = corpus_type(k);
    r->e = k;
    r->in[3] = k;
    r->type = k;
    snprintf(r->name, sizeof r->name, "%s.%s", name, t);
    snprintf(r->op, sizeof r->op, "%s", name);
    size_t used = 0;
    for (const char *p = format; *p != '\0' && used + 4 < sizeof r->body; p++) {
        if (*p == '@')
            used += (size_t)snprintf(r->body + used, sizeof r->body - used, "%s", t);
        else
            r->body[used++] = *p;
    }
}

static void carries(corpus *c)
{
    static const corpus_kind kinds[] = {KIND_U32, KIND_U64, KIND_S32, KIND_S64};
    corpus_kind k = KIND_NONE;
    EACH(k, kinds)
    {
        chain(c, "add.cc", "add.cc.@ $d, $a, $b; addc.@ $e, $c, $f;", k);
        chain(c, "addc.cc", "add.cc.@ $d, $a, $b; addc.cc.@ $d, $c, $f; addc.@ $e, 0, 0;", k);
        chain(c, "sub.cc", "sub.cc.@ $d, $a, $b; subc.@ $e, $c, $f;", k);
        chain(c, "subc.cc", "sub.cc.@ $d, $a, $b; subc.cc.@ $d, $c, $f; subc.@ $e, 0, 0;", k);
        chain(c, "mad.lo.cc", "mad.lo.cc.@ $d, $a, $b, $c; addc.@ $e, $f, 0;", k);
        chain(c, "madc.lo.cc",
              "add.cc.@ $d, $a, $b; madc.lo.cc.@ $d, $a, $b, $c; addc.@ $e, $f, 0;", k);
        chain(c, "madc.lo", "add.cc.@ $d, $a, $b; madc.lo.@ $e, $a, $b, $c;", k);
        if (k == KIND_S32 || k == KIND_S64)
            continue;
        chain(c, "mad.hi.cc", "mad.hi.cc.@ $d, $a, $b, $c; addc.@ $e, $f, 0;", k);
        chain(c, "madc.hi", "mad.lo.cc.@ $d, $a, $b, $c; madc.hi.@ $e, $a, $b, $f;", k);
        chain(c, "madc.hi.cc",
              "mad.lo.cc.@ $d, $a, $b, $c; madc.hi.cc.@ $d, $a, $b, $f; addc.@ $e, 0, 0;", k);
    }
}

static void dots(corpus *c)
{
    static const char *const forms[] = {"dp4a", "dp2a.lo", "dp2a.hi"};
    char key[48];
    for (size_t f = 0; f < 3; f++)
        for (int sa = 0; sa < 2; sa++)
            for (int sb = 0; sb < 2; sb++) {
                const corpus_kind sum = sa || sb ? KIND_S32 : KIND_U32;
                const corpus_kind in[3] = {words[sa], words[sb], sum};
                snprintf(key, sizeof key, "%s.%s.%s", forms[f], corpus_type(words[sa]),
                         corpus_type(words[sb]));
                plain_row(c, forms[f], key, words[sa], sum, in)->from = words[sb];
            }
}

/* ---- bits ---- */

static void bit_row(corpus *c, const char *op, corpus_kind k, const corpus_kind in[3],
                    corpus_kind d)
{
    char key[48];
    snprintf(key, sizeof key, "%s.b%u", op, corpus_bits(k));
    plain_row(c, op, key, k, d, in);
}

static void logic(corpus *c)
{
    static const char *const two[] = {"and", "or", "xor"};
    static const char *const one[] = {"not", "cnot"};
    static const char *const count[] = {"popc", "clz"};
    corpus_kind k = KIND_NONE;
    EACH(k, plain)
    {
        const corpus_kind both[3] = {k, k, KIND_NONE}, single[3] = {k, KIND_NONE, KIND_NONE};
        const corpus_kind shift[3] = {k, KIND_AMOUNT, KIND_NONE};
        for (size_t i = 0; i < 3; i++)
            bit_row(c, two[i], k, both, k);
        for (size_t i = 0; i < 2; i++)
            bit_row(c, one[i], k, single, k);
        bit_row(c, "shl", k, shift, k);
        bit_row(c, "shr", k, shift, k);
        if (k == KIND_U16)
            continue;
        for (size_t i = 0; i < 2; i++)
            bit_row(c, count[i], k, single, KIND_U32);
        bit_row(c, "brev", k, single, k);
    }
}

static void shifts_and_fields(corpus *c)
{
    static const corpus_kind wide[] = {KIND_U32, KIND_S32, KIND_U64, KIND_S64};
    corpus_kind k = KIND_NONE;
    char key[48];
    EACH(k, all)
    {
        const corpus_kind in[3] = {k, KIND_AMOUNT, KIND_NONE};
        snprintf(key, sizeof key, "shr.%s", corpus_type(k));
        plain_row(c, "shr", key, k, k, in);
    }
    EACH(k, wide)
    {
        const corpus_kind field[3] = {k, KIND_AMOUNT, KIND_AMOUNT};
        const corpus_kind single[3] = {k, KIND_NONE, KIND_NONE};
        snprintf(key, sizeof key, "bfe.%s", corpus_type(k));
        plain_row(c, "bfe", key, k, k, field);
        snprintf(key, sizeof key, "bfind.%s", corpus_type(k));
        plain_row(c, "bfind", key, k, KIND_U32, single);
        snprintf(key, sizeof key, "bfind.shiftamt.%s", corpus_type(k));
        plain_row(c, "bfind.shiftamt", key, k, KIND_U32, single);
    }
    for (int i = 1; i < 3; i++) {
        corpus_row *r = corpus_add(c, plain[i], plain[i], plain[i], KIND_AMOUNT);
        r->in[3] = KIND_AMOUNT;
        r->type = plain[i];
        snprintf(r->op, sizeof r->op, "bfi");
        snprintf(r->name, sizeof r->name, "bfi.b%u", corpus_bits(plain[i]));
        snprintf(r->body, sizeof r->body, "bfi.b%u $d, $a, $b, $c, $f;", corpus_bits(plain[i]));
    }
}

static void other_bits(corpus *c)
{
    static const char *const shf[] = {"shf.l.wrap", "shf.r.wrap", "shf.l.clamp", "shf.r.clamp"};
    static const char *const modes[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
    static const unsigned tables[] = {0x96, 0xe8, 0xca, 0x1b, 0x80, 0xfe};
    const corpus_kind three[3] = {KIND_U32, KIND_U32, KIND_U32};
    const corpus_kind funnel[3] = {KIND_U32, KIND_U32, KIND_AMOUNT};
    const corpus_kind masks[3] = {KIND_AMOUNT, KIND_AMOUNT, KIND_NONE};
    char key[48];
    for (size_t i = 0; i < 4; i++)
        bit_row(c, shf[i], KIND_U32, funnel, KIND_U32);
    bit_row(c, "bmsk.clamp", KIND_U32, masks, KIND_U32);
    bit_row(c, "bmsk.wrap", KIND_U32, masks, KIND_U32);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        corpus_row *r = plain_row(c, "lop3", "lop3.b32", KIND_U32, KIND_U32, three);
        snprintf(r->name, sizeof r->name, "lop3.b32 0x%02x", tables[i]);
        snprintf(r->body, sizeof r->body, "lop3.b32 $d, $a, $b, $c, 0x%02x;", tables[i]);
        r->imm = tables[i];
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        snprintf(key, sizeof key, "prmt.b32%s", modes[i]);
        plain_row(c, i == 0 ? "prmt" : modes[i] + 1, key, KIND_U32, KIND_U32, three);
    }
    corpus_row *fns = plain_row(c, "fns", "fns.b32", KIND_U32, KIND_U32, three);
    fns->in[1] = KIND_U32;
    fns->in[2] = KIND_AMOUNT;
    snprintf(fns->body, sizeof fns->body,
             "{ .reg .b32 n, p; sub.s32 n, $c, 35; and.b32 p, $b, 31; fns.b32 $d, $a, p, n; }");
}

void corpus_integers(corpus *self)
{
    arithmetic(self);
    carries(self);
    dots(self);
    logic(self);
    shifts_and_fields(self);
    other_bits(self);
}
