/* memory - the buffers a launch may touch, with what is known of every byte
 *
 * Purpose:   finds the buffer of an address, keeps which bytes hold data (a bit a byte) and, for buffers
 *            that kernels write, who touched what last (race.h).
 * Ownership: emu_memory owns the shadow, never the data.
 * Threads:   buffers change only between launches. Bits and marks are atomic.
 * Errors:    as emulator.h.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_MEMORY_H
#define CE_EMULATOR_MEMORY_H

#include "agent-node/emulator/emulator.h"

enum {
    MARK_SLOTS_BITS = 20,
    MARK_TAG_BITS = 6,
    FLAG_TABLE = 4096 /* slots of release times; see race.h */
};

typedef struct region {
    uint64_t base, bytes;
    char name[EMU_NAME_MAX];
    uint32_t element;
    uint32_t granule_shift; /* a mark stands for 1 << granule_shift bytes */
    uint64_t first_mark;
    bool is_input;
    uint8_t *bits; /* a bit a byte that holds data; NULL: all do */
} region;

/* Who wrote, who read last: see race.h. */
typedef struct mark {
    uint64_t writer, reader;
} mark;

struct emu_memory {
    region *regions; /* by base */
    size_t count, cap;
    mark *marks;  /* 1 << MARK_SLOTS_BITS, or NULL before the first launch */
    size_t dirty; /* marks from the first on that the last launch may have left */
    uint32_t released[FLAG_TABLE];
};

/* memory_find is the region that holds the byte at `address`, or NULL. */
const region *memory_find(const emu_memory *self, uint64_t address);
/* memory_near is the region closest to an address that is in none, within 1 MiB; else NULL. */
const region *memory_near(const emu_memory *self, uint64_t address);
/* memory_begin forgets marks: a launch sees everything before it in order. */
void memory_begin(emu_memory *self);

/* region_bits_test: do all bytes hold data? */
bool region_bits_test(const region *r, uint64_t offset, uint64_t bytes);
void region_bits_set(const region *r, uint64_t offset, uint64_t bytes);

#endif
