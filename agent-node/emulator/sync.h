/* sync - what the ops of barriers and warp-level operations keep in op.mode
 *
 * Purpose:   shared by decode_flow.c and sync*.c. In all warp-level ops b is the unit of the member mask.
 * Ownership: values.
 * Threads:   safe.
 * Errors:    none.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_SYNC_H
#define CE_EMULATOR_SYNC_H

/* Barriers of the block: a is the number, b the count (OP_COUNTED), c the predicate of a reduction. */
enum { BARRIER_POPC = 1, BARRIER_AND = 2, BARRIER_OR = 3 };

/* shfl: a the value, c the lane or distance, target the unit of clamp and segment mask. */
enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum { MATCH_ALL = 1, MATCH_WIDE = 2 };

typedef enum reduction {
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
    REDUCE_SIGNED = 16
} reduction;

#endif
