/* lanes_f64 - double precision arithmetic
 *
 * Rounding as in lanes_f32.c. An operand that is a NaN comes through with its payload; where none was, the
 * result is the NaN 0xfff8000000000000.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#include <math.h>

static inline double canonical64(double v)
{
    return v != v ? f64_of_bits(0xfff8000000000000u) : v;
}

static inline double quiet64(double nan)
{
    return f64_of_bits(bits_of_f64(nan) | 1ull << 51);
}

/* The result r of operands: the first of them that is a NaN, if r is none of the numbers. */
static inline double kept1(double r, double x)
{
    return r == r ? r : x != x ? quiet64(x) : canonical64(r);
}

static inline double kept2(double r, double x, double y)
{
    return r == r ? r : x != x ? quiet64(x) : kept1(r, y);
}

static inline double kept3(double r, double x, double y, double z)
{
    return r == r ? r : x != x ? quiet64(x) : kept2(r, y, z);
}

static inline double flush64(double v)
{
    const uint64_t bits = bits_of_f64(v);
    return f64_of_bits((bits & 0x7ff0000000000000u) == 0 ? bits & (1ull << 63) : bits);
}

static inline double lower(double x, double y)
{
    const double both_zero = f64_of_bits(bits_of_f64(x) | bits_of_f64(y));
    const double r = x < y ? x : y < x ? y : x == y ? both_zero : y != y ? x : y;
    return canonical64(r);
}

static inline double higher(double x, double y)
{
    const double both_zero = f64_of_bits(bits_of_f64(x) & bits_of_f64(y));
    const double r = x > y ? x : y > x ? y : x == y ? both_zero : y != y ? x : y;
    return canonical64(r);
}

LANES2(add_f64, f64, f64, f64, kept2(x + y, x, y))
LANES2(sub_f64, f64, f64, f64, kept2(x - y, x, y))
LANES2(mul_f64, f64, f64, f64, kept2(x *y, x, y))
LANES3(fma_f64, f64, f64, f64, f64, kept3(fma(x, y, z), x, y, z))
LANES2(div_f64, f64, f64, f64, kept2(x / y, x, y))
LANES1(rcp_f64, f64, f64, kept1(1.0 / x, x))
LANES1(sqrt_f64, f64, f64, kept1(sqrt(x), x))
LANES2(min_f64, f64, f64, f64, lower(x, y))
LANES2(max_f64, f64, f64, f64, higher(x, y))
LANES1(abs_f64, f64, f64, x != x ? quiet64(x) : f64_of_bits(bits_of_f64(x) & ~(1ull << 63)))
LANES1(neg_f64, f64, f64, x != x ? quiet64(x) : f64_of_bits(bits_of_f64(x) ^ (1ull << 63)))
LANES2(copysign_f64, f64, f64, f64,
       f64_of_bits((bits_of_f64(x) & (1ull << 63)) | (bits_of_f64(y) & ~(1ull << 63))))

/* Approximations: the upper 32 bits of the result, the lower ones are zero. */
static inline double upper(double v)
{
    const uint64_t bits = bits_of_f64(canonical64(v));
    return f64_of_bits(bits & 0xffffffff00000000u);
}

LANES1(rcp_approx_f64, f64, f64, upper(flush64(1.0 / flush64(x))))
/* Without .ftz it is a whole algorithm, as good as a division. */
LANES1(rsqrt_approx_f64, f64, f64, canonical64(1.0 / sqrt(x)))
LANES1(rsqrt_approx_ftz_f64, f64, f64, upper(1.0 / sqrt(flush64(x))))

static const lane_row rows[] = {
    ROW2("add.f64", f64, f64, f64, add_f64, FLOAT64),
    ROW2("sub.f64", f64, f64, f64, sub_f64, FLOAT64),
    ROW2("mul.f64", f64, f64, f64, mul_f64, FLOAT64),
    ROW3("fma.f64", f64, f64, f64, f64, fma_f64, FLOAT64),
    ROW3("mad.f64", f64, f64, f64, f64, fma_f64, FLOAT64),
    ROW2("div.f64", f64, f64, f64, div_f64, FLOAT64),
    ROW1("rcp.f64", f64, f64, rcp_f64, FLOAT64),
    ROW1("sqrt.f64", f64, f64, sqrt_f64, FLOAT64),
    ROW2("min.f64", f64, f64, f64, min_f64, FLOAT64),
    ROW2("max.f64", f64, f64, f64, max_f64, FLOAT64),
    ROW1("abs.f64", f64, f64, abs_f64, FLOAT64),
    ROW1("neg.f64", f64, f64, neg_f64, FLOAT64),
    ROW2("copysign.f64", f64, f64, f64, copysign_f64, FLOAT64),
    ROW1("rcp.approx.ftz.f64", f64, f64, rcp_approx_f64, SPECIAL),
    ROW1("rsqrt.approx.f64", f64, f64, rsqrt_approx_f64, SPECIAL),
    ROW1("rsqrt.approx.ftz.f64", f64, f64, rsqrt_approx_ftz_f64, SPECIAL),
};

const lane_table LANE_NAME(lanes_f64) = TABLE(rows);
