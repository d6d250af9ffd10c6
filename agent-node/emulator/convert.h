/* convert - how a cvt is described in an op
 *
 * Purpose:   the types of a cvt and what its op's imm says.
 * Ownership: values.
 * Threads:   safe.
 * Errors:    none.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_CONVERT_H
#define CE_EMULATOR_CONVERT_H

#include <stdint.h>

/* Order: u8 … s64, then floats. */
typedef enum convert_type {
    CONVERT_U8,
    CONVERT_S8,
    CONVERT_U16,
    CONVERT_S16,
    CONVERT_U32,
    CONVERT_S32,
    CONVERT_U64,
    CONVERT_S64,
    CONVERT_F16,
    CONVERT_BF16,
    CONVERT_F32,
    CONVERT_F64
} convert_type;

enum {
    CONVERT_SAT = 1,        /* .sat */
    CONVERT_FTZ = 2,        /* .ftz */
    CONVERT_RELU = 4,       /* .relu */
    CONVERT_TO_WHOLE = 8,   /* .rni … between floats */
    CONVERT_WIDE_FROM = 16, /* the source register has 64 bits */
    CONVERT_WIDE_TO = 32,   /* the result's has */
    CONVERT_NARROW_TO = 64  /* the result's has 16 */
};

/* op.imm: type of the result, of the source, flags. */
static inline uint64_t convert_word(convert_type to, convert_type from, unsigned flags)
{
    return (uint64_t)to | (uint64_t)from << 8 | (uint64_t)flags << 16;
}

#endif
