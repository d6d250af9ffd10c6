/* block - a block of the grid: its warps and its memory
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/lanes.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { ALIGNED = 64 };

static void *aligned(size_t bytes)
{
    void *p = aligned_alloc(ALIGNED, (bytes + ALIGNED) / ALIGNED * ALIGNED);
    if (p == NULL)
        abort();
    return p;
}

size_t block_bytes(const grid *g)
{
    const size_t units = g->program->unit_count;
    const size_t warp_bytes = sizeof(warp) + units * (UNIT_BYTES + 2 * sizeof(uint32_t));
    return sizeof(block) + g->warps_per_block * warp_bytes + (size_t)g->shared_bytes * 10 +
           (size_t)g->local_bytes * g->threads_per_block * 2;
}

/* ---- registers ---- */

static void fill(warp *w, uint32_t unit, bool wide, uint64_t bits)
{
    uint32_t *narrow = unit_at(w, unit);
    uint64_t *both = unit_at(w, unit);
    for (unsigned i = 0; i < LANES; i++) {
        if (wide)
            both[i] = bits;
        else
            narrow[i] = (uint32_t)bits;
    }
    w->valid[unit] = ALL_LANES;
}

static void warp_create(warp *w, block *b, uint32_t index)
{
    const program *p = b->grid->program;
    w->index = index;
    w->block = b;
    w->program = p;
    w->counters = &b->worker->counters;
    w->file = aligned((size_t)p->unit_count * UNIT_BYTES);
    memset(w->file, 0, (size_t)p->unit_count * UNIT_BYTES);
    w->valid = xcalloc(p->unit_count, sizeof *w->valid);
    w->origin = xcalloc(p->unit_count, sizeof *w->origin);
    fill(w, 0, false, 0);
    for (size_t i = 0; i < p->constant_count; i++)
        fill(w, p->constants[i].unit, p->constants[i].wide, p->constants[i].bits);
}

/* ---- special registers ---- */

static uint32_t per_lane(const warp *w, special_register s, unsigned lane)
{
    const uint32_t *size = w->block->grid->launch->block;
    const uint32_t t = thread_of(w, lane);
    const uint32_t bit = 1u << lane;
    switch ((int)s) {
    case SPECIAL_TID_X:
        return t % size[0];
    case SPECIAL_TID_Y:
        return t / size[0] % size[1];
    case SPECIAL_TID_Z:
        return t / size[0] / size[1];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_LANEMASK_EQ:
        return bit;
    case SPECIAL_LANEMASK_LT:
        return bit - 1;
    case SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    default:
        return ~(bit - 1); /* lanemask_ge */
    }
}

