/* arena - memory that is freed in one piece
 *
 * Purpose:   a PTX module has many small parts of one life time.
 * Ownership: parts belong to the arena.
 * Threads:   one owner.
 * Errors:    arena_get gives NULL past the maximum named at create; memory is zeroed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_ARENA_H
#define CE_PTX_ARENA_H

#include <stddef.h>

typedef struct arena arena;

arena *arena_create(size_t max_bytes);
void arena_destroy(arena **self);
/* arena_get is `count` zeroed elements, aligned for any type; never NULL below the maximum. */
void *arena_get(arena *self, size_t count, size_t size);
/* arena_text is a terminated copy. */
char *arena_text(arena *self, const char *text, size_t size);

#endif
