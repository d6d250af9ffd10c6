/* arena - memory that is freed in one piece
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { BLOCK = 64 * 1024 };

typedef struct block {
    struct block *next;
    alignas(max_align_t) char data[];
} block;

struct arena {
    block *blocks;
    char *at;    /* free part of the newest block */
    size_t left; /* bytes free there */
    size_t used; /* of all blocks */
    size_t max;
};

arena *arena_create(size_t max_bytes)
{
    arena *self = xcalloc(1, sizeof *self);
    self->max = max_bytes;
    return self;
}

void arena_destroy(arena **self)
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

static void *from_new_block(arena *self, size_t size)
{
    size_t wanted = size > BLOCK ? size : BLOCK;
    if (wanted > self->max - self->used)
        return NULL;
    block *b = xcalloc(1, sizeof *b + wanted);
    b->next = self->blocks;
    self->blocks = b;
    self->used += wanted;
    if (wanted - size > self->left) {
        self->at = b->data + size;
        self->left = wanted - size;
    }
    return b->data;
}

void *arena_get(arena *self, size_t count, size_t size)
{
    const size_t unit = alignof(max_align_t);
    if (size != 0 && count > (SIZE_MAX - unit) / size)
        return NULL;
    size_t bytes = (count * size + unit - 1) / unit * unit;
    if (bytes == 0)
        bytes = unit;
    if (bytes > self->left)
        return from_new_block(self, bytes);
    void *out = self->at;
    self->at += bytes;
    self->left -= bytes;
    return out;
}

char *arena_text(arena *self, const char *text, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *out = arena_get(self, size + 1, 1);
    if (out != NULL && size != 0)
        memcpy(out, text, size);
    return out;
}
