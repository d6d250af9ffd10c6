/* intern - texts that many rows share, kept once
 *
 * Copies lie in blocks; an open hash table with twice as many slots as texts finds them.
 *
 * SPDX-License-Identifier: MIT */
#include "common/intern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { BLOCK_SIZE = 256 * 1024, SLOTS = 2 * INTERN_TEXTS_MAX };

typedef struct block {
    struct block *next;
    size_t used, size;
    char bytes[];
} block;

struct intern {
    block *blocks; /* the newest first */
    const char *slots[SLOTS];
    size_t count; /* texts in slots */
};

intern *intern_create(void)
{
    return xcalloc(1, sizeof(intern));
}

void intern_destroy(intern **self)
{
    if (*self == NULL)
        return;
    for (block *b = (*self)->blocks; b != NULL;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(*self);
    *self = NULL;
}

/* A piece larger than a block gets a block of its own, behind the one that is being filled. */
static block *room_for(intern *self, size_t size)
{
    block *first = self->blocks;
    if (first != NULL && size <= first->size - first->used)
        return first;
    size_t wanted = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    block *fresh = xmalloc(sizeof *fresh + wanted);
    fresh->used = 0;
    fresh->size = wanted;
    bool behind = first != NULL && size > BLOCK_SIZE;
    fresh->next = behind ? first->next : first;
    if (behind)
        first->next = fresh;
    else
        self->blocks = fresh;
    return fresh;
}

const void *intern_keep(intern *self, const void *data, size_t size)
{
    block *b = room_for(self, size);
    char *copy = b->bytes + b->used;
    memcpy(copy, data, size);
    b->used += size;
    return copy;
}

static size_t slot_of(const intern *self, const char *text)
{
    uint64_t h = 14695981039346656037ULL; /* FNV-1a */
    for (const char *p = text; *p != '\0'; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211ULL;
    size_t slot = (size_t)((h ^ (h >> 32)) % SLOTS);
    while (self->slots[slot] != NULL && strcmp(self->slots[slot], text) != 0)
        slot = (slot + 1) % SLOTS;
    return slot;
}

const char *intern_text(intern *self, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t slot = slot_of(self, text);
    if (self->slots[slot] != NULL)
        return self->slots[slot];
    const char *copy = intern_keep(self, text, strlen(text) + 1);
    if (self->count < INTERN_TEXTS_MAX) {
        self->slots[slot] = copy;
        self->count++;
    }
    return copy;
}
