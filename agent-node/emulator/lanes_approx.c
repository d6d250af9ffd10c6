/* lanes_approx - the fast functions: computed in double, rounded once
 *
 * The PTX manual bounds their errors (2^-22 and the like) and leaves the bits open; results here are the
 * nearest f32 or next to it. The polynomials are Taylor series of functions on small intervals, far below
 * an ulp of f32, so that the loops vectorise.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#include <float.h>
#include <math.h>

#define LN2          0.69314718055994530942
#define LOG2_E       1.44269504088896340736
#define PI_HALF_HIGH 1.57079632679489655800
#define PI_HALF_LOW  6.12323399573676603587e-17
#define TWO_OVER_PI  0.63661977236758134308

/* Adding and taking away 1.5 * 2^52 leaves the nearest whole number. */
#define WHOLE_MAGIC 6755399441055744.0

/* 2^n for a whole n within the exponents of double. */
static inline double power2(double n)
{
    const uint64_t bits = bits_of_f64(n + WHOLE_MAGIC + 1023.0);
    return f64_of_bits(bits << 52);
}

static inline double exp2_wide(float v)
{
    double x = (double)v;
    x = x > 300.0 ? 300.0 : x;
    x = x < -300.0 ? -300.0 : x;
    const double n = (x + WHOLE_MAGIC) - WHOLE_MAGIC;
    const double t = (x - n) * LN2;
    double p = 1.0 / 3628800.0;
    p = p * t + 1.0 / 362880.0;
    p = p * t + 1.0 / 40320.0;
    p = p * t + 1.0 / 5040.0;
    p = p * t + 1.0 / 720.0;
    p = p * t + 1.0 / 120.0;
    p = p * t + 1.0 / 24.0;
    p = p * t + 1.0 / 6.0;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    return p * power2(n);
}

static inline float exp2_f32(float v)
{
    const float r = (float)exp2_wide(v);
    return v != v ? f32_of_bits(0x7fffffffu) : r;
}

/* log2 of a positive finite number: exponent plus atanh series of the fraction in [sqrt(1/2), sqrt(2)). */
static inline double log2_positive(double x)
{
    const uint64_t bits = bits_of_f64(x);
    const uint64_t shifted = bits - 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
    const int64_t power = (int64_t)shifted >> 52;
    const double m = f64_of_bits(bits - ((uint64_t)power << 52));
    const double s = (m - 1.0) / (m + 1.0);
    const double q = s * s;
    double p = 1.0 / 17.0;
    p = p * q + 1.0 / 15.0;
    p = p * q + 1.0 / 13.0;
    p = p * q + 1.0 / 11.0;
    p = p * q + 1.0 / 9.0;
    p = p * q + 1.0 / 7.0;
    p = p * q + 1.0 / 5.0;
    p = p * q + 1.0 / 3.0;
    p = p * q + 1.0;
    /* Exact for the few hundred powers there are. */
    const double n = f64_of_bits((uint64_t)power + 0x4338000000000000u) - WHOLE_MAGIC;
    return n + 2.0 * LOG2_E * s * p;
}

static inline float log2_f32(float v)
{
    const float r = (float)log2_positive((double)(v > 0.0f && v <= FLT_MAX ? v : 1.0f));
    const float none = f32_of_bits(0x7fffffffu);
    const float infinity = f32_of_bits(0x7f800000u);
    const float special = v == 0.0f ? -infinity : v > 0.0f ? infinity : none;
    return v > 0.0f && v <= FLT_MAX ? r : special;
}

/* sin(v + quarter * pi / 2) */
static inline float sine(float v, int64_t quarter)
{
    const double x = (double)v;
    const bool fits = x < 1e9 && x > -1e9;
    const double safe = fits ? x : 0.0;
    const double n = (safe * TWO_OVER_PI + WHOLE_MAGIC) - WHOLE_MAGIC;
    const double t = (safe - n * PI_HALF_HIGH) - n * PI_HALF_LOW;
    const double q = t * t;
    double s = -1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q - 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q - 1.0 / 6.0;
    s = s * q + 1.0;
    double c = -1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q - 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    c = c * q - 0.5;
    c = c * q + 1.0;
    const int64_t turn = (int64_t)bits_of_f64(n + WHOLE_MAGIC) + quarter;
    const double r = (turn & 1) != 0 ? c : s * t;
    return (float)((turn & 2) != 0 ? -r : r);
}

static float sine_far(float v, bool cosine)
{
    if (v - v != 0.0f)
        return f32_of_bits(0x7fffffffu);
    return (float)(cosine ? cos((double)v) : sin((double)v));
}

#define FITS(v) ((v) < 1e9f && (v) > -1e9f)
static inline float sin_f32(float v)
{
    /* -0 stays what it is. */
    return v == 0.0f ? v : sine(v, 0);
}

static inline float rsqrt_f32(float v)
{
    return canonical((float)(1.0 / sqrt((double)v)));
}

static inline float quotient(float x, float y)
{
    return canonical((float)((double)x / (double)y));
}

