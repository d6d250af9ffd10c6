/* race - see race.h.
 *
 * Marks are packed into words. Thread numbers past 1023 stand for several readers: of one warp, of a
 * block, of several blocks.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/race.h"

enum {
    SOME_OF_WARP = 1024, /* plus the warp's number */
    SOME_OF_GRID = 2046,
    SOME_OF_BLOCK = 2047,
    STAMP_BITS = 20,
    THREAD_BITS = 11,
    STAMP_MAX = (1 << STAMP_BITS) - 1,
    GLOBAL_STAMP_MAX = (1 << 16) - 1,
    TIME_MAX = (1 << 10) - 1,
    BLOCK_MASK = (1 << 20) - 1
};

/* An unpacked mark. */
typedef struct seen {
    uint32_t thread, stamp;
    bool flag;
    uint32_t block, time, tag; /* global memory */
} seen;

/* ---- shared memory: flag | thread | stamp ---- */

static uint32_t pack(seen s)
{
    return (uint32_t)s.flag << (STAMP_BITS + THREAD_BITS) | s.thread << STAMP_BITS | s.stamp;
}

static seen unpack(uint32_t word)
{
    return (seen){.thread = word >> STAMP_BITS & 2047,
                  .stamp = word & STAMP_MAX,
                  .flag = word >> (STAMP_BITS + THREAD_BITS) != 0};
}

static bool in_warp(uint32_t thread, uint32_t number)
{
    return thread < SOME_OF_WARP ? thread / LANES == number : thread == SOME_OF_WARP + number;
}

/* Is what thread s did ordered before thread `me` of the same block? */
static bool ordered_in_block(const block *b, seen s, uint32_t me)
{
    return s.thread == me || s.stamp <= b->seen[me] ||
           (in_warp(s.thread, me / LANES) && s.stamp <= b->warp_seen[me]);
}

static bool ordered(const block *b, uint32_t word, uint32_t me)
{
    const seen s = unpack(word);
    return word == 0 || s.stamp == STAMP_MAX || ordered_in_block(b, s, me);
}

static uint32_t limit(uint32_t value, uint32_t max)
{
    return value < max ? value : max;
}

/* The mark after one more reader: it alone if the earlier ones are ordered before it. */
static uint32_t readers_with(const block *b, uint32_t word, uint32_t me)
{
    seen now = {.thread = me, .stamp = limit(b->stamp, STAMP_MAX)};
    const seen before = unpack(word);
    if (ordered(b, word, me))
        return pack(now);
    now.thread = in_warp(before.thread, me / LANES) ? SOME_OF_WARP + me / LANES : SOME_OF_BLOCK;
    now.stamp = before.stamp;
    return pack(now);
}

static bool conflict(fault *f, seen s, bool wrote)
{
    f->other = s.thread < SOME_OF_WARP ? (int)s.thread : -2;
    f->other_wrote = wrote;
    return false;
}

static bool shared_store(block *b, const touch *t, uint32_t me, fault *f)
{
    uint32_t *writers = b->writers + t->at, *readers = b->readers + t->at;
    const seen mine = {.thread = me, .stamp = limit(b->stamp, STAMP_MAX), .flag = t->is_flag};
    const uint32_t word = pack(mine);
    uint32_t fine_writer = 0, fine_reader = 0; /* words that have been looked at */
    for (uint32_t i = 0; i < t->bytes; i++) {
        if (writers[i] != fine_writer && t->changes && !ordered(b, writers[i], me) &&
            !(t->is_flag && unpack(writers[i]).flag))
            return conflict(f, unpack(writers[i]), true);
        if (readers[i] != fine_reader && t->changes && !ordered(b, readers[i], me))
            return conflict(f, unpack(readers[i]), false);
        fine_writer = writers[i];
        fine_reader = readers[i];
        writers[i] = word;
    }
    return true;
}

