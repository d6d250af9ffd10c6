/* occupancy - see occupancy.h.
 *
 * SPDX-License-Identifier: MIT */
#include "common/occupancy.h"

#include <stddef.h>

enum {
    WARP = 32,
    REGISTERS_MAX = 65536,
    REGISTER_UNIT = 256, /* a warp takes registers in these */
    PARTITIONS = 4,      /* a warp lives in one quarter of the multiprocessor */
    SHARED_UNIT = 128,
    SHARED_RESERVED = 1024 /* of every block, by the system */
};

/* A multiprocessor of this compute capability, newest first. */
typedef struct limits_row {
    uint32_t cc, warps, blocks, shared_bytes;
} limits_row;

static const limits_row capabilities[] = {
    {100, 64, 32, 228 * 1024}, {90, 64, 32, 228 * 1024}, {89, 48, 24, 100 * 1024},
    {86, 48, 16, 100 * 1024},  {80, 64, 32, 164 * 1024},
};

static const limits_row *limits_of(uint32_t cc)
{
    size_t i = 0;
    while (i + 1 < sizeof capabilities / sizeof *capabilities && capabilities[i].cc > cc)
        i++;
    return &capabilities[i];
}

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t by_registers(const occupancy_use *use, uint32_t warps, uint32_t most)
{
    if (use->registers == 0)
        return most;
    const uint32_t each = round_up(use->registers * WARP, REGISTER_UNIT);
    return REGISTERS_MAX / PARTITIONS / each * PARTITIONS / warps;
}

occupancy occupancy_of(const occupancy_use *use)
{
    const limits_row *most = limits_of(use->cc);
    const uint32_t warps = use->threads > WARP ? round_up(use->threads, WARP) / WARP : 1;
    const struct {
        const char *name;
        uint32_t blocks;
    } limits[] = {
        {"threads", most->warps / warps},
        {"blocks", most->blocks},
        {"registers", by_registers(use, warps, most->blocks)},
        {"shared memory",
         most->shared_bytes / (round_up(use->shared_bytes, SHARED_UNIT) + SHARED_RESERVED)},
    };
    size_t least = 0;
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        least = limits[i].blocks < limits[least].blocks ? i : least;
    return (occupancy){.blocks = limits[least].blocks,
                       .warps = limits[least].blocks * warps,
                       .warps_max = most->warps,
                       .limit = limits[least].name};
}
