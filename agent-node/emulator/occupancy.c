/* occupancy - see occupancy.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/occupancy.h"

#include <stddef.h>

enum {
    WARP = 32,
    BLOCKS_MAX = 32,
    REGISTERS_MAX = 65536,
    REGISTER_UNIT = 256, /* a warp takes registers in these */
    PARTITIONS = 4,      /* a warp lives in one quarter of the multiprocessor */
    SHARED_BYTES_MAX = 164 * 1024,
    SHARED_UNIT = 128,
    SHARED_RESERVED = 1024 /* of every block, by the system */
};

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t by_registers(const occupancy_use *use, uint32_t warps)
{
    if (use->registers == 0)
        return BLOCKS_MAX;
    const uint32_t each = round_up(use->registers * WARP, REGISTER_UNIT);
    return REGISTERS_MAX / PARTITIONS / each * PARTITIONS / warps;
}

occupancy occupancy_of(const occupancy_use *use)
{
    const uint32_t warps = use->threads > WARP ? round_up(use->threads, WARP) / WARP : 1;
    const struct {
        const char *name;
        uint32_t blocks;
    } limits[] = {
        {"threads", OCCUPANCY_WARPS / warps},
        {"blocks", BLOCKS_MAX},
        {"registers", by_registers(use, warps)},
        {"shared memory",
         SHARED_BYTES_MAX / (round_up(use->shared_bytes, SHARED_UNIT) + SHARED_RESERVED)},
    };
    size_t least = 0;
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        least = limits[i].blocks < limits[least].blocks ? i : least;
    return (occupancy){.blocks = limits[least].blocks,
                       .warps = limits[least].blocks * warps,
                       .limit = limits[least].name};
}
