/* race - who touched a byte last, and whether that is ordered before now
 *
 * Purpose:   finds accesses of two threads, one of them a write, that nothing orders.
 * Ownership: marks belong to the block (shared memory) and to emu_memory (global memory).
 * Threads:   marks of global memory are atomic words; a check that meets another worker's update misses
 *            a race at worst.
 * Errors:    none.
 *
 * Private to agent-node/emulator.
 *
 * Time. A block counts what orders its threads: its stamp rises with every barrier of the block, barrier
 * of a warp and fence. An access leaves a mark: thread and stamp. It is ordered before an access of
 * another thread t when its stamp is at most seen[t] (t has passed a barrier, or has read a flag that was
 * written after a fence), or at most warp_seen[t] for threads of t's own warp. Between blocks the same
 * holds with the grid's clock, which rises with every fence of device scope.
 *
 * Flags. A volatile, relaxed or atomic write after a fence publishes the fence's time under the flag's
 * address; a volatile, relaxed or atomic read there takes it over. Such accesses do not race with each
 * other. Where the bookkeeping is coarse (addresses share slots, blocks have one time, of several readers
 * the older one's time is kept) it errs towards "ordered": a race may be missed, none is invented.
 *
 * A write of what is there already is no race: kernels may all set one flag.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_RACE_H
#define CE_EMULATOR_RACE_H

#include "agent-node/emulator/finding.h"

/* One access of one lane. */
typedef struct touch {
    unsigned lane;
    uint64_t at; /* shared: offset from SHARED_BASE; global: offset in the region */
    uint32_t bytes;
    bool is_store, is_flag; /* is_flag: volatile, relaxed, atomic */
    bool changes;           /* a store of other bytes than are there */
} touch;

/* race_shared, race_global look and leave the mark; false: f says who the other one is. */
bool race_shared(warp *w, const touch *t, fault *f);
bool race_global(warp *w, const region *r, const touch *t, fault *f);

/* race_fence: the executing lanes have executed a fence; `device`: of device scope. */
void race_fence(warp *w, bool device);
/* race_publish: a flag is about to be written; race_take: it has been read. `address` is generic. */
void race_publish(warp *w, unsigned lane, uint64_t address);
void race_take(warp *w, unsigned lane, uint64_t address);
/* race_joined: these lanes have met in their warp. race_passed: these lanes have passed a barrier of
 * the block; race_advance afterwards, once. */
void race_joined(warp *w, uint32_t lanes);
void race_passed(warp *w, uint32_t lanes);
void race_advance(block *b);

#endif