static uint64_t per_block(const warp *w, special_register s)
{
    const block *b = w->block;
    const emu_launch *l = b->grid->launch;
    switch ((int)s) {
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return l->block[s - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return b->at[s - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return l->grid[s - SPECIAL_NCTAID_X];
    case SPECIAL_WARPID:
        return w->index;
    case SPECIAL_NWARPID:
        return b->warp_count;
    case SPECIAL_SMID:
        return b->number % EMU_SM_COUNT;
    case SPECIAL_NSMID:
        return EMU_SM_COUNT;
    case SPECIAL_DYNAMIC_SHARED:
        return l->shared;
    case SPECIAL_TOTAL_SHARED:
        return l->shared + b->grid->program->shared_real;
    case SPECIAL_ENVREG1:
        return b->grid->workspace >> 32;
    case SPECIAL_ENVREG2:
        return b->grid->workspace & UINT32_MAX;
    default:
        return 0; /* gridid, the w components */
    }
}

static bool is_per_lane(special_register s)
{
    return s <= SPECIAL_TID_Z || s == SPECIAL_LANEID ||
           (s >= SPECIAL_LANEMASK_EQ && s <= SPECIAL_LANEMASK_GE);
}

static void fill_specials(warp *w)
{
    for (int s = 0; s < SPECIAL_COUNT; s++) {
        const uint32_t unit = w->program->specials[s];
        if (unit == 0)
            continue;
        fill(w, unit, s == SPECIAL_GRIDID, per_block(w, (special_register)s));
        uint32_t *values = unit_at(w, unit);
        for (unsigned i = 0; is_per_lane((special_register)s) && i < LANES; i++)
            values[i] = per_lane(w, (special_register)s, i);
    }
}

/* ---- create ---- */

block *block_create(worker *owner)
{
    grid *g = owner->grid;
    block *b = xcalloc(1, sizeof *b);
    b->grid = g;
    b->worker = owner;
    b->warp_count = g->warps_per_block;
    b->thread_count = g->threads_per_block;
    b->shared_bytes = g->shared_bytes;
    b->shared = aligned(g->shared_bytes);
    b->shared_valid = xmalloc((size_t)g->shared_bytes + 1);
    b->writers = xcalloc((size_t)g->shared_bytes + 1, sizeof *b->writers);
    b->readers = xcalloc((size_t)g->shared_bytes + 1, sizeof *b->readers);
    b->local = aligned((size_t)g->local_bytes * b->thread_count);
    b->local_valid = xmalloc((size_t)g->local_bytes * b->thread_count + 1);
    b->warps = aligned(b->warp_count * sizeof *b->warps);
    memset(b->warps, 0, b->warp_count * sizeof *b->warps);
    for (uint32_t i = 0; i < b->warp_count; i++)
        warp_create(&b->warps[i], b, i);
    return b;
}

void block_destroy(block **self)
{
    block *b = TAKE(*self);
    if (b == NULL)
        return;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        free(b->warps[i].file);
        free(b->warps[i].valid);
        free(b->warps[i].origin);
    }
    free(b->warps);
    free(b->shared);
    free(b->shared_valid);
    free(b->writers);
    free(b->readers);
    free(b->local);
    free(b->local_valid);
    free(b);
}

/* ---- begin ---- */

static void begin_memory(block *b)
{
    const grid *g = b->grid;
    memcpy(b->shared_valid, g->shared_map, g->shared_bytes);
    memset(b->writers, 0, (size_t)g->shared_bytes * sizeof *b->writers);
    memset(b->readers, 0, (size_t)g->shared_bytes * sizeof *b->readers);
    for (uint32_t i = 0; g->local_bytes != 0 && i < b->thread_count; i++)
        memcpy(b->local_valid + (size_t)i * g->local_bytes, g->local_map, g->local_bytes);
}

static void begin_order(block *b)
{
    b->stamp = 1;
    memset(b->seen, 0, sizeof b->seen);
    memset(b->warp_seen, 0, sizeof b->warp_seen);
    memset(b->fenced, 0, sizeof b->fenced);
    memset(b->flags, 0, sizeof b->flags);
    memset(b->barriers, 0, sizeof b->barriers);
    b->last_fence = b->device_fenced_at = 0;
    b->touched = false;
    b->grid_fenced = b->grid_seen = 0;
}

static void begin_warp(warp *w)
{
    const uint32_t first = w->index * LANES;
    const uint32_t count = w->block->thread_count - first;
    const size_t registers = w->program->register_units - 1;
    memset(w->valid + 1, 0, registers * sizeof *w->valid);
    memset(w->origin + 1, 0xff, registers * sizeof *w->origin);
    fill_specials(w);
    warp_reset(w, count >= LANES ? ALL_LANES : (1u << count) - 1);
}

void block_begin(block *b, uint64_t number)
{
    const uint32_t *size = b->grid->launch->grid;
    b->number = number;
    b->at[0] = (uint32_t)(number % size[0]);
    b->at[1] = (uint32_t)(number / size[0] % size[1]);
    b->at[2] = (uint32_t)(number / size[0] / size[1]);
    b->live = b->thread_count;
    b->turns = 0;
    b->suspects = false;
    begin_memory(b);
    begin_order(b);
    for (uint32_t i = 0; i < b->warp_count; i++)
        begin_warp(&b->warps[i]);
    b->worker->counters.blocks++;
    b->worker->counters.threads += b->thread_count;
}

/* ---- run ---- */

static bool can_run(const block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t k = 0; k < b->warps[i].group_count; k++)
            if (b->warps[i].groups[k].state == GROUP_RUNS)
                return true;
    return false;
}

static block_state deadlock(block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[i];
        if (w->group_count == 0)
            continue;
        const group *g = &w->groups[0];
        const barrier *bar = &b->barriers[g->barrier % BARRIER_MAX];
        w->pc = g->pc + 1;
        finding_say(w, EMU_DEADLOCK, (unsigned)__builtin_ctz(g->mask),
                    "waits at a barrier for %u threads, of which only %u come: no thread of the "
                    "block can go on",
                    bar->expected != 0 ? bar->expected : b->live, bar->arrived);
        break;
    }
    return BLOCK_STOPPED;
}

block_state block_run(block *b)
{
    bool ran = false, spins = false;
    b->turns++;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        if (b->warps[i].group_count == 0)
            continue;
        warp_state s = warp_run(&b->warps[i]);
        if (s == WARP_STOPPED)
            return BLOCK_STOPPED;
        ran |= s == WARP_RAN;
        spins |= s == WARP_SPINS;
    }
    if (b->live == 0)
        return finding_flush(b) ? BLOCK_STOPPED : BLOCK_ENDED;
    if (ran || (!spins && can_run(b)))
        return BLOCK_RAN;
    return spins ? BLOCK_SPINS : deadlock(b);
}
