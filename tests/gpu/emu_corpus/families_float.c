/* families_float - rows of floating-point arithmetic
 *
 * Bounds of approximations are those of the PTX manual 9.0, sections 9.7.3 and 9.7.4, as they stand there.
 * It states none for the f64 approximations: those see the upper half of their operand, 20 bits of the
 * fraction, and rsqrt.approx.f64 is a program in f64.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emu_corpus/corpus.h"

static const char *const rounds[] = {"rn", "rz", "rm", "rp"};

static void instruction(corpus_row *r, const char *key)
{
    unsigned operands = 0;
    while (operands < 3 && r->in[operands] != KIND_NONE)
        operands++;
    snprintf(r->name, sizeof r->name, "%s", key);
    snprintf(r->body, sizeof r->body, "%s $d, $a%s%s;", key, operands > 1 ? ", $b" : "",
             operands > 2 ? ", $c" : "");
}

static corpus_row *add_row(corpus *c, const char *op, corpus_kind k, unsigned operands)
{
    corpus_row *r = corpus_add(c, k, k, operands > 1 ? k : KIND_NONE, operands > 2 ? k : KIND_NONE);
    snprintf(r->op, sizeof r->op, "%s", op);
    r->type = k;
    return r;
}

/* ---- f32, f64 ---- */

static void f32_arithmetic(corpus *c, const char *op, unsigned operands)
{
    char key[48];
    for (unsigned round = 0; round < 4; round++)
        for (unsigned flags = 0; flags < 4; flags++) {
            corpus_row *r = add_row(c, op, KIND_F32, operands);
            snprintf(key, sizeof key, "%s.%s%s%s.f32", op, rounds[round],
                     (flags & CORPUS_FTZ) != 0 ? ".ftz" : "",
                     (flags & CORPUS_SAT) != 0 ? ".sat" : "");
            instruction(r, key);
            r->round = (corpus_round)round;
            r->flags = flags;
        }
}

static void f32_quotients(corpus *c)
{
    static const char *const ops[] = {"div", "rcp", "sqrt"};
    char key[48];
    for (size_t i = 0; i < 3; i++)
        for (unsigned round = 0; round < 4; round++)
            for (unsigned flags = 0; flags < 2; flags++) {
                corpus_row *r = add_row(c, ops[i], KIND_F32, i == 0 ? 2 : 1);
                snprintf(key, sizeof key, "%s.%s%s.f32", ops[i], rounds[round],
                         flags != 0 ? ".ftz" : "");
                instruction(r, key);
                r->round = (corpus_round)round;
                r->flags = flags;
            }
}

static void f64_rows(corpus *c)
{
    static const struct {
        const char *op;
        unsigned operands;
    } ops[] = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3},
               {"mad", 3}, {"div", 2}, {"rcp", 1}, {"sqrt", 1}};
    char key[48];
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (unsigned round = 0; round < 4; round++) {
            corpus_row *r = add_row(c, ops[i].op, KIND_F64, ops[i].operands);
            snprintf(key, sizeof key, "%s.%s.f64", ops[i].op, rounds[round]);
            instruction(r, key);
            r->round = (corpus_round)round;
        }
}

static void smaller_and_larger(corpus *c)
{
    static const char *const ops[] = {"min", "max"};
    char key[48];
    for (size_t i = 0; i < 2; i++) {
        for (unsigned flags = 0; flags < 4; flags++) {
            corpus_row *r = add_row(c, ops[i], KIND_F32, 2);
            snprintf(key, sizeof key, "%s%s%s.f32", ops[i], (flags & 1) != 0 ? ".ftz" : "",
                     (flags & 2) != 0 ? ".NaN" : "");
            instruction(r, key);
            r->flags = ((flags & 1) != 0 ? CORPUS_FTZ : 0) | ((flags & 2) != 0 ? CORPUS_NAN : 0);
        }
        snprintf(key, sizeof key, "%s.f64", ops[i]);
        instruction(add_row(c, ops[i], KIND_F64, 2), key);
    }
}