/* Where 1 / y would be subnormal the hardware's reciprocal is zero. */
static inline float quotient_approx(float x, float y)
{
    const float size = f32_of_bits(bits_of_f32(y) & 0x7fffffffu);
    const bool large = size > 0x1p126f && size <= FLT_MAX;
    const uint32_t sign = (bits_of_f32(x) ^ bits_of_f32(y)) & 0x80000000u;
    const float gone = x - x == 0.0f ? f32_of_bits(sign) : f32_of_bits(0x7fffffffu);
    return large ? gone : quotient(x, y);
}

static bool all_fit(const warp *w, const op *o)
{
    const float *pa = unit_at(w, o->a);
    uint32_t far = 0;
    EACH_LANE(i)
    {
        far |= FITS(pa[i]) ? 0 : w->on[i];
    }
    return far == 0;
}

/* Arguments beyond a billion, infinite or NaN go one by one. */
static void sine_lanes(warp *w, const op *o, bool cosine, bool flushes)
{
    float *d = unit_at(w, o->d);
    const float *pa = unit_at(w, o->a);
    const bool fit = all_fit(w, o);
    EACH_LANE(i)
    {
        const float x = flushes ? flush(pa[i]) : pa[i];
        const float r = cosine ? sine(x, 1) : sin_f32(x);
        const float out = flushes ? flush(r) : r;
        d[i] = w->on[i] != 0 && FITS(x) ? out : d[i];
    }
    if (fit)
        return;
    for (unsigned i = 0; i < LANES; i++)
        if (w->on[i] != 0 && !FITS(pa[i]))
            d[i] = sine_far(pa[i], cosine);
}

static void sin_lanes(warp *w, const op *o)
{
    sine_lanes(w, o, false, false);
}

static void sin_lanes_ftz(warp *w, const op *o)
{
    sine_lanes(w, o, false, true);
}

static void cos_lanes(warp *w, const op *o)
{
    sine_lanes(w, o, true, false);
}

static void cos_lanes_ftz(warp *w, const op *o)
{
    sine_lanes(w, o, true, true);
}

static inline float tanh_f32(float v)
{
    const float limited = v > 12.0f ? 12.0f : v < -12.0f ? -12.0f : v;
    const double e = exp2_wide((float)((double)limited * 2.0 * LOG2_E));
    const float r = (float)((e - 1.0) / (e + 1.0));
    /* Near zero the difference would lose the digits that the cubic has. */
    const float near = v - v * v * v * (1.0f / 3.0f);
    return v != v ? f32_of_bits(0x7fffffffu) : v < 0.02f && v > -0.02f ? near : r;
}

LANES1(ex2, f32, f32, exp2_f32(x))
LANES1(ex2_ftz, f32, f32, flush(exp2_f32(flush(x))))
LANES1(lg2, f32, f32, log2_f32(x))
LANES1(lg2_ftz, f32, f32, log2_f32(flush(x)))
LANES1(tanh_lanes, f32, f32, tanh_f32(x))
LANES1(rsqrt, f32, f32, rsqrt_f32(x))
LANES1(rsqrt_ftz, f32, f32, rsqrt_f32(flush(x)))
LANES1(rcp, f32, f32, quotient(1.0f, x))
LANES1(rcp_ftz, f32, f32, flush(quotient(1.0f, flush(x))))
LANES1(sqrt_approx, f32, f32, canonical((float)sqrt((double)x)))
LANES1(sqrt_approx_ftz, f32, f32, canonical((float)sqrt((double)flush(x))))
LANES2(div_approx, f32, f32, f32, quotient_approx(x, y))
LANES2(div_approx_ftz, f32, f32, f32, flush(quotient_approx(flush(x), flush(y))))
LANES2(div_full, f32, f32, f32, quotient(x, y))
LANES2(div_full_ftz, f32, f32, f32, flush(quotient(flush(x), flush(y))))

#define ONE(key, fn) ROW1(key, f32, f32, fn, SPECIAL)

static const lane_row rows[] = {
    ONE("ex2.approx.f32", ex2),
    ONE("ex2.approx.ftz.f32", ex2_ftz),
    ONE("lg2.approx.f32", lg2),
    ONE("lg2.approx.ftz.f32", lg2_ftz),
    ONE("sin.approx.f32", sin_lanes),
    ONE("sin.approx.ftz.f32", sin_lanes_ftz),
    ONE("cos.approx.f32", cos_lanes),
    ONE("cos.approx.ftz.f32", cos_lanes_ftz),
    ONE("tanh.approx.f32", tanh_lanes),
    ONE("rsqrt.approx.f32", rsqrt),
    ONE("rsqrt.approx.ftz.f32", rsqrt_ftz),
    ONE("rcp.approx.f32", rcp),
    ONE("rcp.approx.ftz.f32", rcp_ftz),
    ONE("sqrt.approx.f32", sqrt_approx),
    ONE("sqrt.approx.ftz.f32", sqrt_approx_ftz),
    ROW2("div.approx.f32", f32, f32, f32, div_approx, SPECIAL),
    ROW2("div.approx.ftz.f32", f32, f32, f32, div_approx_ftz, SPECIAL),
    ROW2("div.full.f32", f32, f32, f32, div_full, SPECIAL),
    ROW2("div.full.ftz.f32", f32, f32, f32, div_full_ftz, SPECIAL),
};

const lane_table LANE_NAME(lanes_approx) = TABLE(rows);
