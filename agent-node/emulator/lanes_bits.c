/* lanes_bits - bit operations
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#define LOGIC(T)                    \
    LANES2(and_##T, T, T, T, x &y)  \
    LANES2(or_##T, T, T, T, x | y)  \
    LANES2(xor_##T, T, T, T, x ^ y) \
    LANES1(not_##T, T, T, ~x)       \
    LANES1(cnot_##T, T, T, x == 0)
LOGIC(b16)
LOGIC(b32)
LOGIC(b64)

/* A shift by the width or more leaves nothing, or only the sign. */
#define SHIFTS(U, S, BITS)                                                        \
    LANES2(shl_##U, U, U, u32, y >= (BITS) ? 0 : (uint64_t)x << (y & ((BITS)-1))) \
    LANES2(shr_##U, U, U, u32, y >= (BITS) ? 0 : x >> (y & ((BITS)-1)))           \
    LANES2(shr_##S, S, S, u32, x >> (y >= (BITS) ? (BITS)-1 : (int)y))
SHIFTS(u16, s16, 16)
SHIFTS(u32, s32, 32)
SHIFTS(u64, s64, 64)

static inline uint64_t joined(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

LANES3(shf_l_wrap, u32, u32, u32, u32, (joined(x, y) << (z & 31)) >> 32)
LANES3(shf_r_wrap, u32, u32, u32, u32, joined(x, y) >> (z & 31))
LANES3(shf_l_clamp, u32, u32, u32, u32, z >= 32 ? x : (joined(x, y) << (z & 31)) >> 32)
LANES3(shf_r_clamp, u32, u32, u32, u32, z >= 32 ? y : joined(x, y) >> (z & 31))

static inline uint32_t reverse32(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return v << 24 | (v & 0xff00u) << 8 | (v >> 8 & 0xff00u) | v >> 24;
}

static inline uint64_t reverse64(uint64_t v)
{
    return (uint64_t)reverse32((uint32_t)v) << 32 | reverse32((uint32_t)(v >> 32));
}

static inline uint32_t leading32(uint32_t v)
{
    return v == 0 ? 32 : (uint32_t)__builtin_clz(v);
}

static inline uint32_t leading64(uint64_t v)
{
    return v == 0 ? 64 : (uint32_t)__builtin_clzll(v);
}

/* The highest bit that differs from the sign; all ones: there is none. */
static inline uint32_t top32(uint32_t v)
{
    return 31 - leading32(v);
}

static inline uint32_t top64(uint64_t v)
{
    return 63 - leading64(v);
}

static inline uint32_t amount(uint32_t top, uint32_t highest)
{
    return top == UINT32_MAX ? top : highest - top;
}

LANES1(popc_b32, u32, b32, __builtin_popcount(x))
LANES1(popc_b64, u32, b64, __builtin_popcountll(x))
LANES1(clz_b32, u32, b32, leading32(x))
LANES1(clz_b64, u32, b64, leading64(x))
LANES1(brev_b32, b32, b32, reverse32(x))
LANES1(brev_b64, b64, b64, reverse64(x))
LANES1(bfind_u32, u32, u32, top32(x))
LANES1(bfind_s32, u32, s32, top32((uint32_t)(x < 0 ? ~x : x)))
LANES1(bfind_u64, u32, u64, top64(x))
LANES1(bfind_s64, u32, s64, top64((uint64_t)(x < 0 ? ~x : x)))
LANES1(bfind_amount_u32, u32, u32, amount(top32(x), 31))
LANES1(bfind_amount_s32, u32, s32, amount(top32((uint32_t)(x < 0 ? ~x : x)), 31))
LANES1(bfind_amount_u64, u32, u64, amount(top64(x), 63))
LANES1(bfind_amount_s64, u32, s64, amount(top64((uint64_t)(x < 0 ? ~x : x)), 63))

/* ---- bit fields: position and length are the low bytes of their operands ---- */

static inline uint64_t low_mask(uint32_t length)
{
    return length >= 64 ? UINT64_MAX : (1ull << length) - 1;
}

static inline uint64_t field_u(uint64_t v, uint32_t at, uint32_t length)
{
    return at >= 64 ? 0 : (v >> at) & low_mask(length);
}

/* v is the register sign-extended to 64 bits, width its bits. */
static inline int64_t field_s(int64_t v, uint32_t at, uint32_t length)
{
    const int64_t rest = v >> (at >= 63 ? 63 : at);
    const uint32_t cut = length >= 64 ? 0 : 64 - length;
    return length == 0 ? 0 : (int64_t)((uint64_t)rest << cut) >> cut;
}

LANES3(bfe_u32, u32, u32, u32, u32, field_u(x, y & 0xff, z & 0xff))
LANES3(bfe_s32, s32, s32, u32, u32, field_s(x, y & 0xff, z & 0xff))
LANES3(bfe_u64, u64, u64, u32, u32, field_u(x, y & 0xff, z & 0xff))
LANES3(bfe_s64, s64, s64, u32, u32, field_s(x, y & 0xff, z & 0xff))

static inline uint64_t inserted(uint64_t field, uint64_t into, uint32_t at, uint32_t length)
{
    const uint64_t mask = at >= 64 ? 0 : low_mask(length) << (at & 63);
    return (into & ~mask) | ((field << (at & 63)) & mask);
}

#define INSERT(name, T)                                                                           \
    static void name(warp *w, const op *o)                                                        \
    {                                                                                             \
        HELD_##T *d = unit_at(w, o->d);                                                           \
        const HELD_##T *pa = unit_at(w, o->a), *pb = unit_at(w, o->b);                            \
        const uint32_t *pc = unit_at(w, o->c), *pe = unit_at(w, o->e);                            \
        EACH_LANE(i)                                                                              \
        {                                                                                         \
            const HELD_##T r = (HELD_##T)inserted(pa[i], pb[i], pc[i] & 0xff, pe[i] & 0xff);      \
            d[i] = w->ON_##T[i] ? r : d[i];                                                       \
        }                                                                                         \
        valid_put(w, o, o->d, w->valid[o->a] & w->valid[o->b] & w->valid[o->c] & w->valid[o->e]); \
    }
INSERT(bfi_b32, b32)
INSERT(bfi_b64, b64)

LANES2(bmsk_clamp, b32, u32, u32, x >= 32 ? 0 : (low_mask(y >= 32 ? 32 : y) << (x & 31)))
LANES2(bmsk_wrap, b32, u32, u32, low_mask(y & 31) << (x & 31))

/* The n-th set bit from base upwards (n > 0) or downwards (n < 0); n = 0: base itself, if set. */
static uint32_t nth_set(uint32_t mask, uint32_t base, int32_t n)
{
    if (base > 31)
        return UINT32_MAX;
    if (n == 0)
        return (mask >> base & 1) != 0 ? base : UINT32_MAX;
    int64_t left = n > 0 ? n : -(int64_t)n;
    for (int32_t at = (int32_t)base; at >= 0 && at<32; at += n> 0 ? 1 : -1) {
        left -= mask >> at & 1;
        if (left == 0)
            return (uint32_t)at;
    }
    return UINT32_MAX;
}

LANES3(fns_b32, b32, b32, b32, s32, nth_set(x, y, z))

/* ---- three-input logic ---- */

static void lop3(warp *w, const op *o)
{
    uint32_t *d = unit_at(w, o->d);
    const uint32_t *pa = unit_at(w, o->a), *pb = unit_at(w, o->b), *pc = unit_at(w, o->c);
    uint32_t on[8];
    for (unsigned k = 0; k < 8; k++)
        on[k] = 0 - (uint32_t)(o->imm >> k & 1);
    EACH_LANE(i)
    {
        const uint32_t x = pa[i], y = pb[i], z = pc[i];
        const uint32_t r = (on[7] & x & y & z) | (on[6] & x & y & ~z) | (on[5] & x & ~y & z) |
                           (on[4] & x & ~y & ~z) | (on[3] & ~x & y & z) | (on[2] & ~x & y & ~z) |
                           (on[1] & ~x & ~y & z) | (on[0] & ~x & ~y & ~z);
        d[i] = w->on[i] ? r : d[i];
    }
}

/* ---- byte permutation ---- */

static inline uint32_t byte_of(uint64_t v, uint32_t selector)
{
    const uint32_t byte = (uint32_t)(v >> (8 * (selector & 7))) & 0xff;
    return (selector & 8) != 0 ? ((byte & 0x80) != 0 ? 0xff : 0) : byte;
}

static inline uint32_t permuted(uint64_t v, uint32_t selectors)
{
    return byte_of(v, selectors & 15) | byte_of(v, selectors >> 4 & 15) << 8 |
           byte_of(v, selectors >> 8 & 15) << 16 | byte_of(v, selectors >> 12 & 15) << 24;
}

/* The selectors that a mode stands for, for each low pair of bits of c. */
static const uint16_t selectors_f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t selectors_b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t selectors_rc8[4] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t selectors_ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t selectors_ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t selectors_rc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};

LANES3(prmt, b32, b32, b32, b32, permuted(joined(x, y), z))
LANES3(prmt_f4e, b32, b32, b32, b32, permuted(joined(x, y), selectors_f4e[z & 3]))
LANES3(prmt_b4e, b32, b32, b32, b32, permuted(joined(x, y), selectors_b4e[z & 3]))
LANES3(prmt_rc8, b32, b32, b32, b32, permuted(joined(x, y), selectors_rc8[z & 3]))
LANES3(prmt_ecl, b32, b32, b32, b32, permuted(joined(x, y), selectors_ecl[z & 3]))
LANES3(prmt_ecr, b32, b32, b32, b32, permuted(joined(x, y), selectors_ecr[z & 3]))
LANES3(prmt_rc16, b32, b32, b32, b32, permuted(joined(x, y), selectors_rc16[z & 3]))

#define LOGIC_ROWS(name)                                        \
    ROW2(#name ".b16", b16, b16, b16, name##_b16, INTEGER),     \
        ROW2(#name ".b32", b32, b32, b32, name##_b32, INTEGER), \
        ROW2(#name ".b64", b64, b64, b64, name##_b64, INTEGER)
#define LOGIC_ROWS1(name)                                  \
    ROW1(#name ".b16", b16, b16, name##_b16, INTEGER),     \
        ROW1(#name ".b32", b32, b32, name##_b32, INTEGER), \
        ROW1(#name ".b64", b64, b64, name##_b64, INTEGER)

static const lane_row rows[] = {
    LOGIC_ROWS(and),
    LOGIC_ROWS(or),
    LOGIC_ROWS(xor),
    LOGIC_ROWS1(not ),
    LOGIC_ROWS1(cnot),
    ROW2("shl.b16", u16, u16, u32, shl_u16, INTEGER),
    ROW2("shl.b32", u32, u32, u32, shl_u32, INTEGER),
    ROW2("shl.b64", u64, u64, u32, shl_u64, INTEGER),
    ROW2("shr.b16", u16, u16, u32, shr_u16, INTEGER),
    ROW2("shr.b32", u32, u32, u32, shr_u32, INTEGER),
    ROW2("shr.b64", u64, u64, u32, shr_u64, INTEGER),
    ROW2("shr.u16", u16, u16, u32, shr_u16, INTEGER),
    ROW2("shr.u32", u32, u32, u32, shr_u32, INTEGER),
    ROW2("shr.u64", u64, u64, u32, shr_u64, INTEGER),
    ROW2("shr.s16", s16, s16, u32, shr_s16, INTEGER),
    ROW2("shr.s32", s32, s32, u32, shr_s32, INTEGER),
    ROW2("shr.s64", s64, s64, u32, shr_s64, INTEGER),
    ROW3("shf.l.wrap.b32", u32, u32, u32, u32, shf_l_wrap, INTEGER),
    ROW3("shf.r.wrap.b32", u32, u32, u32, u32, shf_r_wrap, INTEGER),
    ROW3("shf.l.clamp.b32", u32, u32, u32, u32, shf_l_clamp, INTEGER),
    ROW3("shf.r.clamp.b32", u32, u32, u32, u32, shf_r_clamp, INTEGER),
    ROW1("popc.b32", u32, b32, popc_b32, INTEGER),
    ROW1("popc.b64", u32, b64, popc_b64, INTEGER),
    ROW1("clz.b32", u32, b32, clz_b32, INTEGER),
    ROW1("clz.b64", u32, b64, clz_b64, INTEGER),
    ROW1("brev.b32", b32, b32, brev_b32, INTEGER),
    ROW1("brev.b64", b64, b64, brev_b64, INTEGER),
    ROW1("bfind.u32", u32, u32, bfind_u32, INTEGER),
    ROW1("bfind.s32", u32, s32, bfind_s32, INTEGER),
    ROW1("bfind.u64", u32, u64, bfind_u64, INTEGER),
    ROW1("bfind.s64", u32, s64, bfind_s64, INTEGER),
    ROW1("bfind.shiftamt.u32", u32, u32, bfind_amount_u32, INTEGER),
    ROW1("bfind.shiftamt.s32", u32, s32, bfind_amount_s32, INTEGER),
    ROW1("bfind.shiftamt.u64", u32, u64, bfind_amount_u64, INTEGER),
    ROW1("bfind.shiftamt.s64", u32, s64, bfind_amount_s64, INTEGER),
    ROW3("bfe.u32", u32, u32, u32, u32, bfe_u32, INTEGER),
    ROW3("bfe.s32", s32, s32, u32, u32, bfe_s32, INTEGER),
    ROW3("bfe.u64", u64, u64, u32, u32, bfe_u64, INTEGER),
    ROW3("bfe.s64", s64, s64, u32, u32, bfe_s64, INTEGER),
    {"bfi.b32", "wwwww", bfi_b32, NULL, OP_OWN_VALID, EMU_CLASS_INTEGER},
    {"bfi.b64", "dddww", bfi_b64, NULL, OP_OWN_VALID, EMU_CLASS_INTEGER},
    ROW2("bmsk.clamp.b32", b32, u32, u32, bmsk_clamp, INTEGER),
    ROW2("bmsk.wrap.b32", b32, u32, u32, bmsk_wrap, INTEGER),
    ROW3("fns.b32", b32, b32, b32, s32, fns_b32, INTEGER),
    {"lop3.b32", "wwwwi", lop3, NULL, 0, EMU_CLASS_INTEGER},
    ROW3("prmt.b32", b32, b32, b32, b32, prmt, INTEGER),
    ROW3("prmt.b32.f4e", b32, b32, b32, b32, prmt_f4e, INTEGER),
    ROW3("prmt.b32.b4e", b32, b32, b32, b32, prmt_b4e, INTEGER),
    ROW3("prmt.b32.rc8", b32, b32, b32, b32, prmt_rc8, INTEGER),
    ROW3("prmt.b32.ecl", b32, b32, b32, b32, prmt_ecl, INTEGER),
    ROW3("prmt.b32.ecr", b32, b32, b32, b32, prmt_ecr, INTEGER),
    ROW3("prmt.b32.rc16", b32, b32, b32, b32, prmt_rc16, INTEGER),
};

const lane_table LANE_NAME(lanes_bits) = TABLE(rows);
