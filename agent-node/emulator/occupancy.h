/* occupancy - how many blocks of a kernel a multiprocessor of compute capability 8.0 holds at once
 *
 * Purpose:   the arithmetic of the CUDA programming guide (technical specifications per compute
 *            capability) over what the assembler says of a kernel and how it is launched.
 * Ownership: values.
 * Threads:   safe.
 * Errors:    none: what does not fit has no blocks.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_OCCUPANCY_H
#define CE_EMULATOR_OCCUPANCY_H

#include <stdint.h>

enum { OCCUPANCY_WARPS = 64 /* of a multiprocessor */ };

typedef struct occupancy_use {
    uint32_t threads;      /* of a block */
    uint32_t registers;    /* of a thread; 0: not known, and no limit then */
    uint32_t shared_bytes; /* of a block, static and dynamic */
} occupancy_use;

typedef struct occupancy {
    uint32_t blocks, warps; /* at once on a multiprocessor */
    const char *limit; /* what keeps it from more: threads, blocks, registers or shared memory */
} occupancy;

occupancy occupancy_of(const occupancy_use *use);

#endif