static void signs(corpus *c)
{
    static const corpus_kind kinds[] = {KIND_F32, KIND_F64};
    char key[48];
    for (size_t i = 0; i < 2; i++) {
        const char *t = corpus_type(kinds[i]);
        snprintf(key, sizeof key, "abs.%s", t);
        instruction(add_row(c, "abs", kinds[i], 1), key);
        snprintf(key, sizeof key, "neg.%s", t);
        instruction(add_row(c, "neg", kinds[i], 1), key);
        snprintf(key, sizeof key, "copysign.%s", t);
        instruction(add_row(c, "copysign", kinds[i], 2), key);
    }
    corpus_row *r = add_row(c, "abs", KIND_F32, 1);
    instruction(r, "abs.ftz.f32");
    r->flags = CORPUS_FTZ;
    r = add_row(c, "neg", KIND_F32, 1);
    instruction(r, "neg.ftz.f32");
    r->flags = CORPUS_FTZ;
}

/* ---- halves ---- */

static void half_row(corpus *c, const char *op, const char *words, corpus_kind k, unsigned operands,
                     unsigned flags)
{
    static const char *const names[] = {
        [KIND_F16] = "f16", [KIND_F16X2] = "f16x2", [KIND_BF16] = "bf16", [KIND_BF16X2] = "bf16x2"};
    char key[48];
    corpus_row *r = add_row(c, op, k, operands);
    snprintf(key, sizeof key, "%s%s%s%s%s%s.%s", op, words, (flags & CORPUS_FTZ) != 0 ? ".ftz" : "",
             (flags & CORPUS_NAN) != 0 ? ".NaN" : "", (flags & CORPUS_SAT) != 0 ? ".sat" : "",
             (flags & CORPUS_RELU) != 0 ? ".relu" : "", names[k]);
    instruction(r, key);
    r->flags = flags;
}

static void f16_rows(corpus *c)
{
    static const corpus_kind kinds[] = {KIND_F16, KIND_F16X2};
    for (size_t i = 0; i < 2; i++) {
        const corpus_kind k = kinds[i];
        for (unsigned flags = 0; flags < 4; flags++) {
            half_row(c, "add", ".rn", k, 2, flags);
            half_row(c, "sub", ".rn", k, 2, flags);
            half_row(c, "mul", ".rn", k, 2, flags);
            half_row(c, "fma", ".rn", k, 3, flags);
        }
        for (unsigned flags = 0; flags < 2; flags++) {
            half_row(c, "fma", ".rn", k, 3, flags | CORPUS_RELU);
            half_row(c, "min", "", k, 2, flags);
            half_row(c, "max", "", k, 2, flags);
            half_row(c, "min", "", k, 2, flags | CORPUS_NAN);
            half_row(c, "max", "", k, 2, flags | CORPUS_NAN);
            half_row(c, "abs", "", k, 1, flags);
            half_row(c, "neg", "", k, 1, flags);
        }
    }
}

static void bf16_rows(corpus *c)
{
    static const corpus_kind kinds[] = {KIND_BF16, KIND_BF16X2};
    for (size_t i = 0; i < 2; i++) {
        const corpus_kind k = kinds[i];
        half_row(c, "fma", ".rn", k, 3, 0);
        half_row(c, "fma", ".rn", k, 3, CORPUS_RELU);
        half_row(c, "min", "", k, 2, 0);
        half_row(c, "max", "", k, 2, 0);
        half_row(c, "min", "", k, 2, CORPUS_NAN);
        half_row(c, "max", "", k, 2, CORPUS_NAN);
        half_row(c, "abs", "", k, 1, 0);
        half_row(c, "neg", "", k, 1, 0);
    }
}

/* ---- approximations ---- */

static void approximate(corpus *c, const char *key, const char *op, corpus_kind k, double low,
                        double high)
{
    corpus_row *r = add_row(c, op, k, strcmp(op, "div") == 0 ? 2 : 1);
    instruction(r, key);
    r->low = low;
    r->high = high;
}

static corpus_row *last(corpus *c)
{
    return &c->rows[c->count - 1];
}

static void bounded(corpus *c, corpus_match match, double bound)
{
    last(c)->match = match;
    last(c)->bound = bound;
}

