/* lanes_move - copies, and words taken apart and put together
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

LANES1(mov_b32, b32, b32, x)
LANES1(mov_b64, b64, b64, x)

LANES1(from_shared, u64, u64, x + WINDOW_SHARED)
LANES1(to_shared, u64, u64, x - WINDOW_SHARED)
LANES1(from_local, u64, u64, x + WINDOW_LOCAL)
LANES1(to_local, u64, u64, x - WINDOW_LOCAL)

LANES2(pack_b32_2, b32, b32, b32, x | y << 16)
LANES2(pack_b64_2, b64, b32, b32, x | (uint64_t)y << 32)

static void valid_all(warp *w, const op *o)
{
    valid_put(w, o, o->d, w->valid[o->a] & w->valid[o->b] & w->valid[o->c] & w->valid[o->e]);
}

#define PACK4(name, T, BITS)                                                                      \
    static void name(warp *w, const op *o)                                                        \
    {                                                                                             \
        HELD_##T *d = unit_at(w, o->d);                                                           \
        const uint32_t *pa = unit_at(w, o->a), *pb = unit_at(w, o->b);                            \
        const uint32_t *pc = unit_at(w, o->c), *pe = unit_at(w, o->e);                            \
        EACH_LANE(i)                                                                              \
        {                                                                                         \
            const HELD_##T r = (HELD_##T)pa[i] | (HELD_##T)pb[i] << (BITS) |                      \
                               (HELD_##T)pc[i] << (2 * (BITS)) | (HELD_##T)pe[i] << (3 * (BITS)); \
            d[i] = w->ON_##T[i] ? r : d[i];                                                       \
        }                                                                                         \
        valid_all(w, o);                                                                          \
    }
PACK4(pack_b32_4, b32, 8)
PACK4(pack_b64_4, b64, 16)

/* One part of a word: o->imm says which bit it starts at. */
#define PART(name, T, MASK)                                               \
    static void name(warp *w, const op *o, uint32_t unit, unsigned shift) \
    {                                                                     \
        if (unit == 0)                                                    \
            return;                                                       \
        uint32_t *d = unit_at(w, unit);                                   \
        const HELD_##T *pa = unit_at(w, o->a);                            \
        EACH_LANE(i)                                                      \
        {                                                                 \
            const uint32_t r = (uint32_t)(pa[i] >> shift) & (MASK);       \
            d[i] = w->on[i] ? r : d[i];                                   \
        }                                                                 \
        const op only = {.a = o->a};                                      \
        valid_put(w, &only, unit, w->valid[o->a]);                        \
    }
PART(part_8, b32, 0xff)
PART(part_16, b32, 0xffff)
PART(part_16_of_64, b64, 0xffff)
PART(part_32, b64, 0xffffffffu)

static void unpack_b32_2(warp *w, const op *o)
{
    part_16(w, o, o->d, 0);
    part_16(w, o, o->e, 16);
}

static void unpack_b64_2(warp *w, const op *o)
{
    part_32(w, o, o->d, 0);
    part_32(w, o, o->e, 32);
}

static void unpack_b32_4(warp *w, const op *o)
{
    part_8(w, o, o->d, 0);
    part_8(w, o, o->e, 8);
    part_8(w, o, o->b, 16);
    part_8(w, o, o->c, 24);
}

static void unpack_b64_4(warp *w, const op *o)
{
    part_16_of_64(w, o, o->d, 0);
    part_16_of_64(w, o, o->e, 16);
    part_16_of_64(w, o, o->b, 32);
    part_16_of_64(w, o, o->c, 48);
}

#define MOV32(type)                                         \
    {                                                       \
        "mov." type, "ww", mov_b32, NULL, 0, EMU_CLASS_MOVE \
    }
#define MOV64(type)                                         \
    {                                                       \
        "mov." type, "dd", mov_b64, NULL, 0, EMU_CLASS_MOVE \
    }
#define OWN(key, fn)                                    \
    {                                                   \
        key, "", fn, NULL, OP_OWN_VALID, EMU_CLASS_MOVE \
    }

#define CVTA(space, from, to)                                      \
    {"cvta." space ".u64", "dd", from, NULL, 0, EMU_CLASS_MOVE},   \
    {                                                              \
        "cvta.to." space ".u64", "dd", to, NULL, 0, EMU_CLASS_MOVE \
    }

/* pack and unpack: decode_lanes.c takes their operands apart. */
static const lane_row rows[] = {
    MOV32("b16"),
    MOV32("u16"),
    MOV32("s16"),

    MOV32("b32"),
    MOV32("u32"),
    MOV32("s32"),
    MOV32("f32"),
    MOV64("b64"),
    MOV64("u64"),
    MOV64("s64"),
    MOV64("f64"),
    CVTA("global", mov_b64, mov_b64),
    CVTA("const", mov_b64, mov_b64),
    CVTA("shared", from_shared, to_shared),
    CVTA("shared::cta", from_shared, to_shared),
    CVTA("local", from_local, to_local),
    {"pack.b32.2", "", pack_b32_2, NULL, 0, EMU_CLASS_MOVE},
    {"pack.b64.2", "", pack_b64_2, NULL, 0, EMU_CLASS_MOVE},
    OWN("pack.b32.4", pack_b32_4),
    OWN("pack.b64.4", pack_b64_4),
    OWN("unpack.b32.2", unpack_b32_2),
    OWN("unpack.b64.2", unpack_b64_2),
    OWN("unpack.b32.4", unpack_b32_4),
    OWN("unpack.b64.4", unpack_b64_4),
};

const lane_table LANE_NAME(lanes_move) = TABLE(rows);
