/* names - what a name means in which brace
 *
 * Purpose:   interns the texts of a module and keeps, per scope, what each name was declared as.
 *            `.reg .b32 %r<54>` is one entry that answers for %r0 … %r53.
 * Ownership: interned texts live in the arena; the tables are the caller's until names_destroy.
 * Threads:   one owner.
 * Errors:    names_intern gives NULL when the arena is full; names_add says false when the name is
 *            taken in this scope or there are too many.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_NAMES_H
#define CE_PTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/ptx/arena.h"

typedef enum name_kind {
    NAME_REGISTER, /* index of a register */
    NAME_VARIABLE, /* pointer */
    NAME_FUNCTION, /* pointer */
    NAME_LABEL,    /* index of an instruction */
    NAME_TABLE     /* index of a table */
} name_kind;

typedef struct name_meaning {
    name_kind kind;
    size_t index;
    void *pointer;
} name_meaning;

typedef struct names names;

names *names_create(arena *memory);
void names_destroy(names **self);

/* names_intern: equal texts give equal pointers. */
const char *names_intern(names *self, const char *text, size_t size);

/* Scopes: number 0 is the module; names_open makes a scope inside the current one and enters it. */
uint32_t names_open(names *self);
void names_close(names *self);
uint32_t names_scope(const names *self);
size_t names_depth(const names *self);

/* names_add declares in the current scope; `name` is interned. */
bool names_add(names *self, const char *name, name_meaning meaning);
/* names_add_global declares in the module's scope. */
bool names_add_global(names *self, const char *name, name_meaning meaning);
/* names_add_range declares prefix0 … prefix(count-1) as registers first … first+count-1. */
bool names_add_range(names *self, const char *prefix, size_t first, size_t count);
/* names_find looks in the given scope, then outwards. */
bool names_find(const names *self, uint32_t scope, const char *name, name_meaning *out);
/* names_find_label is names_find that sees labels and tables only. */
bool names_find_label(const names *self, uint32_t scope, const char *name, name_meaning *out);

#endif
