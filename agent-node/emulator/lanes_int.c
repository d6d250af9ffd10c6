/* lanes_int - integer arithmetic
 *
 * Overflow wraps, so sums and products are unsigned. Where PTX leaves a result open (division by zero) it
 * is what the hardware gives.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static inline int32_t clamp32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline uint64_t high_u64(uint64_t x, uint64_t y)
{
    return (uint64_t)(((u128)x * y) >> 64);
}

static inline uint64_t high_s64(int64_t x, int64_t y)
{
    return (uint64_t)((u128)((s128)x * y) >> 64);
}

static inline uint64_t product24(uint32_t x, uint32_t y)
{
    return (uint64_t)(x & 0xffffffu) * (y & 0xffffffu);
}

static inline int64_t product24s(int32_t x, int32_t y)
{
    const int64_t a = (int32_t)((uint32_t)x << 8) >> 8, b = (int32_t)((uint32_t)y << 8) >> 8;
    return a * b;
}

/* T, its unsigned twin that does not overflow in int. */
#define WRAPPING(T, U)                      \
    LANES2(add_##T, T, T, T, (U)x + (U)y)   \
    LANES2(sub_##T, T, T, T, (U)x - (U)y)   \
    LANES2(mul_lo_##T, T, T, T, (U)x *(U)y) \
    LANES3(mad_lo_##T, T, T, T, T, (U)x *(U)y + (U)z)
WRAPPING(u16, uint32_t)
WRAPPING(u32, uint32_t)
WRAPPING(u64, uint64_t)

#define ORDERED(T)                          \
    LANES2(min_##T, T, T, T, x < y ? x : y) \
    LANES2(max_##T, T, T, T, x > y ? x : y)
ORDERED(u16)
ORDERED(s16)
ORDERED(u32)
ORDERED(s32)
ORDERED(u64)
ORDERED(s64)

#define SIGNED(T, U)                \
    LANES1(neg_##T, T, T, 0 - (U)x) \
    LANES1(abs_##T, T, T, x < 0 ? 0 - (U)x : (U)x)
SIGNED(s16, uint32_t)
SIGNED(s32, uint32_t)
SIGNED(s64, uint64_t)

#define DIVISION_U(T, ONES)                                          \
    LANES2(div_##T, T, T, T, y == 0 ? (ONES) : x / (y == 0 ? 1 : y)) \
    LANES2(rem_##T, T, T, T, y == 0 ? x : x % (y == 0 ? 1 : y))
DIVISION_U(u16, 0xffff)
DIVISION_U(u32, UINT32_MAX)
DIVISION_U(u64, UINT64_MAX)

/* y == -1 is a negation: the lowest number stays what it is. */
#define DIVISION_S(T, U)                                                                      \
    LANES2(div_##T, T, T, T, y == 0 ? (U)-1 : y == -1 ? 0 - (U)x : (U)(x / (y == 0 ? 1 : y))) \
    LANES2(rem_##T, T, T, T, y == 0 ? (U)x : y == -1 ? (U)0 : (U)(x % (y == 0 ? 1 : y)))
DIVISION_S(s16, uint32_t)
DIVISION_S(s32, uint32_t)
DIVISION_S(s64, uint64_t)

LANES2(mul_hi_u16, u16, u16, u16, ((uint32_t)x * y) >> 16)
LANES2(mul_hi_s16, s16, s16, s16, ((int32_t)x * y) >> 16)
LANES2(mul_hi_u32, u32, u32, u32, ((uint64_t)x * y) >> 32)
LANES2(mul_hi_s32, s32, s32, s32, ((int64_t)x * y) >> 32)
LANES2(mul_hi_u64, u64, u64, u64, high_u64(x, y))
LANES2(mul_hi_s64, s64, s64, s64, high_s64(x, y))
LANES2(mul_wide_u16, u32, u16, u16, (uint32_t)x *y)
LANES2(mul_wide_s16, s32, s16, s16, (int32_t)x *y)
LANES2(mul_wide_u32, u64, u32, u32, (uint64_t)x *y)
LANES2(mul_wide_s32, s64, s32, s32, (int64_t)x *y)
LANES3(mad_hi_u16, u16, u16, u16, u16, (((uint32_t)x * y) >> 16) + z)
LANES3(mad_hi_s16, s16, s16, s16, s16, (((int32_t)x * y) >> 16) + z)
LANES3(mad_hi_u32, u32, u32, u32, u32, (((uint64_t)x * y) >> 32) + z)
LANES3(mad_hi_s32, s32, s32, s32, s32, (((int64_t)x * y) >> 32) + z)
LANES3(mad_hi_u64, u64, u64, u64, u64, high_u64(x, y) + z)
LANES3(mad_hi_s64, s64, s64, s64, s64, high_s64(x, y) + (uint64_t)z)
LANES3(mad_hi_sat_s32, s32, s32, s32, s32, clamp32((((int64_t)x * y) >> 32) + z))
LANES3(mad_wide_u16, u32, u16, u16, u32, (uint32_t)x *y + z)
LANES3(mad_wide_s16, s32, s16, s16, s32, (uint32_t)((int32_t)x *y) + (uint32_t)z)
LANES3(mad_wide_u32, u64, u32, u32, u64, (uint64_t)x *y + z)
LANES3(mad_wide_s32, s64, s32, s32, s64, (uint64_t)((int64_t)x *y) + (uint64_t)z)
LANES2(mul24_lo_u32, u32, u32, u32, product24(x, y))
LANES2(mul24_lo_s32, s32, s32, s32, product24s(x, y))
LANES2(mul24_hi_u32, u32, u32, u32, product24(x, y) >> 16)
LANES2(mul24_hi_s32, s32, s32, s32, product24s(x, y) >> 16)
LANES3(mad24_lo_u32, u32, u32, u32, u32, product24(x, y) + z)
LANES3(mad24_lo_s32, s32, s32, s32, s32, (uint64_t)product24s(x, y) + (uint64_t)z)
LANES3(mad24_hi_u32, u32, u32, u32, u32, (product24(x, y) >> 16) + z)
LANES3(mad24_hi_s32, s32, s32, s32, s32, (product24s(x, y) >> 16) + z)
LANES3(mad24_hi_sat_s32, s32, s32, s32, s32, clamp32((product24s(x, y) >> 16) + z))
LANES2(add_sat_s32, s32, s32, s32, clamp32((int64_t)x + y))
LANES2(sub_sat_s32, s32, s32, s32, clamp32((int64_t)x - y))

#define SAD(T, U) LANES3(sad_##T, T, T, T, T, (U)z + (x < y ? (U)y - (U)x : (U)x - (U)y))
SAD(u16, uint32_t)
SAD(s16, uint32_t)
SAD(u32, uint32_t)
SAD(s32, uint32_t)
SAD(u64, uint64_t)
SAD(s64, uint64_t)

/* ---- dot products of bytes ---- */

static inline uint32_t byte_at(uint32_t v, unsigned i, bool is_signed)
{
    const uint32_t byte = (v >> (8 * i)) & 0xff;
    return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
}

static inline uint32_t half_at(uint32_t v, unsigned i, bool is_signed)
{
    const uint32_t half = (v >> (16 * i)) & 0xffff;
    return is_signed ? (uint32_t)(int32_t)(int16_t)half : half;
}

#define DP4A(name, sa, sb)                                                                     \
    LANES3(name, u32, u32, u32, u32,                                                           \
           z + byte_at(x, 0, sa) * byte_at(y, 0, sb) + byte_at(x, 1, sa) * byte_at(y, 1, sb) + \
               byte_at(x, 2, sa) * byte_at(y, 2, sb) + byte_at(x, 3, sa) * byte_at(y, 3, sb))
DP4A(dp4a_uu, false, false)
DP4A(dp4a_us, false, true)
DP4A(dp4a_su, true, false)
DP4A(dp4a_ss, true, true)

#define DP2A(name, sa, sb, at)                          \
    LANES3(name, u32, u32, u32, u32,                    \
           z + half_at(x, 0, sa) * byte_at(y, at, sb) + \
               half_at(x, 1, sa) * byte_at(y, (at) + 1, sb))
DP2A(dp2a_lo_uu, false, false, 0)
DP2A(dp2a_lo_us, false, true, 0)
DP2A(dp2a_lo_su, true, false, 0)
DP2A(dp2a_lo_ss, true, true, 0)
DP2A(dp2a_hi_uu, false, false, 2)
DP2A(dp2a_hi_us, false, true, 2)
DP2A(dp2a_hi_su, true, false, 2)
DP2A(dp2a_hi_ss, true, true, 2)

/* ---- extended precision: the carry is a bit a lane ---- */

/* out: 64 more bits than the type: what is above it is the carry (or borrow). */
#define CARRYING(name, T, WIDE, expr, sets)                                \
    static void name(warp *w, const op *o)                                 \
    {                                                                      \
        HELD_##T *d = unit_at(w, o->d);                                    \
        const HELD_##T *pa = unit_at(w, o->a);                             \
        const HELD_##T *pb = unit_at(w, o->b);                             \
        const HELD_##T *pc = unit_at(w, o->c);                             \
        uint32_t carries = 0;                                              \
        for (unsigned i = 0; i < LANES; i++) {                             \
            const WIDE x = pa[i], y = pb[i], z = pc[i];                    \
            const WIDE k = (w->carry >> i) & 1;                            \
            const WIDE r = expr;                                           \
            (void)z;                                                       \
            (void)k;                                                       \
            d[i] = w->ON_##T[i] ? (HELD_##T)r : d[i];                      \
            carries |= (uint32_t)((r >> (8 * sizeof(HELD_##T))) & 1) << i; \
        }                                                                  \
        if (sets)                                                          \
            w->carry = (w->carry & ~w->mask) | (carries & w->mask);        \
    }

#define LOW_PART(T, v)  ((v) & (HELD_##T) ~0ull)
#define HIGH_PART(T, v) ((v) >> (8 * sizeof(HELD_##T)))
#define EXTENDED(T, WIDE)                                              \
    CARRYING(add_cc_##T, T, WIDE, x + y, true)                         \
    CARRYING(addc_##T, T, WIDE, x + y + k, false)                      \
    CARRYING(addc_cc_##T, T, WIDE, x + y + k, true)                    \
    CARRYING(sub_cc_##T, T, WIDE, x - y, true)                         \
    CARRYING(subc_##T, T, WIDE, x - y - k, false)                      \
    CARRYING(subc_cc_##T, T, WIDE, x - y - k, true)                    \
    CARRYING(mad_lo_cc_##T, T, WIDE, LOW_PART(T, x *y) + z, true)      \
    CARRYING(madc_lo_##T, T, WIDE, LOW_PART(T, x *y) + z + k, false)   \
    CARRYING(madc_lo_cc_##T, T, WIDE, LOW_PART(T, x *y) + z + k, true) \
    CARRYING(mad_hi_cc_##T, T, WIDE, HIGH_PART(T, x *y) + z, true)     \
    CARRYING(madc_hi_##T, T, WIDE, HIGH_PART(T, x *y) + z + k, false)  \
    CARRYING(madc_hi_cc_##T, T, WIDE, HIGH_PART(T, x *y) + z + k, true)
EXTENDED(u32, uint64_t)
EXTENDED(u64, u128)

#define SAME_ROWS2(name, fn, US, SS, U, S)             \
    ROW2(name "." #US, US, US, US, fn##_##U, INTEGER), \
        ROW2(name "." #SS, SS, SS, SS, fn##_##S, INTEGER)
#define SAME_ROWS3(name, fn, US, SS, U, S)                 \
    ROW3(name "." #US, US, US, US, US, fn##_##U, INTEGER), \
        ROW3(name "." #SS, SS, SS, SS, SS, fn##_##S, INTEGER)
/* Both signs by the unsigned function. */
#define WRAP_ROWS2(name, fn)                                                            \
    SAME_ROWS2(name, fn, u16, s16, u16, u16), SAME_ROWS2(name, fn, u32, s32, u32, u32), \
        SAME_ROWS2(name, fn, u64, s64, u64, u64)
#define WRAP_ROWS3(name, fn)                                                            \
    SAME_ROWS3(name, fn, u16, s16, u16, u16), SAME_ROWS3(name, fn, u32, s32, u32, u32), \
        SAME_ROWS3(name, fn, u64, s64, u64, u64)
#define SIGN_ROWS2(name, fn)                                                            \
    SAME_ROWS2(name, fn, u16, s16, u16, s16), SAME_ROWS2(name, fn, u32, s32, u32, s32), \
        SAME_ROWS2(name, fn, u64, s64, u64, s64)
#define SIGN_ROWS3(name, fn)                                                            \
    SAME_ROWS3(name, fn, u16, s16, u16, s16), SAME_ROWS3(name, fn, u32, s32, u32, s32), \
        SAME_ROWS3(name, fn, u64, s64, u64, s64)
#define CARRY_ROWS2(name, fn) \
    SAME_ROWS2(name, fn, u32, s32, u32, u32), SAME_ROWS2(name, fn, u64, s64, u64, u64)
#define CARRY_ROWS3_ALL(name, fn) \
    SAME_ROWS3(name, fn, u32, s32, u32, u32), SAME_ROWS3(name, fn, u64, s64, u64, u64)

static const lane_row rows[] = {
    WRAP_ROWS2("add", add),
    WRAP_ROWS2("sub", sub),
    WRAP_ROWS2("mul.lo", mul_lo),
    WRAP_ROWS3("mad.lo", mad_lo),
    SIGN_ROWS2("min", min),
    SIGN_ROWS2("max", max),
    SIGN_ROWS2("div", div),
    SIGN_ROWS2("rem", rem),
    SIGN_ROWS2("mul.hi", mul_hi),
    SIGN_ROWS3("mad.hi", mad_hi),
    SIGN_ROWS3("sad", sad),
    ROW1("neg.s16", s16, s16, neg_s16, INTEGER),
    ROW1("neg.s32", s32, s32, neg_s32, INTEGER),
    ROW1("neg.s64", s64, s64, neg_s64, INTEGER),
    ROW1("abs.s16", s16, s16, abs_s16, INTEGER),
    ROW1("abs.s32", s32, s32, abs_s32, INTEGER),
    ROW1("abs.s64", s64, s64, abs_s64, INTEGER),
    ROW2("mul.wide.u16", u32, u16, u16, mul_wide_u16, INTEGER),
    ROW2("mul.wide.s16", s32, s16, s16, mul_wide_s16, INTEGER),
    ROW2("mul.wide.u32", u64, u32, u32, mul_wide_u32, INTEGER),
    ROW2("mul.wide.s32", s64, s32, s32, mul_wide_s32, INTEGER),
    ROW3("mad.wide.u16", u32, u16, u16, u32, mad_wide_u16, INTEGER),
    ROW3("mad.wide.s16", s32, s16, s16, s32, mad_wide_s16, INTEGER),
    ROW3("mad.wide.u32", u64, u32, u32, u64, mad_wide_u32, INTEGER),
    ROW3("mad.wide.s32", s64, s32, s32, s64, mad_wide_s32, INTEGER),
    ROW3("mad.hi.sat.s32", s32, s32, s32, s32, mad_hi_sat_s32, INTEGER),
    SAME_ROWS2("mul24.lo", mul24_lo, u32, s32, u32, s32),
    SAME_ROWS2("mul24.hi", mul24_hi, u32, s32, u32, s32),
    SAME_ROWS3("mad24.lo", mad24_lo, u32, s32, u32, s32),
    SAME_ROWS3("mad24.hi", mad24_hi, u32, s32, u32, s32),
    ROW3("mad24.hi.sat.s32", s32, s32, s32, s32, mad24_hi_sat_s32, INTEGER),
    ROW2("add.sat.s32", s32, s32, s32, add_sat_s32, INTEGER),
    ROW2("sub.sat.s32", s32, s32, s32, sub_sat_s32, INTEGER),
    ROW3("dp4a.u32.u32", u32, u32, u32, u32, dp4a_uu, INTEGER),
    ROW3("dp4a.u32.s32", u32, u32, u32, u32, dp4a_us, INTEGER),
    ROW3("dp4a.s32.u32", u32, u32, u32, u32, dp4a_su, INTEGER),
    ROW3("dp4a.s32.s32", u32, u32, u32, u32, dp4a_ss, INTEGER),
    ROW3("dp2a.lo.u32.u32", u32, u32, u32, u32, dp2a_lo_uu, INTEGER),
    ROW3("dp2a.lo.u32.s32", u32, u32, u32, u32, dp2a_lo_us, INTEGER),
    ROW3("dp2a.lo.s32.u32", u32, u32, u32, u32, dp2a_lo_su, INTEGER),
    ROW3("dp2a.lo.s32.s32", u32, u32, u32, u32, dp2a_lo_ss, INTEGER),
    ROW3("dp2a.hi.u32.u32", u32, u32, u32, u32, dp2a_hi_uu, INTEGER),
    ROW3("dp2a.hi.u32.s32", u32, u32, u32, u32, dp2a_hi_us, INTEGER),
    ROW3("dp2a.hi.s32.u32", u32, u32, u32, u32, dp2a_hi_su, INTEGER),
    ROW3("dp2a.hi.s32.s32", u32, u32, u32, u32, dp2a_hi_ss, INTEGER),
    CARRY_ROWS2("add.cc", add_cc),
    CARRY_ROWS2("addc", addc),
    CARRY_ROWS2("addc.cc", addc_cc),
    CARRY_ROWS2("sub.cc", sub_cc),
    CARRY_ROWS2("subc", subc),
    CARRY_ROWS2("subc.cc", subc_cc),
    CARRY_ROWS3_ALL("mad.lo.cc", mad_lo_cc),
    CARRY_ROWS3_ALL("madc.lo", madc_lo),
    CARRY_ROWS3_ALL("madc.lo.cc", madc_lo_cc),
    ROW3("mad.hi.cc.u32", u32, u32, u32, u32, mad_hi_cc_u32, INTEGER),
    ROW3("madc.hi.u32", u32, u32, u32, u32, madc_hi_u32, INTEGER),
    ROW3("madc.hi.cc.u32", u32, u32, u32, u32, madc_hi_cc_u32, INTEGER),
    ROW3("mad.hi.cc.u64", u64, u64, u64, u64, mad_hi_cc_u64, INTEGER),
    ROW3("madc.hi.u64", u64, u64, u64, u64, madc_hi_u64, INTEGER),
    ROW3("madc.hi.cc.u64", u64, u64, u64, u64, madc_hi_cc_u64, INTEGER),
};

const lane_table LANE_NAME(lanes_integer) = TABLE(rows);
