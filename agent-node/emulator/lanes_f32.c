/* lanes_f32 - single and double precision arithmetic that is exactly rounded
 *
 * Rounding modes other than nearest are set in the floating-point unit by the caller (warp.c), so one
 * function serves all. A result that is no number is the canonical NaN.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#include <math.h>

#define PLAIN(v) (v)

/* The four variants of an operation: IN is done to operands, OUT to the result. */
#define F32_VARIANT2(name, IN, OUT, expr)           \
    static inline float name##_of(float x, float y) \
    {                                               \
        return OUT(canonical(expr));                \
    }                                               \
    LANES2(name, f32, f32, f32, name##_of(IN(x), IN(y)))

#define F32_VARIANT3(name, IN, OUT, expr)                    \
    static inline float name##_of(float x, float y, float z) \
    {                                                        \
        return OUT(canonical(expr));                         \
    }                                                        \
    LANES3(name, f32, f32, f32, f32, name##_of(IN(x), IN(y), IN(z)))

#define FLUSH_SATURATE(v) saturate(flush(v))
#define F32_OP2(name, expr)                         \
    F32_VARIANT2(name, PLAIN, PLAIN, expr)          \
    F32_VARIANT2(name##_ftz, flush, flush, expr)    \
    F32_VARIANT2(name##_sat, PLAIN, saturate, expr) \
    F32_VARIANT2(name##_ftz_sat, flush, FLUSH_SATURATE, expr)
#define F32_OP3(name, expr)                         \
    F32_VARIANT3(name, PLAIN, PLAIN, expr)          \
    F32_VARIANT3(name##_ftz, flush, flush, expr)    \
    F32_VARIANT3(name##_sat, PLAIN, saturate, expr) \
    F32_VARIANT3(name##_ftz_sat, flush, FLUSH_SATURATE, expr)

F32_OP2(add, x + y)
F32_OP2(sub, x - y)
F32_OP2(mul, x *y)
F32_OP3(fused, fmaf(x, y, z))

F32_VARIANT2(div, PLAIN, PLAIN, x / y)
F32_VARIANT2(div_ftz, flush, flush, x / y)

LANES1(rcp, f32, f32, canonical(1.0f / x))
LANES1(rcp_ftz, f32, f32, flush(canonical(1.0f / flush(x))))
LANES1(sqrt_rn, f32, f32, canonical(sqrtf(x)))
LANES1(sqrt_rn_ftz, f32, f32, canonical(sqrtf(flush(x))))

/* ---- minimum and maximum: NaN is missing data, -0 lies below +0 ---- */

static inline float lower(float x, float y)
{
    const float both_zero = f32_of_bits(bits_of_f32(x) | bits_of_f32(y));
    const float r = x < y ? x : y < x ? y : x == y ? both_zero : y != y ? x : y;
    return canonical(r);
}

static inline float higher(float x, float y)
{
    const float both_zero = f32_of_bits(bits_of_f32(x) & bits_of_f32(y));
    const float r = x > y ? x : y > x ? y : x == y ? both_zero : y != y ? x : y;
    return canonical(r);
}

static inline float strict(float x, float y, float r)
{
    return x != x || y != y ? f32_of_bits(0x7fffffffu) : r;
}

LANES2(min_f32, f32, f32, f32, lower(x, y))
LANES2(max_f32, f32, f32, f32, higher(x, y))
LANES2(min_ftz, f32, f32, f32, lower(flush(x), flush(y)))
LANES2(max_ftz, f32, f32, f32, higher(flush(x), flush(y)))
LANES2(min_nan, f32, f32, f32, strict(x, y, lower(x, y)))
LANES2(max_nan, f32, f32, f32, strict(x, y, higher(x, y)))
LANES2(min_ftz_nan, f32, f32, f32, strict(x, y, lower(flush(x), flush(y))))
LANES2(max_ftz_nan, f32, f32, f32, strict(x, y, higher(flush(x), flush(y))))

LANES1(abs_f32, f32, f32, canonical(f32_of_bits(bits_of_f32(x) & 0x7fffffffu)))
LANES1(neg_f32, f32, f32, canonical(f32_of_bits(bits_of_f32(x) ^ 0x80000000u)))
LANES1(abs_ftz, f32, f32, canonical(f32_of_bits(bits_of_f32(flush(x)) & 0x7fffffffu)))
LANES1(neg_ftz, f32, f32, canonical(f32_of_bits(bits_of_f32(flush(x)) ^ 0x80000000u)))
/* The sign of the first, the rest of the second. */
LANES2(copysign_f32, f32, f32, f32,
       f32_of_bits((bits_of_f32(x) & 0x80000000u) | (bits_of_f32(y) & 0x7fffffffu)))

#define VARIANT_ROWS2(name, fn)                                  \
    ROW2(name ".f32", f32, f32, f32, fn, FLOAT32),               \
        ROW2(name ".ftz.f32", f32, f32, f32, fn##_ftz, FLOAT32), \
        ROW2(name ".sat.f32", f32, f32, f32, fn##_sat, FLOAT32), \
        ROW2(name ".ftz.sat.f32", f32, f32, f32, fn##_ftz_sat, FLOAT32)
#define VARIANT_ROWS3(name, fn)                                       \
    ROW3(name ".f32", f32, f32, f32, f32, fn, FLOAT32),               \
        ROW3(name ".ftz.f32", f32, f32, f32, f32, fn##_ftz, FLOAT32), \
        ROW3(name ".sat.f32", f32, f32, f32, f32, fn##_sat, FLOAT32), \
        ROW3(name ".ftz.sat.f32", f32, f32, f32, f32, fn##_ftz_sat, FLOAT32)

static const lane_row rows[] = {
    VARIANT_ROWS2("add", add),
    VARIANT_ROWS2("sub", sub),
    VARIANT_ROWS2("mul", mul),
    VARIANT_ROWS3("fma", fused),
    VARIANT_ROWS3("mad", fused),
    ROW2("div.f32", f32, f32, f32, div, FLOAT32),
    ROW2("div.ftz.f32", f32, f32, f32, div_ftz, FLOAT32),
    ROW1("rcp.f32", f32, f32, rcp, FLOAT32),
    ROW1("rcp.ftz.f32", f32, f32, rcp_ftz, FLOAT32),
    ROW1("sqrt.f32", f32, f32, sqrt_rn, FLOAT32),
    ROW1("sqrt.ftz.f32", f32, f32, sqrt_rn_ftz, FLOAT32),
    ROW2("min.f32", f32, f32, f32, min_f32, FLOAT32),
    ROW2("max.f32", f32, f32, f32, max_f32, FLOAT32),
    ROW2("min.ftz.f32", f32, f32, f32, min_ftz, FLOAT32),
    ROW2("max.ftz.f32", f32, f32, f32, max_ftz, FLOAT32),
    ROW2("min.NaN.f32", f32, f32, f32, min_nan, FLOAT32),
    ROW2("max.NaN.f32", f32, f32, f32, max_nan, FLOAT32),
    ROW2("min.ftz.NaN.f32", f32, f32, f32, min_ftz_nan, FLOAT32),
    ROW2("max.ftz.NaN.f32", f32, f32, f32, max_ftz_nan, FLOAT32),
    ROW1("abs.f32", f32, f32, abs_f32, FLOAT32),
    ROW1("neg.f32", f32, f32, neg_f32, FLOAT32),
    ROW1("abs.ftz.f32", f32, f32, abs_ftz, FLOAT32),
    ROW1("neg.ftz.f32", f32, f32, neg_ftz, FLOAT32),
    ROW2("copysign.f32", f32, f32, f32, copysign_f32, FLOAT32),
};

const lane_table LANE_NAME(lanes_f32) = TABLE(rows);