static bool shared_load(block *b, const touch *t, uint32_t me, fault *f)
{
    const uint32_t *writers = b->writers + t->at;
    uint32_t *readers = b->readers + t->at;
    uint32_t fine_writer = 0, old = 0, merged = readers_with(b, 0, me);
    for (uint32_t i = 0; i < t->bytes; i++) {
        if (writers[i] != fine_writer && !ordered(b, writers[i], me) &&
            !(t->is_flag && unpack(writers[i]).flag))
            return conflict(f, unpack(writers[i]), true);
        fine_writer = writers[i];
        if (t->is_flag)
            continue;
        if (readers[i] != old) {
            old = readers[i];
            merged = readers_with(b, old, me);
        }
        readers[i] = merged;
    }
    return true;
}

bool race_shared(warp *w, const touch *t, fault *f)
{
    w->block->touched |= !t->is_flag;
    const uint32_t me = thread_of(w, t->lane);
    return t->is_store ? shared_store(w->block, t, me, f) : shared_load(w->block, t, me, f);
}

/* ---- global memory: block 20 | thread 11 | flag 1 | stamp 16 | time 10 | tag 6 ---- */

static uint64_t pack_global(seen s)
{
    return (uint64_t)s.block << 44 | (uint64_t)s.thread << 33 | (uint64_t)s.flag << 32 |
           (uint64_t)s.stamp << 16 | (uint64_t)s.time << 6 | s.tag;
}

static seen unpack_global(uint64_t word)
{
    return (seen){.block = (uint32_t)(word >> 44),
                  .thread = (uint32_t)(word >> 33) & 2047,
                  .flag = (word >> 32 & 1) != 0,
                  .stamp = (uint32_t)(word >> 16) & GLOBAL_STAMP_MAX,
                  .time = (uint32_t)(word >> 6) & TIME_MAX,
                  .tag = (uint32_t)word & 63};
}

static bool ordered_global(const block *b, uint64_t word, seen me)
{
    if (word == 0)
        return true;
    const seen s = unpack_global(word);
    if (s.tag != me.tag)
        return true;
    if (s.block != me.block || s.thread == SOME_OF_GRID)
        return s.time == TIME_MAX || s.time <= b->grid_seen;
    return s.stamp == GLOBAL_STAMP_MAX || ordered_in_block(b, s, me.thread);
}

static uint64_t readers_with_global(const block *b, uint64_t word, seen me)
{
    const seen before = unpack_global(word);
    if (ordered_global(b, word, me))
        return pack_global(me);
    if (before.block != me.block || before.thread == SOME_OF_GRID) {
        me.thread = SOME_OF_GRID;
        me.time = before.time;
        return pack_global(me);
    }
    me.thread = in_warp(before.thread, me.thread / LANES) ? SOME_OF_WARP + me.thread / LANES
                                                          : SOME_OF_BLOCK;
    me.stamp = before.stamp;
    return pack_global(me);
}

static bool conflict_global(fault *f, const block *b, uint64_t word, bool wrote)
{
    const seen s = unpack_global(word);
    const uint32_t own = (uint32_t)(b->number & BLOCK_MASK);
    conflict(f, s, wrote);
    if (s.block != own || s.thread == SOME_OF_GRID) {
        f->other = -1;
        f->other_block = s.block;
    }
    return false;
}

/* One granule. */
static bool touch_mark(block *b, mark *m, const touch *t, seen me, fault *f)
{
    const uint64_t writer = __atomic_load_n(&m->writer, __ATOMIC_RELAXED);
    const uint64_t reader = __atomic_load_n(&m->reader, __ATOMIC_RELAXED);
    const bool both_flags = t->is_flag && unpack_global(writer).flag;
    const bool matters = !t->is_store || t->changes;
    if (matters && !both_flags && !ordered_global(b, writer, me))
        return conflict_global(f, b, writer, true);
    if (t->is_store) {
        if (t->changes && !ordered_global(b, reader, me))
            return conflict_global(f, b, reader, false);
        __atomic_store_n(&m->writer, pack_global(me), __ATOMIC_RELAXED);
    } else if (!t->is_flag) {
        const uint64_t next = readers_with_global(b, reader, me);
        if (next != reader)
            __atomic_store_n(&m->reader, next, __ATOMIC_RELAXED);
    }
    return true;
}

