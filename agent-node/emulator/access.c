/* access - see access.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/access.h"

step access_begin(warp *w, const mem_access *a, request *r)
{
    r->a = a;
    r->lanes = w->mask;
    r->bytes = (uint32_t)a->bytes * a->count;
    r->is_flag = a->order != ORDER_WEAK;
    r->is_store = a->is_store;
    r->changed = false;
    r->unset = 0;
    const uint32_t unset = w->mask & ~w->valid[a->base];
    if (unset != 0)
        return finding_unset(w, (unsigned)__builtin_ctz(unset), a->base, "is used as an address");
    if (a->wide_base) {
        const uint64_t *base = unit_at(w, a->base);
        for (unsigned i = 0; i < LANES; i++)
            r->address[i] = base[i] + (uint64_t)a->offset;
    } else if (a->base != 0) {
        const uint32_t *base = unit_at(w, a->base);
        for (unsigned i = 0; i < LANES; i++)
            r->address[i] = (uint32_t)(base[i] + (uint32_t)a->offset);
    } else {
        for (unsigned i = 0; i < LANES; i++)
            r->address[i] = (uint64_t)a->offset;
    }
    return STEP_NEXT;
}

static uint64_t window_of(ptx_space space)
{
    return space == PTX_SPACE_SHARED ? WINDOW_SHARED : WINDOW_LOCAL;
}

uint32_t access_space(const request *r, ptx_space space)
{
    uint32_t shared = 0, local = 0;
    for (unsigned i = 0; i < LANES; i++) {
        shared |= (uint32_t)(r->address[i] - WINDOW_SHARED < WINDOW_BYTES) << i;
        local |= (uint32_t)(r->address[i] - WINDOW_LOCAL < WINDOW_BYTES) << i;
    }
    if (space == PTX_SPACE_SHARED)
        return r->lanes & shared;
    return r->lanes & (space == PTX_SPACE_LOCAL ? local : ~(shared | local));
}

uint64_t access_plain(const request *r, ptx_space space, unsigned lane)
{
    const bool generic = r->a->space == PTX_SPACE_NONE && space != PTX_SPACE_GLOBAL;
    return r->address[lane] - (generic ? window_of(space) : 0);
}

uint64_t access_generic(const request *r, ptx_space space, unsigned lane)
{
    const uint64_t plain = access_plain(r, space, lane);
    return space == PTX_SPACE_GLOBAL ? plain : plain + window_of(space);
}

static step fail(warp *w, const request *r, ptx_space space, unsigned lane, emu_kind kind)
{
    const fault f = {.kind = kind,
                     .space = space,
                     .lane = lane,
                     .address = access_plain(r, space, lane),
                     .bytes = r->bytes,
                     .is_store = r->is_store,
                     .buffer = space == PTX_SPACE_GLOBAL ? r->buffer[lane] : NULL};
    return finding_access(w, &f);
}

static uint32_t misaligned(const request *r, uint32_t lanes)
{
    const uint64_t rest = r->bytes - 1;
    uint32_t bad = 0;
    for (unsigned i = 0; i < LANES; i++)
        bad |= (uint32_t)((r->address[i] & rest) != 0) << i;
    return bad & lanes;
}

/* ---- shared and local: bytes from `base` on, of `size` bytes ---- */

static bool has_gap(const uint8_t *set, uint32_t bytes)
{
    uint8_t all = 0;
    for (uint32_t i = 0; i < bytes; i++)
        all |= set[i];
    return (all & BYTE_GAP) != 0;
}

