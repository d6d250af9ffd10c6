/* access - where a load, store or atomic goes, checked
 *
 * Purpose:   turns the addresses of a warp's lanes into host pointers, by space, after the checks of
 *            bounds, alignment, read-only buffers and races; and counts what the request costs.
 * Ownership: pointers are into the launch's buffers and the block's memory.
 * Threads:   one owner, the block's worker.
 * Errors:    a fault is a finding: STEP_STOP.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_ACCESS_H
#define CE_EMULATOR_ACCESS_H

#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/lanes.h"
#include "agent-node/emulator/race.h"

/* What a byte of shared or local memory is. */
enum { BYTE_UNSET = 0, BYTE_SET = 1, BYTE_GAP = 2 };

typedef struct request {
    const mem_access *a;
    uint32_t lanes;          /* that take part */
    uint32_t bytes;          /* of a lane: elements together */
    bool is_flag;            /* volatile, relaxed, acquire, release */
    bool changed;            /* atomics: memory holds something else now */
    uint32_t unset;          /* atomics: lanes that met bytes nobody has written */
    bool is_store;           /* for the words of findings and the check of inputs; atomics too */
    uint64_t address[LANES]; /* as the instruction has it */
    uint8_t *at[LANES];      /* host */
    uint8_t *set[LANES];     /* shared and local: what the bytes are */
    const region *buffer[LANES]; /* global */
} request;

/* access_begin computes addresses; an address nobody has written is a finding. */
step access_begin(warp *w, const mem_access *a, request *r);
/* access_locate fills at, set, buffer of lanes of one space (GLOBAL, SHARED or LOCAL). */
step access_locate(warp *w, request *r, ptx_space space, uint32_t lanes);
/* access_space gives the lanes whose generic address is in a space. */
uint32_t access_space(const request *r, ptx_space space);
/* access_race checks one lane of a located request. `values`: what a store writes; NULL for a load,
 * access_any for an atomic, which writes whatever is there. */
extern const uint8_t access_any[1];
bool access_race(warp *w, const request *r, unsigned lane, ptx_space space, const uint8_t *values,
                 fault *f);
/* The address in its space: without the window of a generic one. */
uint64_t access_plain(const request *r, ptx_space space, unsigned lane);
/* The address with the window of its space. */
uint64_t access_generic(const request *r, ptx_space space, unsigned lane);
/* access_is_set: have n bytes from `offset` of the lane's access been written? */
bool access_is_set(const request *r, unsigned lane, uint32_t offset, uint32_t n);

/* access_set says that n bytes hold data from now on, or (shared and local memory) that they do not. */
void access_set(const request *r, unsigned lane, uint32_t offset, uint32_t n, bool data);

/* access_by_space calls `fn` for the lanes of each space an access goes to. */
typedef step access_fn(warp *w, request *r, ptx_space space, uint32_t lanes);
step access_by_space(warp *w, request *r, access_fn *fn);
/* access_flag ends the group's turn when it reads the same flag again and again without progress. */
step access_flag(warp *w, uint64_t address, bool progress);

#endif