bool race_global(warp *w, const region *r, const touch *t, fault *f)
{
    block *b = w->block;
    b->touched |= !t->is_flag;
    const uint64_t first = r->first_mark + (t->at >> r->granule_shift);
    const uint32_t count = t->bytes >> r->granule_shift; /* 0: smaller than a mark stands for */
    const uint32_t clock = __atomic_load_n(&b->grid->clock, __ATOMIC_RELAXED);
    seen me = {.thread = thread_of(w, t->lane),
               .stamp = limit(b->stamp, GLOBAL_STAMP_MAX),
               .flag = t->is_flag,
               .block = (uint32_t)(b->number & BLOCK_MASK),
               .time = limit(clock, TIME_MAX)};
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t slot = first + i;
        me.tag = (uint32_t)(slot >> MARK_SLOTS_BITS);
        if (me.tag >> MARK_TAG_BITS != 0)
            return true; /* more memory than marks can tell apart */
        if (!touch_mark(b, &b->grid->memory->marks[slot & ((1u << MARK_SLOTS_BITS) - 1)], t, me, f))
            return false;
    }
    return true;
}

/* ---- order ---- */

static uint32_t flag_slot(uint64_t address, uint32_t count)
{
    return (uint32_t)((address >> 2) * 2654435761u >> 8) % count;
}

static bool is_shared(uint64_t address)
{
    return address - WINDOW_SHARED < WINDOW_BYTES;
}

void race_fence(warp *w, bool device)
{
    block *b = w->block;
    if (b->touched)
        b->last_fence = b->stamp++;
    b->touched = false;
    for (uint32_t lanes = w->mask; lanes != 0; lanes &= lanes - 1)
        b->fenced[thread_of(w, (unsigned)__builtin_ctz(lanes))] = b->last_fence;
    /* A fence in a loop that waits, with nothing to order, must not use the clock up. */
    if (device && b->last_fence != b->device_fenced_at) {
        b->device_fenced_at = b->last_fence;
        b->grid_fenced = __atomic_fetch_add(&b->grid->clock, 1, __ATOMIC_SEQ_CST);
    }
}

static void raise_shared(uint32_t *value, uint32_t to)
{
    *value = to > *value ? to : *value;
}

void race_publish(warp *w, unsigned lane, uint64_t address)
{
    block *b = w->block;
    if (is_shared(address)) {
        raise_shared(&b->flags[flag_slot(address, FLAG_SLOTS)], b->fenced[thread_of(w, lane)]);
        return;
    }
    uint32_t *slot = &b->grid->memory->released[flag_slot(address, FLAG_TABLE)];
    uint32_t old = __atomic_load_n(slot, __ATOMIC_RELAXED);
    while (old < b->grid_fenced && !__atomic_compare_exchange_n(slot, &old, b->grid_fenced, true,
                                                                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
}

void race_take(warp *w, unsigned lane, uint64_t address)
{
    block *b = w->block;
    if (is_shared(address)) {
        raise_shared(&b->seen[thread_of(w, lane)], b->flags[flag_slot(address, FLAG_SLOTS)]);
        return;
    }
    const uint32_t *slot = &b->grid->memory->released[flag_slot(address, FLAG_TABLE)];
    raise_shared(&b->grid_seen, __atomic_load_n(slot, __ATOMIC_SEQ_CST));
}

void race_joined(warp *w, uint32_t lanes)
{
    block *b = w->block;
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        b->warp_seen[thread_of(w, (unsigned)__builtin_ctz(left))] = b->stamp;
    b->stamp++;
}

void race_passed(warp *w, uint32_t lanes)
{
    block *b = w->block;
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        b->seen[thread_of(w, (unsigned)__builtin_ctz(left))] = b->stamp;
}

void race_advance(block *b)
{
    b->stamp++;
}
