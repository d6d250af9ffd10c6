/* occupancy - how many blocks of a kernel a multiprocessor holds at once
 *
 * Purpose:   the arithmetic of the CUDA programming guide (technical specifications per compute
 *            capability) over what the assembler says of a kernel and how it is launched.
 * Ownership: values.
 * Threads:   safe.
 * Errors:    none: what does not fit has no blocks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_OCCUPANCY_H
#define CE_COMMON_OCCUPANCY_H

#include <stdint.h>

typedef struct occupancy_use {
    uint32_t cc; /* compute capability times 10; one that is not known counts as the one below */
    uint32_t threads;      /* of a block */
    uint32_t registers;    /* of a thread; 0: not known, and no limit then */
    uint32_t shared_bytes; /* of a block, static and dynamic */
} occupancy_use;

typedef struct occupancy {
    uint32_t blocks, warps; /* at once on a multiprocessor */
    uint32_t warps_max;     /* that it could hold */
    const char *limit; /* what keeps it from more: threads, blocks, registers or shared memory */
} occupancy;

occupancy occupancy_of(const occupancy_use *use);

#endif
