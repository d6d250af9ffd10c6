/* lanes_half - f16, bf16 and their pairs
 *
 * Sums, differences and products of halves are exact or correctly rounded twice in f32 (24 >= 2 * 11 + 2
 * bits). For fma the rounding error of the f32 sum decides the last bit (half_odd), so that the second
 * rounding is right. bf16 has the exponents of f32, so its fma goes through double.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#include <math.h>

#include "agent-node/emulator/half.h"

/* ---- one f16 ---- */

static inline uint32_t add1(uint32_t x, uint32_t y)
{
    return half_from_f32(half_to_f32(x) + half_to_f32(y));
}

static inline uint32_t sub1(uint32_t x, uint32_t y)
{
    return half_from_f32(half_to_f32(x) - half_to_f32(y));
}

static inline uint32_t mul1(uint32_t x, uint32_t y)
{
    return half_from_f32(half_to_f32(x) * half_to_f32(y));
}

static inline uint32_t fma1(uint32_t x, uint32_t y, uint32_t z)
{
    const float p = half_to_f32(x) * half_to_f32(y); /* exact */
    const float c = half_to_f32(z);
    const float s = p + c;
    const float back = s - p;
    const float rest = (p - (s - back)) + (c - back);
    return half_from_f32(half_odd(s, rest));
}

static inline uint32_t sat1(uint32_t h)
{
    return half_from_f32(saturate(half_to_f32(h)));
}

/* Negative and NaN become zero; NaN stays the canonical one. */
static inline uint32_t relu1(uint32_t h)
{
    return (h & 0x7fffu) > 0x7c00u ? 0x7fffu : (h & 0x8000u) != 0 ? 0 : h;
}

static inline bool is_nan1(uint32_t h)
{
    return (h & 0x7fffu) > 0x7c00u;
}

/* An order of bit patterns: -0 just below +0. */
static inline int32_t rank1(uint32_t h)
{
    return (h & 0x8000u) != 0 ? -(int32_t)(h & 0x7fffu) - 1 : (int32_t)h;
}

static inline uint32_t min1(uint32_t x, uint32_t y)
{
    const uint32_t r = rank1(x) < rank1(y) ? x : y;
    const uint32_t known = is_nan1(x) ? y : is_nan1(y) ? x : r;
    return is_nan1(known) ? 0x7fffu : known;
}

static inline uint32_t max1(uint32_t x, uint32_t y)
{
    const uint32_t r = rank1(x) > rank1(y) ? x : y;
    const uint32_t known = is_nan1(x) ? y : is_nan1(y) ? x : r;
    return is_nan1(known) ? 0x7fffu : known;
}

static inline uint32_t strict1(uint32_t x, uint32_t y, uint32_t r)
{
    return is_nan1(x) || is_nan1(y) ? 0x7fffu : r;
}

/* ---- one bf16 ---- */

static inline bool is_nan_b(uint32_t h)
{
    return (h & 0x7fffu) > 0x7f80u;
}

static inline float f32_odd(double s, bool inexact)
{
    const float near = (float)s;
    const double back = (double)near;
    const uint32_t bits = bits_of_f32(near);
    const bool exact = back == s && !inexact;
    const bool outwards = fabs(s) > fabs(back) || back == s;
    const uint32_t odd = (outwards ? bits : bits - 1) | 1;
    return f32_of_bits(exact || s - s != 0.0 ? bits : odd);
}

static inline uint32_t fma_b(uint32_t x, uint32_t y, uint32_t z)
{
    const double p = (double)bf16_to_f32(x) * (double)bf16_to_f32(y);
    const double c = (double)bf16_to_f32(z);
    const double s = p + c;
    const double back = s - p;
    const double rest = (p - (s - back)) + (c - back);
    /* s towards zero with its last bit set where something is missing, then the same to f32. */
    const bool inexact = (rest < 0.0 || rest > 0.0) && s - s == 0.0;
    const uint64_t bits = bits_of_f64(s);
    const bool outwards = (rest > 0.0) == (s > 0.0);
    const double odd = f64_of_bits(inexact ? (outwards ? bits : bits - 1) | 1 : bits);
    return bf16_from_f32(f32_odd(odd, false));
}