static step locate_own(warp *w, request *r, ptx_space space, uint32_t lanes)
{
    block *b = w->block;
    const bool shared = space == PTX_SPACE_SHARED;
    const uint32_t base = shared ? SHARED_BASE : LOCAL_BASE;
    const uint32_t size = shared ? b->shared_bytes : w->program->local_bytes - LOCAL_BASE;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const uint64_t offset = access_plain(r, space, i) - base;
        const size_t start = shared ? 0 : (size_t)thread_of(w, i) * size;
        if (offset >= size || r->bytes > size - offset)
            return fail(w, r, space, i, r->is_store ? EMU_WRITE : EMU_READ);
        r->at[i] = (shared ? b->shared : b->local + start) + offset;
        r->set[i] = (shared ? b->shared_valid : b->local_valid + start) + offset;
        if (has_gap(r->set[i], r->bytes))
            return fail(w, r, space, i, r->is_store ? EMU_WRITE : EMU_READ);
    }
    return STEP_NEXT;
}

/* Has an earlier one of `count` words the same number? */
static bool met_before(const uint32_t *words, uint32_t count, uint32_t word)
{
    for (uint32_t i = 0; i < count; i++)
        if (words[i] == word)
            return true;
    return false;
}

/* Passes for some lanes: the most different words that one bank has to give. */
static uint32_t passes(const request *r, uint32_t lanes, uint32_t words_each)
{
    uint32_t words[LANES], in_bank[LANES] = {0};
    uint32_t count = 0, most = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t first = (uint32_t)(r->address[__builtin_ctz(left)] >> 2);
        for (uint32_t k = 0; k < words_each; k++) {
            const uint32_t word = first + k, bank = word % LANES;
            if (in_bank[bank] != 0 && met_before(words, count, word))
                continue;
            words[count++] = word;
            in_bank[bank]++;
            most = in_bank[bank] > most ? in_bank[bank] : most;
        }
    }
    return most;
}

/* Wide accesses are served in halves (8 bytes a lane) or quarters (16) of the warp. */
static uint32_t wavefronts(const request *r, uint32_t lanes)
{
    const uint32_t words = r->bytes > 4 ? r->bytes / 4 : 1;
    const uint32_t part = LANES / words;
    const uint32_t mask = part == LANES ? ALL_LANES : (1u << part) - 1;
    uint32_t sum = 0;
    for (uint32_t first = 0; first < LANES; first += part)
        sum += passes(r, lanes & mask << first, words);
    return sum;
}

/* ---- global ---- */

static bool holds(const region *r, uint64_t address, uint32_t bytes)
{
    return r != NULL && r->bytes >= bytes && address - r->base <= r->bytes - bytes;
}

static uint32_t sectors(const request *r, uint32_t lanes)
{
    uint64_t known[LANES];
    uint32_t count = 0;
    const uint32_t wide = r->bytes > 32 ? r->bytes / 32 : 1;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint64_t sector = r->address[__builtin_ctz(left)] >> 5;
        uint32_t at = count;
        while (at > 0 && known[at - 1] != sector)
            at--;
        if (at == 0)
            known[count++] = sector;
    }
    return count * wide;
}

static step locate_global(warp *w, request *r, uint32_t lanes)
{
    const region **last = &w->block->worker->last[w->program->ops[w->pc - 1].target];
    const region *found = *last;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        if (!holds(found, r->address[i], r->bytes)) {
            found = memory_find(w->block->grid->memory, r->address[i]);
            r->buffer[i] = found;
            if (!holds(found, r->address[i], r->bytes))
                return fail(w, r, PTX_SPACE_GLOBAL, i, r->is_store ? EMU_WRITE : EMU_READ);
        }
        r->buffer[i] = found;
        r->at[i] = (uint8_t *)(uintptr_t)r->address[i];
        if (r->is_store && found->is_input)
            return fail(w, r, PTX_SPACE_GLOBAL, i, EMU_INPUT);
    }
    *last = found;
    return STEP_NEXT;
}

