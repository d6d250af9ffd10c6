/* memory - see memory.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { NEAR_BYTES = 1 << 20 };

#define MARKS_BYTES (sizeof(mark) << MARK_SLOTS_BITS)

emu_memory *emu_memory_create(void)
{
    return xcalloc(1, sizeof(emu_memory));
}

void emu_memory_destroy(emu_memory **self)
{
    emu_memory *m = TAKE(*self);
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->count; i++)
        free(m->regions[i].bits);
    if (m->marks != NULL)
        munmap(m->marks, MARKS_BYTES);
    free(m->regions);
    free(m);
}

/* The number of regions that start at or before the address. */
static size_t rank(const emu_memory *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->regions[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t granule_shift(uint32_t element)
{
    return element % 4 == 0 ? 2 : element % 2 == 0 ? 1 : 0;
}

int emu_memory_add(emu_memory *self, const emu_buffer *buffer, err *e)
{
    const size_t at = rank(self, buffer->base);
    const region *before = at > 0 ? &self->regions[at - 1] : NULL;
    const region *after = at < self->count ? &self->regions[at] : NULL;
    uint64_t end = 0;
    if (__builtin_add_overflow(buffer->base, buffer->bytes, &end))
        return err_set(e, ERR_USAGE, "buffer %s does not fit into memory", buffer->name);
    if ((before != NULL && before->base + before->bytes > buffer->base) ||
        (after != NULL && end > after->base))
        return err_set(e, ERR_USAGE, "buffer %s overlaps another one", buffer->name);
    if (self->count == self->cap) {
        self->cap = self->cap == 0 ? 16 : 2 * self->cap;
        self->regions = xreallocarray(self->regions, self->cap, sizeof *self->regions);
    }
    memmove(&self->regions[at + 1], &self->regions[at], (self->count - at) * sizeof *self->regions);
    self->count++;
    region *r = &self->regions[at];
    const uint32_t element = buffer->element != 0 ? buffer->element : 1;
    *r = (region){.base = buffer->base,
                  .bytes = buffer->bytes,
                  .element = element,
                  .granule_shift = granule_shift(element),
                  .is_input = buffer->is_input,
                  /* 16 more: words are read at once, from any byte on */
                  .bits = buffer->is_initialised ? NULL : xcalloc(buffer->bytes / 8 + 16, 1)};
    snprintf(r->name, sizeof r->name, "%s", buffer->name);
    return 0;
}

bool emu_memory_remove(emu_memory *self, uint64_t base)
{
    const size_t at = rank(self, base);
    if (at == 0 || self->regions[at - 1].base != base)
        return false;
    free(self->regions[at - 1].bits);
    memmove(&self->regions[at - 1], &self->regions[at], (self->count - at) * sizeof *self->regions);
    self->count--;
    return true;
}

static void clear_bits(const region *r, uint64_t offset, uint64_t bytes)
{
    for (uint64_t i = offset; i < offset + bytes; i++)
        r->bits[i / 8] &= (uint8_t) ~(1u << (i % 8));
}

void emu_memory_mark(emu_memory *self, uint64_t at, uint64_t bytes, bool is_initialised)
{
    const region *found = memory_find(self, at);
    if (found == NULL)
        return;
    region *r = &self->regions[found - self->regions];
    const uint64_t offset = at - r->base;
    const uint64_t length = bytes < r->bytes - offset ? bytes : r->bytes - offset;
    if (r->bits == NULL) {
        if (is_initialised)
            return;
        r->bits = xcalloc(r->bytes / 8 + 16, 1);
        memset(r->bits, 0xff, r->bytes / 8 + 1);
    }
    if (is_initialised)
        region_bits_set(r, offset, length);
    else
        clear_bits(r, offset, length);
}

const region *memory_find(const emu_memory *self, uint64_t address)
{
    const size_t at = rank(self, address);
    if (at == 0 || address - self->regions[at - 1].base >= self->regions[at - 1].bytes)
        return NULL;
    return &self->regions[at - 1];
}

const region *memory_near(const emu_memory *self, uint64_t address)
{
    const size_t at = rank(self, address);
    uint64_t best = NEAR_BYTES;
    const region *found = NULL;
    if (at > 0) {
        const region *before = &self->regions[at - 1];
        const uint64_t end = before->base + before->bytes;
        const uint64_t distance = address >= end ? address - end : 0;
        if (distance < best) {
            best = distance;
            found = before;
        }
    }
    if (at < self->count && self->regions[at].base - address < best)
        found = &self->regions[at];
    return found;
}

/* Pages that are there already: workers that meet fresh ones wait for one another in the kernel. */
static void clear_marks(emu_memory *m)
{
    if (m->marks != NULL) {
        memset(m->marks, 0, m->dirty * sizeof *m->marks);
        return;
    }
    void *fresh = mmap(NULL, MARKS_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        abort();
    m->marks = fresh;
}

void memory_begin(emu_memory *self)
{
    uint64_t next = 0;
    clear_marks(self);
    for (size_t i = 0; i < self->count; i++) {
        region *r = &self->regions[i];
        r->first_mark = next;
        if (!r->is_input)
            next += (r->bytes >> r->granule_shift) + 1;
    }
    self->dirty = next < 1u << MARK_SLOTS_BITS ? next : 1u << MARK_SLOTS_BITS;
    memset(self->released, 0, sizeof self->released);
}

/* ---- bits ---- */

static bool test_few(const uint8_t *bits, uint64_t offset, unsigned count)
{
    const uint64_t wanted = ((1ull << count) - 1) << (offset % 8);
    const uint8_t *byte = bits + offset / 8;
    for (unsigned shift = 0; wanted >> shift != 0; shift += 8) {
        const uint64_t mask = wanted >> shift & 0xff;
        if ((__atomic_load_n(byte++, __ATOMIC_RELAXED) & mask) != mask)
            return false;
    }
    return true;
}

bool region_bits_test(const region *r, uint64_t offset, uint64_t bytes)
{
    if (r->bits == NULL)
        return true;
    for (; bytes > 32; bytes -= 32, offset += 32)
        if (!test_few(r->bits, offset, 32))
            return false;
    return test_few(r->bits, offset, (unsigned)bytes);
}

/* Neighbours may set bits of the same byte at the same time. */
static void set_byte(uint8_t *byte, uint8_t bits)
{
    const uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED);
    if ((old & bits) == bits)
        return;
    if (bits == 0xff)
        __atomic_store_n(byte, bits, __ATOMIC_RELAXED);
    else
        __atomic_fetch_or(byte, bits, __ATOMIC_RELAXED);
}

void region_bits_set(const region *r, uint64_t offset, uint64_t bytes)
{
    if (r->bits == NULL || bytes == 0)
        return;
    const uint64_t first = offset / 8, last = (offset + bytes - 1) / 8;
    const uint8_t head = (uint8_t)(0xffu << (offset % 8));
    const uint8_t tail = (uint8_t)(0xffu >> (7 - (offset + bytes - 1) % 8));
    if (first == last) {
        set_byte(&r->bits[first], head & tail);
        return;
    }
    set_byte(&r->bits[first], head);
    for (uint64_t i = first + 1; i < last; i++)
        set_byte(&r->bits[i], 0xff);
    set_byte(&r->bits[last], tail);
}