/* One row without and one with .ftz. */
#define BOTH(op, form, low, high, match, bound)                 \
    approximate(c, op form "f32", op, KIND_F32, low, high);     \
    bounded(c, MATCH_##match, bound);                           \
    approximate(c, op form "ftz.f32", op, KIND_F32, low, high); \
    bounded(c, MATCH_##match, bound)

static void f32_approximations(corpus *c)
{
    const double to_22_9 = 1.2776e-7, to_20_5 = 6.7434e-7; /* 2^-22.9, 2^-20.5, rounded down */
    BOTH("rcp", ".approx.", 0.0, 0.0, ULP, 1);
    BOTH("sqrt", ".approx.", 0.0, 0.0, RELATIVE, 0x1p-23);
    BOTH("rsqrt", ".approx.", 0.0, 0.0, RELATIVE, to_22_9);
    BOTH("ex2", ".approx.", 0.0, 0.0, ULP, 2);
    BOTH("ex2", ".approx.", -30.0, 30.0, ULP, 2);
    BOTH("lg2", ".approx.", 0.0, 0.0, LOGARITHM, 0x1p-22);
    BOTH("lg2", ".approx.", 2.5, 1e6, LOGARITHM, 0x1p-22);
    BOTH("lg2", ".approx.", 0.5, 2.0, LOGARITHM, 0x1p-22);
    BOTH("sin", ".approx.", -3.1, 3.1, ABSOLUTE, to_20_5);
    BOTH("cos", ".approx.", -3.1, 3.1, ABSOLUTE, to_20_5);
    BOTH("div", ".approx.", 0.001, 1000.0, ULP, 2);
    BOTH("div", ".full.", 0.001, 1000.0, ULP, 2);
    approximate(c, "tanh.approx.f32", "tanh", KIND_F32, -4.0, 4.0);
    bounded(c, MATCH_RELATIVE, 0x1p-11);
}

static void f64_approximations(corpus *c)
{
    approximate(c, "rcp.approx.ftz.f64", "rcp", KIND_F64, 0.001, 1000.0);
    bounded(c, MATCH_RELATIVE, 0x1p-19);
    approximate(c, "rsqrt.approx.f64", "rsqrt", KIND_F64, 0.001, 1000.0);
    bounded(c, MATCH_RELATIVE, 0x1p-50);
    approximate(c, "rsqrt.approx.ftz.f64", "rsqrt", KIND_F64, 0.001, 1000.0);
    bounded(c, MATCH_RELATIVE, 0x1p-19);
}

static void half_approximations(corpus *c)
{
    const double to_9_9 = 1.0466e-3, to_10_987 = 4.9270e-4; /* 2^-9.9, 2^-10.987, rounded down */
    approximate(c, "ex2.approx.f16", "ex2", KIND_F16, -4.0, 4.0);
    bounded(c, MATCH_RELATIVE, to_9_9);
    approximate(c, "ex2.approx.f16x2", "ex2", KIND_F16X2, -4.0, 4.0);
    bounded(c, MATCH_RELATIVE, to_9_9);
    approximate(c, "tanh.approx.f16", "tanh", KIND_F16, -4.0, 4.0);
    bounded(c, MATCH_ABSOLUTE, to_10_987);
    approximate(c, "tanh.approx.f16x2", "tanh", KIND_F16X2, -4.0, 4.0);
    bounded(c, MATCH_ABSOLUTE, to_10_987);
}

/* Names of rows that occur twice get the range behind them. */
static void tell_apart(corpus *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = i + 1; k < c->count; k++)
            if (strcmp(c->rows[i].name, c->rows[k].name) == 0) {
                const size_t used = strlen(c->rows[k].name);
                snprintf(c->rows[k].name + used, sizeof c->rows[k].name - used, " %g..%g",
                         c->rows[k].low, c->rows[k].high);
            }
}

void corpus_floats(corpus *self)
{
    f32_arithmetic(self, "add", 2);
    f32_arithmetic(self, "sub", 2);
    f32_arithmetic(self, "mul", 2);
    f32_arithmetic(self, "fma", 3);
    f32_arithmetic(self, "mad", 3);
    f32_quotients(self);
    f64_rows(self);
    smaller_and_larger(self);
    signs(self);
    f16_rows(self);
    bf16_rows(self);
    f32_approximations(self);
    f64_approximations(self);
    half_approximations(self);
    tell_apart(self);
}
