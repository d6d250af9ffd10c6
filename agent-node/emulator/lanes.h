/* lanes - the instructions that compute lane by lane
 *
 * Purpose:   tables from an instruction's key ("fma.ftz.f32") to the function that executes it over all
 *            lanes of a warp and to the shape of its operands. The files lanes_*.c are compiled once for
 *            any CPU and once for AVX2; lanes.c picks.
 * Ownership: static tables.
 * Threads:   safe.
 * Errors:    lanes_find gives NULL for an instruction that is in no table.
 *
 * Private to agent-node/emulator.
 *
 * A shape has a letter an operand, results first: w a 32-bit unit, d a 64-bit register, p a predicate,
 * i a constant, P a predicate or a pair p|q, ? a predicate that may be absent, x a register of any
 * width. Functions write only lanes whose w->on is set. Unless a row says OP_OWN_VALID, the loop makes a
 * result valid where all operands are.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_LANES_H
#define CE_EMULATOR_LANES_H

#include <string.h>

#include "agent-node/emulator/exec.h"

typedef struct lane_row {
    const char *key, *shape;
    lane_fn *lanes;
    compare_fn *compare;
    uint8_t flags, class;
} lane_row;

typedef struct lane_table {
    const lane_row *rows;
    size_t count;
} lane_table;

/* All of it, compiled for one kind of CPU. */
typedef struct lane_set {
    const lane_table *tables[8];
    lane_fn *convert, *convert_pair; /* cvt: see convert.h */
} lane_set;

const lane_row *lanes_find(const char *key);
/* lanes_each calls `fn` with every row: lists of what is supported. */
void lanes_each(void (*fn)(const lane_row *row, void *arg), void *arg);
const lane_set *lanes_set(void);

/* ---- for lanes_*.c ---- */

#if defined(__clang__)
#define EACH_LANE(i) \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < LANES; i++)
#else
#define EACH_LANE(i) _Pragma("GCC ivdep") for (unsigned i = 0; i < LANES; i++)
#endif

static inline void *unit_at(const warp *w, uint32_t unit)
{
    return w->file + (size_t)unit * UNIT_BYTES;
}

static inline uint32_t predicate(const warp *w, uint32_t unit)
{
    return *(const uint32_t *)unit_at(w, unit);
}

static inline void predicate_set(warp *w, uint32_t unit, uint32_t bits)
{
    uint32_t *p = unit_at(w, unit);
    *p = (*p & ~w->mask) | (bits & w->mask);
}

/* How a type is kept in a lane, what it is, its mask array and its letter. */
#define HELD_u16   uint32_t
#define HELD_s16   uint32_t
#define HELD_b16   uint32_t
#define HELD_u32   uint32_t
#define HELD_s32   int32_t
#define HELD_b32   uint32_t
#define HELD_u64   uint64_t
#define HELD_s64   int64_t
#define HELD_b64   uint64_t
#define HELD_f32   float
#define HELD_f64   double
#define TYPE_u16   uint16_t
#define TYPE_s16   int16_t
#define TYPE_b16   uint16_t
#define TYPE_u32   uint32_t
#define TYPE_s32   int32_t
#define TYPE_b32   uint32_t
#define TYPE_u64   uint64_t
#define TYPE_s64   int64_t
#define TYPE_b64   uint64_t
#define TYPE_f32   float
#define TYPE_f64   double
#define OUT_u16(v) ((uint32_t)(uint16_t)(v))
#define OUT_s16(v) ((uint32_t)(uint16_t)(v))
#define OUT_b16(v) ((uint32_t)(uint16_t)(v))
#define OUT_u32(v) ((uint32_t)(v))
#define OUT_s32(v) ((int32_t)(v))
#define OUT_b32(v) ((uint32_t)(v))
#define OUT_u64(v) ((uint64_t)(v))
#define OUT_s64(v) ((int64_t)(v))
#define OUT_b64(v) ((uint64_t)(v))
#define OUT_f32(v) ((float)(v))
#define OUT_f64(v) ((double)(v))
#define ON_u16     on
#define ON_s16     on
#define ON_b16     on
#define ON_u32     on
#define ON_s32     on
#define ON_b32     on
#define ON_u64     on64
#define ON_s64     on64
#define ON_b64     on64
#define ON_f32     on
#define ON_f64     on64
#define LETTER_u16 "w"
#define LETTER_s16 "w"
#define LETTER_b16 "w"
#define LETTER_u32 "w"
#define LETTER_s32 "w"
#define LETTER_b32 "w"
#define LETTER_u64 "d"
#define LETTER_s64 "d"
#define LETTER_b64 "d"
#define LETTER_f32 "w"
#define LETTER_f64 "d"