static inline uint32_t min_b(uint32_t x, uint32_t y)
{
    const uint32_t r = rank1(x) < rank1(y) ? x : y;
    const uint32_t known = is_nan_b(x) ? y : is_nan_b(y) ? x : r;
    return is_nan_b(known) ? 0x7fffu : known;
}

static inline uint32_t max_b(uint32_t x, uint32_t y)
{
    const uint32_t r = rank1(x) > rank1(y) ? x : y;
    const uint32_t known = is_nan_b(x) ? y : is_nan_b(y) ? x : r;
    return is_nan_b(known) ? 0x7fffu : known;
}

static inline uint32_t strict_b(uint32_t x, uint32_t y, uint32_t r)
{
    return is_nan_b(x) || is_nan_b(y) ? 0x7fffu : r;
}

static inline uint32_t relu_b(uint32_t h)
{
    return is_nan_b(h) ? 0x7fffu : (h & 0x8000u) != 0 ? 0 : h;
}

/* ---- lanes and pairs ---- */

#define PLAIN(v) (v)

#define UNARY(name, expr)                        \
    static inline uint32_t name##_of(uint32_t x) \
    {                                            \
        return expr;                             \
    }                                            \
    LANES1(name, b16, b16, name##_of(x))         \
    LANES1(name##_x2, b32, b32, name##_of(x & 0xffffu) | name##_of(x >> 16) << 16)
#define BINARY(name, IN, OUT, fn)                            \
    static inline uint32_t name##_of(uint32_t x, uint32_t y) \
    {                                                        \
        return OUT(fn(IN(x), IN(y)));                        \
    }                                                        \
    LANES2(name, b16, b16, b16, name##_of(x, y))             \
    LANES2(name##_x2, b32, b32, b32,                         \
           name##_of(x & 0xffffu, y & 0xffffu) | name##_of(x >> 16, y >> 16) << 16)
#define TERNARY(name, IN, OUT, fn)                                                                 \
    static inline uint32_t name##_of(uint32_t x, uint32_t y, uint32_t z)                           \
    {                                                                                              \
        return OUT(fn(IN(x), IN(y), IN(z)));                                                       \
    }                                                                                              \
    LANES3(name, b16, b16, b16, b16, name##_of(x, y, z))                                           \
    LANES3(name##_x2, b32, b32, b32, b32,                                                          \
           name##_of(x & 0xffffu, y & 0xffffu, z & 0xffffu) | name##_of(x >> 16, y >> 16, z >> 16) \
                                                                  << 16)

#define FLUSH_SAT(v)  sat1(half_flush(v))
#define FLUSH_RELU(v) relu1(half_flush(v))
#define ARITHMETIC(name, KIND, fn)               \
    KIND(name, PLAIN, PLAIN, fn)                 \
    KIND(name##_ftz, half_flush, half_flush, fn) \
    KIND(name##_sat, PLAIN, sat1, fn)            \
    KIND(name##_ftz_sat, half_flush, FLUSH_SAT, fn)

ARITHMETIC(add, BINARY, add1)
ARITHMETIC(sub, BINARY, sub1)
ARITHMETIC(mul, BINARY, mul1)
ARITHMETIC(fused, TERNARY, fma1)
TERNARY(fma_relu, PLAIN, relu1, fma1)
TERNARY(fma_ftz_relu, half_flush, FLUSH_RELU, fma1)
BINARY(min, PLAIN, PLAIN, min1)
BINARY(max, PLAIN, PLAIN, max1)
BINARY(min_ftz, half_flush, PLAIN, min1)
BINARY(max_ftz, half_flush, PLAIN, max1)
#define STRICT_MIN(x, y) strict1(x, y, min1(x, y))
#define STRICT_MAX(x, y) strict1(x, y, max1(x, y))
BINARY(min_nan, PLAIN, PLAIN, STRICT_MIN)
BINARY(max_nan, PLAIN, PLAIN, STRICT_MAX)
BINARY(min_ftz_nan, half_flush, PLAIN, STRICT_MIN)
BINARY(max_ftz_nan, half_flush, PLAIN, STRICT_MAX)
TERNARY(bfma, PLAIN, PLAIN, fma_b)
TERNARY(bfma_relu, PLAIN, relu_b, fma_b)
BINARY(bmin, PLAIN, PLAIN, min_b)
BINARY(bmax, PLAIN, PLAIN, max_b)
#define STRICT_BMIN(x, y) strict_b(x, y, min_b(x, y))
#define STRICT_BMAX(x, y) strict_b(x, y, max_b(x, y))
BINARY(bmin_nan, PLAIN, PLAIN, STRICT_BMIN)
BINARY(bmax_nan, PLAIN, PLAIN, STRICT_BMAX)
UNARY(absolute, strict1(x, 0, x & 0x7fffu))
UNARY(negative, strict1(x, 0, x ^ 0x8000u))
UNARY(absolute_ftz, strict1(x, 0, half_flush(x) & 0x7fffu))
UNARY(negative_ftz, strict1(x, 0, half_flush(x) ^ 0x8000u))
UNARY(babsolute, strict_b(x, 0, x & 0x7fffu))
UNARY(bnegative, strict_b(x, 0, x ^ 0x8000u))

/* Approximations, far finer than a half. */
static inline float tanh_f32(float v)
{
    return tanhf(v);
}

UNARY(ex2, half_from_f32(exp2f(half_to_f32(x))))
UNARY(tangent, half_from_f32(tanh_f32(half_to_f32(x))))

#define ROWS1(name, type, fn) \
    ROW1(name "." type, b16, b16, fn, HALF), ROW1(name "." type "x2", b32, b32, fn##_x2, HALF)
#define ROWS2(name, type, fn)                     \
    ROW2(name "." type, b16, b16, b16, fn, HALF), \
        ROW2(name "." type "x2", b32, b32, b32, fn##_x2, HALF)
#define ROWS3(name, type, fn)                          \
    ROW3(name "." type, b16, b16, b16, b16, fn, HALF), \
        ROW3(name "." type "x2", b32, b32, b32, b32, fn##_x2, HALF)
#define FOUR(ROWS, name, fn)                                                                       \
    ROWS(name, "f16", fn), ROWS(name ".ftz", "f16", fn##_ftz), ROWS(name ".sat", "f16", fn##_sat), \
        ROWS(name ".ftz.sat", "f16", fn##_ftz_sat)

static const lane_row rows[] = {
    FOUR(ROWS2, "add", add),
    FOUR(ROWS2, "sub", sub),
    FOUR(ROWS2, "mul", mul),
    FOUR(ROWS3, "fma", fused),
    ROWS3("fma.relu", "f16", fma_relu),
    ROWS3("fma.ftz.relu", "f16", fma_ftz_relu),
    ROWS2("min", "f16", min),
    ROWS2("max", "f16", max),
    ROWS2("min.ftz", "f16", min_ftz),
    ROWS2("max.ftz", "f16", max_ftz),
    ROWS2("min.NaN", "f16", min_nan),
    ROWS2("max.NaN", "f16", max_nan),
    ROWS2("min.ftz.NaN", "f16", min_ftz_nan),
    ROWS2("max.ftz.NaN", "f16", max_ftz_nan),
    ROWS1("abs", "f16", absolute),
    ROWS1("neg", "f16", negative),
    ROWS1("abs.ftz", "f16", absolute_ftz),
    ROWS1("neg.ftz", "f16", negative_ftz),
    ROWS3("fma", "bf16", bfma),
    ROWS3("fma.relu", "bf16", bfma_relu),
    ROWS2("min", "bf16", bmin),
    ROWS2("max", "bf16", bmax),
    ROWS2("min.NaN", "bf16", bmin_nan),
    ROWS2("max.NaN", "bf16", bmax_nan),
    ROWS1("abs", "bf16", babsolute),
    ROWS1("neg", "bf16", bnegative),
    ROWS1("ex2.approx", "f16", ex2),
    ROWS1("tanh.approx", "f16", tangent),
};

const lane_table LANE_NAME(lanes_half) = TABLE(rows);