step access_locate(warp *w, request *r, ptx_space space, uint32_t lanes)
{
    emu_counters *c = w->counters;
    step s = STEP_NEXT;
    if (space == PTX_SPACE_GLOBAL) {
        s = locate_global(w, r, lanes);
        c->global_requests++;
        c->global_sectors += sectors(r, lanes);
    } else {
        s = locate_own(w, r, space, lanes);
        c->shared_requests += space == PTX_SPACE_SHARED;
        c->shared_wavefronts += space == PTX_SPACE_SHARED ? wavefronts(r, lanes) : 0;
    }
    if (s != STEP_NEXT)
        return s;
    const uint32_t bad = misaligned(r, lanes);
    return bad != 0 ? fail(w, r, space, (unsigned)__builtin_ctz(bad), EMU_MISALIGNED) : STEP_NEXT;
}

/* ---- races and written bytes ---- */

const uint8_t access_any[1];

/* Flags are written by other workers at the same time: they are not looked at. */
static bool changes(const request *r, unsigned lane, const uint8_t *values)
{
    return r->is_flag || memcmp(values, r->at[lane], r->bytes) != 0 ||
           !access_is_set(r, lane, 0, r->bytes);
}

bool access_race(warp *w, const request *r, unsigned lane, ptx_space space, const uint8_t *values,
                 fault *f)
{
    const bool global = space == PTX_SPACE_GLOBAL;
    if (space == PTX_SPACE_LOCAL || (global && r->buffer[lane]->is_input))
        return true;
    touch t = {.lane = lane,
               .bytes = r->bytes,
               .is_store = values != NULL,
               .is_flag = r->is_flag,
               .changes = values != NULL && changes(r, lane, values)};
    t.at = global ? r->address[lane] - r->buffer[lane]->base
                  : access_plain(r, space, lane) - SHARED_BASE;
    const bool fine = global ? race_global(w, r->buffer[lane], &t, f) : race_shared(w, &t, f);
    if (fine)
        return true;
    f->kind = global ? EMU_RACE_GLOBAL : EMU_RACE_SHARED;
    f->space = space;
    f->lane = lane;
    f->address = access_plain(r, space, lane);
    f->bytes = r->bytes;
    f->is_store = r->is_store;
    f->buffer = global ? r->buffer[lane] : NULL;
    return false;
}

bool access_is_set(const request *r, unsigned lane, uint32_t offset, uint32_t n)
{
    if (r->set[lane] == NULL) {
        const region *buffer = r->buffer[lane];
        return region_bits_test(buffer, r->address[lane] - buffer->base + offset, n);
    }
    const uint8_t *set = r->set[lane] + offset;
    for (uint32_t i = 0; i < n; i++)
        if (set[i] != BYTE_SET)
            return false;
    return true;
}

void access_set(const request *r, unsigned lane, uint32_t offset, uint32_t n, bool data)
{
    if (r->set[lane] != NULL) {
        memset(r->set[lane] + offset, data ? BYTE_SET : BYTE_UNSET, n);
        return;
    }
    const region *buffer = r->buffer[lane];
    if (data)
        region_bits_set(buffer, r->address[lane] - buffer->base + offset, n);
}

/* ---- for steps ---- */

step access_by_space(warp *w, request *r, access_fn *fn)
{
    static const ptx_space spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL};
    const ptx_space space = r->a->space;
    if (space == PTX_SPACE_CONST || space == PTX_SPACE_GLOBAL)
        return fn(w, r, PTX_SPACE_GLOBAL, r->lanes);
    if (space != PTX_SPACE_NONE)
        return fn(w, r, space, r->lanes);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        const uint32_t lanes = access_space(r, spaces[i]);
        step s = lanes != 0 ? fn(w, r, spaces[i], lanes) : STEP_NEXT;
        if (s != STEP_NEXT)
            return s;
    }
    return STEP_NEXT;
}

step access_flag(warp *w, uint64_t address, bool progress)
{
    const uint32_t at = w->pc - 1;
    if (progress || w->spin_op != at || w->spin_at != address) {
        w->spin_op = at;
        w->spin_at = address;
        w->spins = 0;
        return STEP_NEXT;
    }
    if (++w->spins < SPIN_SLICE)
        return STEP_NEXT;
    w->now->pc = w->pc;
    return STEP_SWITCH;
}
