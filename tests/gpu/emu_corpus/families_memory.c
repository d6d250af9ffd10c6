/* families_memory - rows of loads, stores, atomics and what lanes do together
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emu_corpus/corpus.h"

typedef struct line {
    const char *name, *body, *op;
    corpus_kind d, e, a, b, c;
} line;

static void add_line(corpus *c, const line *l)
{
    corpus_row *r = corpus_add(c, l->d, l->a, l->b, l->c);
    snprintf(r->name, sizeof r->name, "%s", l->name);
    snprintf(r->body, sizeof r->body, "%s", l->body);
    snprintf(r->op, sizeof r->op, "%s", l->op);
    r->e = l->e;
    r->type = l->a;
}

/* ---- loads and stores ---- */

/* A value through memory of one type into a register of another. */
static void through(corpus *c, const char *space, char cell, const char *type, corpus_kind reg)
{
    corpus_row *r = corpus_add(c, reg, reg, KIND_NONE, KIND_NONE);
    snprintf(r->name, sizeof r->name, "ld.%s.%s into %s", space, type, corpus_type(reg));
    snprintf(r->body, sizeof r->body, "st.%s.b%s [$%c+8], $a; ld.%s.%s $d, [$%c+8];", space,
             type + 1, cell, space, type, cell);
    snprintf(r->op, sizeof r->op, "ld.%s", type);
    r->type = reg;
}