/* name: a function over x (y, z) of types A (B, C) with the result `expr` of type D. */
#define LANES1(name, D, A, expr)                \
    static void name(warp *w, const op *o)      \
    {                                           \
        HELD_##D *d = unit_at(w, o->d);         \
        const HELD_##A *pa = unit_at(w, o->a);  \
        EACH_LANE(i)                            \
        {                                       \
            const TYPE_##A x = (TYPE_##A)pa[i]; \
            const HELD_##D r = OUT_##D(expr);   \
            d[i] = w->ON_##D[i] ? r : d[i];     \
        }                                       \
    }

#define LANES2(name, D, A, B, expr)             \
    static void name(warp *w, const op *o)      \
    {                                           \
        HELD_##D *d = unit_at(w, o->d);         \
        const HELD_##A *pa = unit_at(w, o->a);  \
        const HELD_##B *pb = unit_at(w, o->b);  \
        EACH_LANE(i)                            \
        {                                       \
            const TYPE_##A x = (TYPE_##A)pa[i]; \
            const TYPE_##B y = (TYPE_##B)pb[i]; \
            const HELD_##D r = OUT_##D(expr);   \
            d[i] = w->ON_##D[i] ? r : d[i];     \
        }                                       \
    }

#define LANES3(name, D, A, B, C, expr)          \
    static void name(warp *w, const op *o)      \
    {                                           \
        HELD_##D *d = unit_at(w, o->d);         \
        const HELD_##A *pa = unit_at(w, o->a);  \
        const HELD_##B *pb = unit_at(w, o->b);  \
        const HELD_##C *pc = unit_at(w, o->c);  \
        EACH_LANE(i)                            \
        {                                       \
            const TYPE_##A x = (TYPE_##A)pa[i]; \
            const TYPE_##B y = (TYPE_##B)pb[i]; \
            const TYPE_##C z = (TYPE_##C)pc[i]; \
            const HELD_##D r = OUT_##D(expr);   \
            d[i] = w->ON_##D[i] ? r : d[i];     \
        }                                       \
    }

/* name: a bit a lane of a condition over x and y. */
#define COMPARE2(name, T, expr)                      \
    static uint32_t name(const warp *w, const op *o) \
    {                                                \
        const HELD_##T *pa = unit_at(w, o->a);       \
        const HELD_##T *pb = unit_at(w, o->b);       \
        uint32_t bits = 0;                           \
        EACH_LANE(i)                                 \
        {                                            \
            const TYPE_##T x = (TYPE_##T)pa[i];      \
            const TYPE_##T y = (TYPE_##T)pb[i];      \
            bits |= (uint32_t)(expr) << i;           \
        }                                            \
        return bits;                                 \
    }

#define ROW1(key, D, A, fn, class)                                 \
    {                                                              \
        key, LETTER_##D LETTER_##A, fn, NULL, 0, EMU_CLASS_##class \
    }
#define ROW2(key, D, A, B, fn, class)                                         \
    {                                                                         \
        key, LETTER_##D LETTER_##A LETTER_##B, fn, NULL, 0, EMU_CLASS_##class \
    }
#define ROW3(key, D, A, B, C, fn, class)                                                 \
    {                                                                                    \
        key, LETTER_##D LETTER_##A LETTER_##B LETTER_##C, fn, NULL, 0, EMU_CLASS_##class \
    }

#define TABLE(rows)                          \
    {                                        \
        rows, sizeof(rows) / sizeof(rows)[0] \
    }

static inline uint32_t bits_of_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t bits_of_f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The NaN that arithmetic gives. */
static inline float canonical(float v)
{
    return v != v ? f32_of_bits(0x7fffffffu) : v;
}

/* flush makes a subnormal a zero of its sign. */
static inline float flush(float v)
{
    const uint32_t bits = bits_of_f32(v);
    return f32_of_bits((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

static inline float saturate(float v)
{
    return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}

/* valid_put makes unit valid in the executing lanes that `good` names; the others' values come from
 * where `from`, or else the first invalid operand's, did. */
static inline uint32_t origin_of(const warp *w, const op *o, uint32_t lanes)
{
    const uint32_t units[4] = {o->a, o->b, o->c, o->e};
    for (unsigned i = 0; i < 4; i++)
        if ((lanes & ~w->valid[units[i]]) != 0)
            return w->origin[units[i]];
    return NO_ORIGIN;
}

static inline void valid_put(warp *w, const op *o, uint32_t unit, uint32_t good)
{
    w->valid[unit] = (w->valid[unit] & ~w->mask) | (good & w->mask);
    if ((w->mask & ~good) != 0)
        w->origin[unit] = origin_of(w, o, w->mask & ~good);
}

#endif
