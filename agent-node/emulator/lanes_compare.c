/* lanes_compare - comparisons and what predicates are for
 *
 * A comparison gives a bit a lane; put_predicate and the functions of set join it with a predicate and
 * write it. A joined predicate is valid also where one side alone decides it: `i < n && v > 0` is false
 * for i >= n whatever v is.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#include "agent-node/emulator/half.h"

/* ---- integers ---- */

#define COMPARE_SIX(T, SUFFIX)       \
    COMPARE2(eq_##SUFFIX, T, x == y) \
    COMPARE2(ne_##SUFFIX, T, x != y) \
    COMPARE2(lt_##SUFFIX, T, x < y)  \
    COMPARE2(le_##SUFFIX, T, x <= y) \
    COMPARE2(gt_##SUFFIX, T, x > y)  \
    COMPARE2(ge_##SUFFIX, T, x >= y)
COMPARE_SIX(u16, u16)
COMPARE_SIX(s16, s16)
COMPARE_SIX(u32, u32)
COMPARE_SIX(s32, s32)
COMPARE_SIX(u64, u64)
COMPARE_SIX(s64, s64)

/* ---- floats: ordered, unordered ---- */

/* Of truths that cost nothing to find: both are found, so that the loop has no branches. */
#define EITHER(p, q) ((uint32_t)(p) | (uint32_t)(q))
#define BOTH(p, q)   ((uint32_t)(p) & (uint32_t)(q))

#define COMPARE_FLOAT(T, SUFFIX, LOAD)                                       \
    COMPARE2(eq_##SUFFIX, T, LOAD(x) == LOAD(y))                             \
    COMPARE2(ne_##SUFFIX, T, EITHER(LOAD(x) < LOAD(y), LOAD(x) > LOAD(y)))   \
    COMPARE2(lt_##SUFFIX, T, LOAD(x) < LOAD(y))                              \
    COMPARE2(le_##SUFFIX, T, LOAD(x) <= LOAD(y))                             \
    COMPARE2(gt_##SUFFIX, T, LOAD(x) > LOAD(y))                              \
    COMPARE2(ge_##SUFFIX, T, LOAD(x) >= LOAD(y))                             \
    COMPARE2(equ_##SUFFIX, T, !EITHER(LOAD(x) < LOAD(y), LOAD(x) > LOAD(y))) \
    COMPARE2(neu_##SUFFIX, T, LOAD(x) != LOAD(y))                            \
    COMPARE2(ltu_##SUFFIX, T, !(LOAD(x) >= LOAD(y)))                         \
    COMPARE2(leu_##SUFFIX, T, !(LOAD(x) > LOAD(y)))                          \
    COMPARE2(gtu_##SUFFIX, T, !(LOAD(x) <= LOAD(y)))                         \
    COMPARE2(geu_##SUFFIX, T, !(LOAD(x) < LOAD(y)))                          \
    COMPARE2(num_##SUFFIX, T, BOTH(LOAD(x) == LOAD(x), LOAD(y) == LOAD(y)))  \
    COMPARE2(nan_##SUFFIX, T, EITHER(LOAD(x) != LOAD(x), LOAD(y) != LOAD(y)))

#define AS_IT_IS(v) (v)
#define UPPER(v)    half_to_f32((v) >> 16)
COMPARE_FLOAT(f32, f32, AS_IT_IS)
COMPARE_FLOAT(f32, f32_ftz, flush)
COMPARE_FLOAT(f64, f64, AS_IT_IS)
COMPARE_FLOAT(u16, f16, half_to_f32)
COMPARE_FLOAT(u16, f16_ftz, half_flush_to_f32)
/* The halves of f16x2: the low one by the functions of f16, the high one by these. */
COMPARE_FLOAT(u32, f16_high, UPPER)

/* ---- joining ---- */

static uint32_t c_bits(const warp *w, const op *o)
{
    const uint32_t bits = predicate(w, o->c);
    return (o->flags & OP_NOT_C) != 0 ? ~bits : bits;
}

static uint32_t join(uint32_t bits, uint32_t with, uint8_t how)
{
    switch ((joint)how) {
    case JOINT_AND:
        return bits & with;
    case JOINT_OR:
        return bits | with;
    case JOINT_XOR:
        return bits ^ with;
    case JOINT_NONE:
        break;
    }
    return bits;
}

/* Which lanes' joined result is known. */
static uint32_t joined_valid(const warp *w, const op *o, uint32_t with)
{
    const uint32_t own = w->valid[o->a] & w->valid[o->b];
    const uint32_t other = w->valid[o->c];
    switch ((joint)o->mode) {
    case JOINT_AND:
        return (own & other) | (other & ~with);
    case JOINT_OR:
        return (own & other) | (other & with);
    case JOINT_XOR:
        return own & other;
    case JOINT_NONE:
        break;
    }
    return own;
}

static void valid_put2(warp *w, const op *o, uint32_t unit, uint32_t good)
{
    op only = *o;
    only.e = 0; /* here a result, no operand */
    valid_put(w, &only, unit, good);
}

static void put_predicate(warp *w, const op *o)
{
    const uint32_t bits = o->compare(w, o);
    const uint32_t with = c_bits(w, o);
    const uint32_t good = joined_valid(w, o, with);
    if (o->e != 0) {
        predicate_set(w, o->e, join(~bits, with, o->mode));
        valid_put2(w, o, o->e, good);
    }
    predicate_set(w, o->d, join(bits, with, o->mode));
    valid_put2(w, o, o->d, good);
}

static void put_words(warp *w, const op *o, uint32_t truth)
{
    const uint32_t with = c_bits(w, o);
    const uint32_t bits = join(o->compare(w, o), with, o->mode);
    uint32_t *d = unit_at(w, o->d);
    EACH_LANE(i)
    {
        const uint32_t r = (bits >> i & 1) != 0 ? truth : 0;
        d[i] = w->on[i] ? r : d[i];
    }
    valid_put(w, o, o->d, joined_valid(w, o, with));
}

static void put_ones(warp *w, const op *o)
{
    put_words(w, o, UINT32_MAX);
}

static void put_one_f32(warp *w, const op *o)
{
    put_words(w, o, 0x3f800000u);
}

static void put_one_f16(warp *w, const op *o)
{
    put_words(w, o, 0x3c00u);
}

/* ---- f16x2: p is about the low halves, q about the high ones ---- */

typedef struct both {
    uint32_t low, high;
} both;

static void put_pair(warp *w, const op *o, both r, uint32_t truth)
{
    uint32_t *d = unit_at(w, o->d);
    EACH_LANE(i)
    {
        const uint32_t v =
            ((r.low >> i & 1) != 0 ? truth : 0) | ((r.high >> i & 1) != 0 ? truth << 16 : 0);
        d[i] = w->on[i] ? v : d[i];
    }
    valid_put(w, o, o->d, joined_valid(w, o, 0));
}

static void put_predicates(warp *w, const op *o, both r)
{
    const uint32_t with = c_bits(w, o);
    const uint32_t good = joined_valid(w, o, with);
    predicate_set(w, o->d, join(r.low, with, o->mode));
    valid_put2(w, o, o->d, good);
    if (o->e != 0) {
        predicate_set(w, o->e, join(r.high, with, o->mode));
        valid_put2(w, o, o->e, good);
    }
}

#define PAIR(name)                                              \
    static both both_##name(const warp *w, const op *o)         \
    {                                                           \
        return (both){name##_f16(w, o), name##_f16_high(w, o)}; \
    }                                                           \
    static void pair_##name(warp *w, const op *o)               \
    {                                                           \
        put_predicates(w, o, both_##name(w, o));                \
    }                                                           \
    static void ones_##name(warp *w, const op *o)               \
    {                                                           \
        put_pair(w, o, both_##name(w, o), 0x3c00u);             \
    }                                                           \
    static void full_##name(warp *w, const op *o)               \
    {                                                           \
        put_pair(w, o, both_##name(w, o), 0xffffu);             \
    }
PAIR(eq)
PAIR(ne)
PAIR(lt)
PAIR(le)
PAIR(gt)
PAIR(ge)
PAIR(equ)
PAIR(neu)
PAIR(ltu)
PAIR(leu)
PAIR(gtu)
PAIR(geu)
PAIR(num)
PAIR(nan)

/* ---- what kind of number ---- */

static inline uint32_t exponent32(float v)
{
    return bits_of_f32(v) >> 23 & 0xff;
}

static inline uint64_t exponent64(double v)
{
    return bits_of_f64(v) >> 52 & 0x7ff;
}

#define TEST32(name, expr) COMPARE2(name##_f32, f32, ((void)y, expr))
#define TEST64(name, expr) COMPARE2(name##_f64, f64, ((void)y, expr))
TEST32(finite, exponent32(x) != 255)
TEST32(infinite, (bits_of_f32(x) & 0x7fffffffu) == 0x7f800000u)
TEST32(number, x == x)
TEST32(notanumber, x != x)
TEST32(normal, BOTH(exponent32(x) != 255, EITHER(exponent32(x) != 0, x == 0.0f)))
TEST32(subnormal, BOTH(exponent32(x) == 0, x != 0.0f))
TEST64(finite, exponent64(x) != 2047)
TEST64(infinite, (bits_of_f64(x) << 1) == 0xffe0000000000000u)
TEST64(number, x == x)
TEST64(notanumber, x != x)
TEST64(normal, BOTH(exponent64(x) != 2047, EITHER(exponent64(x) != 0, x == 0.0)))
TEST64(subnormal, BOTH(exponent64(x) == 0, x != 0.0))

/* ---- which window a generic address is in ---- */

#define IN_WINDOW(v, start) ((v) - (start) < WINDOW_BYTES)
COMPARE2(in_shared, u64, ((void)y, IN_WINDOW(x, WINDOW_SHARED)))
COMPARE2(in_local, u64, ((void)y, IN_WINDOW(x, WINDOW_LOCAL)))
COMPARE2(in_global, u64, ((void)y, BOTH(!IN_WINDOW(x, WINDOW_SHARED), !IN_WINDOW(x, WINDOW_LOCAL))))
COMPARE2(in_none, u64, ((void)y, x < x))

/* ---- selection and logic of predicates ---- */

static void valid_selected(warp *w, const op *o)
{
    const uint32_t p = predicate(w, o->c);
    const uint32_t good = w->valid[o->c] & ((p & w->valid[o->a]) | (~p & w->valid[o->b]));
    valid_put(w, o, o->d, good);
}

#define SELECT(T)                                                      \
    static void selp_##T(warp *w, const op *o)                         \
    {                                                                  \
        HELD_##T *d = unit_at(w, o->d);                                \
        const HELD_##T *pa = unit_at(w, o->a), *pb = unit_at(w, o->b); \
        const uint32_t p = predicate(w, o->c);                         \
        EACH_LANE(i)                                                   \
        {                                                              \
            const HELD_##T r = (p >> i & 1) != 0 ? pa[i] : pb[i];      \
            d[i] = w->ON_##T[i] ? r : d[i];                            \
        }                                                              \
        valid_selected(w, o);                                          \
    }
SELECT(b32)
SELECT(b64)

LANES3(slct_b32_s32, b32, b32, b32, s32, z >= 0 ? x : y)
LANES3(slct_b64_s32, b64, b64, b64, s32, z >= 0 ? x : y)
LANES3(slct_b32_f32, b32, b32, b32, f32, z >= 0.0f ? x : y)
LANES3(slct_b64_f32, b64, b64, b64, f32, z >= 0.0f ? x : y)

static void and_pred(warp *w, const op *o)
{
    const uint32_t x = predicate(w, o->a), y = predicate(w, o->b);
    const uint32_t vx = w->valid[o->a], vy = w->valid[o->b];
    valid_put(w, o, o->d, (vx & vy) | (vx & ~x) | (vy & ~y));
    predicate_set(w, o->d, x & y);
}

static void or_pred(warp *w, const op *o)
{
    const uint32_t x = predicate(w, o->a), y = predicate(w, o->b);
    const uint32_t vx = w->valid[o->a], vy = w->valid[o->b];
    valid_put(w, o, o->d, (vx & vy) | (vx & x) | (vy & y));
    predicate_set(w, o->d, x | y);
}

static void xor_pred(warp *w, const op *o)
{
    predicate_set(w, o->d, predicate(w, o->a) ^ predicate(w, o->b));
}

static void not_pred(warp *w, const op *o)
{
    predicate_set(w, o->d, ~predicate(w, o->a));
}

static void mov_pred(warp *w, const op *o)
{
    predicate_set(w, o->d, predicate(w, o->a));
}

/* ---- rows ---- */

#define SETP(cmp, type, letter, fn)                                                    \
    {                                                                                  \
        "setp." #cmp "." type, "P" letter letter "?", put_predicate, fn, OP_OWN_VALID, \
            EMU_CLASS_COMPARE                                                          \
    }
#define SET(cmp, dtype, type, letter, put, fn)                                        \
    {                                                                                 \
        "set." #cmp "." dtype "." type, "w" letter letter "?", put, fn, OP_OWN_VALID, \
            EMU_CLASS_COMPARE                                                         \
    }
#define BOTH_SETS(cmp, type, letter, fn)                                      \
    SETP(cmp, type, letter, fn), SET(cmp, "u32", type, letter, put_ones, fn), \
        SET(cmp, "s32", type, letter, put_ones, fn),                          \
        SET(cmp, "f32", type, letter, put_one_f32, fn)
#define INTEGER_SETS(cmp)                                                             \
    BOTH_SETS(cmp, "u16", "w", cmp##_u16), BOTH_SETS(cmp, "s16", "w", cmp##_s16),     \
        BOTH_SETS(cmp, "u32", "w", cmp##_u32), BOTH_SETS(cmp, "s32", "w", cmp##_s32), \
        BOTH_SETS(cmp, "u64", "d", cmp##_u64), BOTH_SETS(cmp, "s64", "d", cmp##_s64)
#define BIT_SETS(cmp)                                                             \
    BOTH_SETS(cmp, "b16", "w", cmp##_u16), BOTH_SETS(cmp, "b32", "w", cmp##_u32), \
        BOTH_SETS(cmp, "b64", "d", cmp##_u64)
#define SIZE_SETS(name, cmp)                                                        \
    BOTH_SETS(name, "u16", "w", cmp##_u16), BOTH_SETS(name, "u32", "w", cmp##_u32), \
        BOTH_SETS(name, "u64", "d", cmp##_u64)
#define PAIR_SETS(cmp)                                                                       \
    {"setp." #cmp ".f16x2", "Pww?", pair_##cmp, NULL, OP_OWN_VALID, EMU_CLASS_HALF},         \
        {"set." #cmp ".f16x2.f16x2", "www", ones_##cmp, NULL, OP_OWN_VALID, EMU_CLASS_HALF}, \
        {"set." #cmp ".u32.f16x2", "www", full_##cmp, NULL, OP_OWN_VALID, EMU_CLASS_HALF},   \
    {                                                                                        \
        "set." #cmp ".s32.f16x2", "www", full_##cmp, NULL, OP_OWN_VALID, EMU_CLASS_HALF      \
    }
#define FLOAT_SETS(cmp)                                                                     \
    BOTH_SETS(cmp, "f32", "w", cmp##_f32), BOTH_SETS(cmp, "f64", "d", cmp##_f64),           \
        SETP(cmp, "f16", "w", cmp##_f16), SET(cmp, "u32", "f16", "w", put_ones, cmp##_f16), \
        SET(cmp, "s32", "f16", "w", put_ones, cmp##_f16),                                   \
        SET(cmp, "f16", "f16", "w", put_one_f16, cmp##_f16),                                \
        SETP(cmp, "ftz.f32", "w", cmp##_f32_ftz), SETP(cmp, "ftz.f16", "w", cmp##_f16_ftz), \
        SET(cmp, "ftz.u32", "f32", "w", put_ones, cmp##_f32_ftz),                           \
        SET(cmp, "ftz.s32", "f32", "w", put_ones, cmp##_f32_ftz),                           \
        SET(cmp, "ftz.f32", "f32", "w", put_one_f32, cmp##_f32_ftz), PAIR_SETS(cmp)
#define TESTP(kind)                                                                             \
    {"testp." #kind ".f32", "pw", put_predicate, kind##_f32, OP_OWN_VALID, EMU_CLASS_COMPARE},  \
    {                                                                                           \
        "testp." #kind ".f64", "pd", put_predicate, kind##_f64, OP_OWN_VALID, EMU_CLASS_COMPARE \
    }
#define WINDOW(space, fn)                                                           \
    {                                                                               \
        "isspacep." space, "pd", put_predicate, fn, OP_OWN_VALID, EMU_CLASS_COMPARE \
    }
#define SELP(type, letter, fn)                                                         \
    {                                                                                  \
        "selp." type, letter letter letter "p", fn, NULL, OP_OWN_VALID, EMU_CLASS_MOVE \
    }
#define SLCT(type, letter, fn)                                                           \
    {"slct." type ".s32", letter letter letter "w", fn##_s32, NULL, 0, EMU_CLASS_MOVE},  \
    {                                                                                    \
        "slct." type ".f32", letter letter letter "w", fn##_f32, NULL, 0, EMU_CLASS_MOVE \
    }

static const lane_row rows[] = {
    INTEGER_SETS(eq),
    INTEGER_SETS(ne),
    INTEGER_SETS(lt),
    INTEGER_SETS(le),
    INTEGER_SETS(gt),
    INTEGER_SETS(ge),
    BIT_SETS(eq),
    BIT_SETS(ne),
    /* lo, ls, hi, hs: unsigned names of the same */
    SIZE_SETS(lo, lt),
    SIZE_SETS(ls, le),
    SIZE_SETS(hi, gt),
    SIZE_SETS(hs, ge),
    FLOAT_SETS(eq),
    FLOAT_SETS(ne),
    FLOAT_SETS(lt),
    FLOAT_SETS(le),
    FLOAT_SETS(gt),
    FLOAT_SETS(ge),
    FLOAT_SETS(equ),
    FLOAT_SETS(neu),
    FLOAT_SETS(ltu),
    FLOAT_SETS(leu),
    FLOAT_SETS(gtu),
    FLOAT_SETS(geu),
    FLOAT_SETS(num),
    FLOAT_SETS(nan),
    TESTP(finite),
    TESTP(infinite),
    TESTP(number),
    TESTP(notanumber),
    TESTP(normal),
    TESTP(subnormal),
    SELP("b16", "w", selp_b32),
    SELP("u16", "w", selp_b32),
    SELP("s16", "w", selp_b32),
    SELP("b32", "w", selp_b32),
    SELP("u32", "w", selp_b32),
    SELP("s32", "w", selp_b32),
    SELP("f32", "w", selp_b32),
    SELP("b64", "d", selp_b64),
    SELP("u64", "d", selp_b64),
    SELP("s64", "d", selp_b64),
    SELP("f64", "d", selp_b64),
    SLCT("b16", "w", slct_b32),
    SLCT("u16", "w", slct_b32),
    SLCT("s16", "w", slct_b32),
    SLCT("b32", "w", slct_b32),
    SLCT("u32", "w", slct_b32),
    SLCT("s32", "w", slct_b32),
    SLCT("f32", "w", slct_b32),
    SLCT("b64", "d", slct_b64),
    SLCT("u64", "d", slct_b64),
    SLCT("s64", "d", slct_b64),
    SLCT("f64", "d", slct_b64),
    WINDOW("shared", in_shared),
    WINDOW("shared::cta", in_shared),
    WINDOW("local", in_local),
    WINDOW("global", in_global),
    WINDOW("const", in_none),
    WINDOW("param", in_none),
    {"and.pred", "ppp", and_pred, NULL, OP_OWN_VALID, EMU_CLASS_COMPARE},
    {"or.pred", "ppp", or_pred, NULL, OP_OWN_VALID, EMU_CLASS_COMPARE},
    {"xor.pred", "ppp", xor_pred, NULL, 0, EMU_CLASS_COMPARE},
    {"not.pred", "pp", not_pred, NULL, 0, EMU_CLASS_COMPARE},
    {"mov.pred", "pp", mov_pred, NULL, 0, EMU_CLASS_MOVE},
};

const lane_table LANE_NAME(lanes_compare) = TABLE(rows);