static void scalars(corpus *c)
{
    static const char *const spaces[] = {"shared", "global", "local"};
    static const char cells[] = "sgl";
    static const char *const types[] = {"u8",  "s8",  "b8",  "u16", "s16", "b16",
                                        "u32", "s32", "b32", "u64", "s64", "b64"};
    static const corpus_kind registers[] = {KIND_U16, KIND_S32, KIND_U64};
    for (size_t s = 0; s < 3; s++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (size_t k = 0; k < 3; k++) {
                const unsigned bits = types[t][1] == '8' ? 8
                                                         : (unsigned)(types[t][1] - '0') * 10 +
                                                               (unsigned)(types[t][2] - '0');
                if (corpus_bits(registers[k]) >= bits)
                    through(c, spaces[s], cells[s], types[t], registers[k]);
            }
}

static void vectors(corpus *c)
{
    static const line lines[] = {
        {"ld.shared.v2.b32", "st.shared.v2.b32 [$s], {$a, $b}; ld.shared.v2.b32 {$d, $e}, [$s];",
         "same", KIND_U32, KIND_U32, KIND_U32, KIND_U32, KIND_NONE},
        {"ld.shared.v2.b64", "st.shared.v2.b64 [$s], {$a, $b}; ld.shared.v2.b64 {$d, $e}, [$s];",
         "same", KIND_U64, KIND_U64, KIND_U64, KIND_U64, KIND_NONE},
        {"ld.global.v4.b32",
         "st.global.v4.b32 [$g], {$c, $a, $b, $c}; ld.global.v4.b32 {_, $d, $e, _}, [$g];", "same",
         KIND_U32, KIND_U32, KIND_U32, KIND_U32, KIND_U32},
        {"ld.global.v4.b16",
         "st.global.v4.b16 [$g], {$c, $a, $b, $c}; { .reg .b16 x, y; ld.global.v4.b16 {x, $d, $e, "
         "y}, [$g]; }",
         "same", KIND_U16, KIND_U16, KIND_U16, KIND_U16, KIND_U16},
        {"ld.local.v2.b16", "st.local.v2.b16 [$l], {$a, $b}; ld.local.v2.b16 {$d, $e}, [$l];",
         "same", KIND_U16, KIND_U16, KIND_U16, KIND_U16, KIND_NONE},
        {"ld.volatile.global", "st.volatile.global.u32 [$g], $a; ld.volatile.global.u32 $d, [$g];",
         "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"ld.relaxed.gpu.global",
         "st.relaxed.gpu.global.u64 [$g], $a; ld.relaxed.gpu.global.u64 $d, [$g];", "mov", KIND_U64,
         KIND_NONE, KIND_U64, KIND_NONE, KIND_NONE},
        {"ld.acquire.gpu.global",
         "st.release.gpu.global.u32 [$g], $a; ld.acquire.gpu.global.u32 $d, [$g];", "mov", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"ld.global.cg", "st.global.cg.u32 [$g], $a; ld.global.cg.u32 $d, [$g];", "mov", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"cvta.shared",
         "{ .reg .u64 w, x, y; cvt.u64.u32 w, $s; cvta.shared.u64 x, w; st.u32 [x+4], $a; "
         "cvta.to.shared.u64 y, x; ld.shared.u32 $d, [y+4]; }",
         "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"cvta.local",
         "{ .reg .u64 x, y; cvta.local.u64 x, $l; st.u32 [x+4], $a; cvta.to.local.u64 y, x; "
         "ld.local.u32 $d, [y+4]; }",
         "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"cvta.global",
         "{ .reg .u64 x, y; cvta.global.u64 x, $g; st.u32 [x+4], $a; cvta.to.global.u64 y, x; "
         "ld.global.u32 $d, [y+4]; }",
         "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"isspacep.shared",
         "{ .reg .u64 w, x; cvt.u64.u32 w, $s; cvta.shared.u64 x, w; isspacep.shared $d, x; "
         "isspacep.global $e, x; }",
         "", KIND_PRED, KIND_PRED, KIND_U32, KIND_NONE, KIND_NONE},
        {"isspacep.shared::cta",
         "{ .reg .u64 w, x, y; cvt.u64.u32 w, $s; cvta.shared::cta.u64 x, w; isspacep.shared::cta "
         "$d, x; cvta.to.shared::cta.u64 y, x; setp.eq.u64 $e, w, y; }",
         "both", KIND_PRED, KIND_PRED, KIND_U32, KIND_NONE, KIND_NONE},
        {"isspacep.const", "isspacep.const $d, $g; isspacep.param $e, $g;", "neither", KIND_PRED,
         KIND_PRED, KIND_U32, KIND_NONE, KIND_NONE},
        {"cvta.const",
         "{ .reg .u64 x, y; mov.u64 x, letters; cvta.const.u64 y, x; ld.u32 $d, [y+4]; "
         "cvta.to.const.u64 x, y; ld.const.u32 $e, [x+8]; }",
         "letters", KIND_U32, KIND_U32, KIND_U32, KIND_NONE, KIND_NONE},
        {"isspacep.local",
         "{ .reg .u64 x; cvta.local.u64 x, $l; isspacep.local $d, x; isspacep.shared $e, x; }",
         "first", KIND_PRED, KIND_PRED, KIND_U32, KIND_NONE, KIND_NONE},
        {"isspacep.global", "isspacep.global $d, $g; isspacep.local $e, $g;", "first", KIND_PRED,
         KIND_PRED, KIND_U32, KIND_NONE, KIND_NONE},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add_line(c, &lines[i]);
}

/* ---- atomics: $d is what was there, $e what is there afterwards ---- */

static void atomic_row(corpus *c, const char *space, const char *op, const char *type,
                       corpus_kind k)
{
    const char cell = space[0] == 's' ? 's' : 'g';
    const bool casts = strcmp(op, "cas") == 0;
    corpus_row *r = corpus_add(c, k, k, k, casts ? k : KIND_NONE);
    r->e = k;
    r->type = k;
    snprintf(r->name, sizeof r->name, "atom.%s.%s%s.%s", space, op,
             strncmp(type, "f16", 3) == 0 ? ".noftz" : "", type);
    snprintf(r->op, sizeof r->op, "atom.%s", op);
    snprintf(r->body, sizeof r->body,
             "st.%s.b%u [$%c], $a; %s $d, [$%c], $b%s; ld.%s.b%u $e, [$%c];", space, corpus_bits(k),
             cell, r->name, cell, casts ? ", $c" : "", space, corpus_bits(k), cell);
    if (casts)
        return;
    corpus_row copy = *r;
    copy.d = KIND_NONE;
    snprintf(copy.name, sizeof copy.name, "red.%s", r->name + 5);
    snprintf(copy.body, sizeof copy.body, "st.%s.b%u [$%c], $a; %s [$%c], $b; ld.%s.b%u $e, [$%c];",
             space, corpus_bits(k), cell, copy.name, cell, space, corpus_bits(k), cell);
    if (strcmp(op, "exch") != 0)
        *corpus_add(c, KIND_NONE, KIND_NONE, KIND_NONE, KIND_NONE) = copy;
}

static void atomics(corpus *c)
{
    static const struct {
        const char *op, *type;
        corpus_kind kind;
    } rows[] = {
        {"and", "b32", KIND_U32},  {"or", "b32", KIND_U32},      {"xor", "b32", KIND_U32},
        {"and", "b64", KIND_U64},  {"or", "b64", KIND_U64},      {"xor", "b64", KIND_U64},
        {"exch", "b32", KIND_U32}, {"exch", "b64", KIND_U64},    {"cas", "b16", KIND_U16},
        {"cas", "b32", KIND_U32},  {"cas", "b64", KIND_U64},     {"add", "u32", KIND_U32},
        {"add", "s32", KIND_S32},  {"add", "u64", KIND_U64},     {"add", "f64", KIND_F64},
        {"inc", "u32", KIND_U32},  {"dec", "u32", KIND_U32},     {"min", "u32", KIND_U32},
        {"max", "u32", KIND_U32},  {"min", "s32", KIND_S32},     {"max", "s32", KIND_S32},
        {"min", "u64", KIND_U64},  {"max", "u64", KIND_U64},     {"min", "s64", KIND_S64},
        {"max", "s64", KIND_S64},  {"add", "f16x2", KIND_F16X2}, {"add", "f16", KIND_F16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        atomic_row(c, "shared", rows[i].op, rows[i].type, rows[i].kind);
        atomic_row(c, "global", rows[i].op, rows[i].type, rows[i].kind);
    }
    /* Sums of f32 flush subnormal numbers or not, by space: only ordinary ones are compared. */
    static const char *const spaces[] = {"shared", "global"};
    for (size_t s = 0; s < 2; s++) {
        atomic_row(c, spaces[s], "add", "f32", KIND_F32);
        for (size_t i = c->count - 2; i < c->count; i++) {
            c->rows[i].low = 0.5;
            c->rows[i].high = 100.0;
        }
    }
}

/* ---- lanes ---- */

static void lanes(corpus *c)
{
    static const line lines[] = {
        {"shfl.sync.up.b32",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.up.b32 $d|$e, $a, l, 0, 0xffffffff; }",
         "shfl.up", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"shfl.sync.down.b32",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.down.b32 $d|$e, $a, l, 31, 0xffffffff; }",
         "shfl.down", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"shfl.sync.bfly.b32",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.bfly.b32 $d|$e, $a, l, 31, 0xffffffff; }",
         "shfl.bfly", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"shfl.sync.idx.b32",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.idx.b32 $d|$e, $a, l, 31, 0xffffffff; }",
         "shfl.idx", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"shfl.sync.idx.b32 segments",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.idx.b32 $d|$e, $a, l, 0x1807, 0xffffffff; }",
         "shfl.idx8", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"shfl.sync.down.b32 segments",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.down.b32 $d|$e, $a, l, 0x1807, 0xffffffff; }",
         "shfl.down8", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"shfl.sync.up.b32 segments",
         "{ .reg .b32 l; and.b32 l, $b, 31; shfl.sync.up.b32 $d|$e, $a, l, 0x1800, 0xffffffff; }",
         "shfl.up8", KIND_U32, KIND_PRED, KIND_U32, KIND_U32, KIND_NONE},
        {"vote.sync.all",
         "vote.sync.all.pred $d, $a, 0xffffffff; vote.sync.all.pred $e, !$a, 0xffffffff;",
         "vote.all", KIND_PRED, KIND_PRED, KIND_PRED, KIND_NONE, KIND_NONE},
        {"vote.sync.any",
         "vote.sync.any.pred $d, $a, 0xffffffff; vote.sync.any.pred $e, !$a, 0xffffffff;",
         "vote.any", KIND_PRED, KIND_PRED, KIND_PRED, KIND_NONE, KIND_NONE},
        {"vote.sync.uni",
         "vote.sync.uni.pred $d, $a, 0xffffffff; vote.sync.uni.pred $e, !$a, 0xffffffff;",
         "vote.uni", KIND_PRED, KIND_PRED, KIND_PRED, KIND_NONE, KIND_NONE},
        {"vote.sync.ballot",
         "vote.sync.ballot.b32 $d, $a, 0xffffffff; vote.sync.ballot.b32 $e, !$a, 0xffffffff;",
         "vote.ballot", KIND_U32, KIND_U32, KIND_PRED, KIND_NONE, KIND_NONE},
        {"match.any.sync.b32",
         "{ .reg .b32 v; and.b32 v, $a, 3; match.any.sync.b32 $d, v, 0xffffffff; }", "match.any",
         KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"match.any.sync.b64",
         "{ .reg .b64 v; and.b64 v, $a, 3; match.any.sync.b64 $d, v, 0xffffffff; }", "match.any",
         KIND_U32, KIND_NONE, KIND_U64, KIND_NONE, KIND_NONE},
        {"match.all.sync.b32",
         "{ .reg .b32 v; and.b32 v, $a, 3; match.all.sync.b32 $d|$e, v, 0xffffffff; }", "match.all",
         KIND_U32, KIND_PRED, KIND_U32, KIND_NONE, KIND_NONE},
        {"match.all.sync.b64 equal",
         "{ .reg .b64 v; and.b64 v, $a, 0; match.all.sync.b64 $d|$e, v, 0xffffffff; }",
         "match.same", KIND_U32, KIND_PRED, KIND_U64, KIND_NONE, KIND_NONE},
        {"redux.sync.add.u32", "redux.sync.add.u32 $d, $a, 0xffffffff;", "redux.add", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"redux.sync.add.s32", "redux.sync.add.s32 $d, $a, 0xffffffff;", "redux.add", KIND_S32,
         KIND_NONE, KIND_S32, KIND_NONE, KIND_NONE},
        {"redux.sync.min.u32", "redux.sync.min.u32 $d, $a, 0xffffffff;", "redux.min", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"redux.sync.min.s32", "redux.sync.min.s32 $d, $a, 0xffffffff;", "redux.min", KIND_S32,
         KIND_NONE, KIND_S32, KIND_NONE, KIND_NONE},
        {"redux.sync.max.u32", "redux.sync.max.u32 $d, $a, 0xffffffff;", "redux.max", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"redux.sync.max.s32", "redux.sync.max.s32 $d, $a, 0xffffffff;", "redux.max", KIND_S32,
         KIND_NONE, KIND_S32, KIND_NONE, KIND_NONE},
        {"redux.sync.and.b32", "redux.sync.and.b32 $d, $a, 0xffffffff;", "redux.and", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"redux.sync.or.b32", "redux.sync.or.b32 $d, $a, 0xffffffff;", "redux.or", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"redux.sync.xor.b32", "redux.sync.xor.b32 $d, $a, 0xffffffff;", "redux.xor", KIND_U32,
         KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"activemask.b32", "activemask.b32 $d;", "ones", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE,
         KIND_NONE},
        {"bar.warp.sync",
         "st.shared.u32 [$s], $a; bar.warp.sync 0xffffffff; ld.shared.u32 $d, [$s];", "mov",
         KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"bar.sync",
         "st.shared.u32 [$s], $a; bar.sync 0; ld.shared.u32 $d, [$s]; bar.sync 1, 128; membar.gl; "
         "fence.acq_rel.gpu;",
         "mov", KIND_U32, KIND_NONE, KIND_U32, KIND_NONE, KIND_NONE},
        {"bar.red.popc", "bar.red.popc.u32 $d, 0, $a; bar.red.popc.u32 $e, 0, 128, !$a;",
         "bar.popc", KIND_U32, KIND_U32, KIND_PRED, KIND_NONE, KIND_NONE},
        {"bar.red.and", "bar.red.and.pred $d, 0, $a; bar.red.or.pred $e, 0, $a;", "bar.and",
         KIND_PRED, KIND_PRED, KIND_PRED, KIND_NONE, KIND_NONE},
        {"brx.idx",
         "{ .reg .b32 i; and.b32 i, $a, 1; mov.u32 $d, 7; ts: .branchtargets L0, L1; brx.idx i, "
         "ts; L0: add.u32 $d, $b, 1; bra L2; L1: add.u32 $d, $b, 2; L2: }",
         "brx", KIND_U32, KIND_NONE, KIND_U32, KIND_U32, KIND_NONE},
        {"bra",
         "{ .reg .pred p; setp.lt.u32 p, $a, $b; mov.u32 $d, $a; @p bra M0; mov.u32 $d, $b; M0: }",
         "min", KIND_U32, KIND_NONE, KIND_U32, KIND_U32, KIND_NONE},
        {"special registers",
         "{ .reg .b32 x, y; mov.u32 x, %laneid; mov.u32 y, %lanemask_lt; add.u32 $d, x, y; mov.u32 "
         "x, %tid.x; mov.u32 y, %ntid.x; mad.lo.u32 $d, x, y, $d; mov.u32 x, %lanemask_ge; mov.u32 "
         "y, %ctaid.x; add.u32 $e, x, y; }",
         "specials", KIND_U32, KIND_U32, KIND_U32, KIND_NONE, KIND_NONE},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add_line(c, &lines[i]);
}

void corpus_memory(corpus *self)
{
    scalars(self);
    vectors(self);
    atomics(self);
    lanes(self);
}
