/* names - what a name means in which brace
 *
 * Two open-addressing tables: texts, and (scope, kind of entry, text) → meaning. Scopes are never reused,
 * so an entry needs no removal when its scope closes; the parent chain decides what is visible.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/names.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { START = 1024, TEXTS_MAX = 8 * 1024 * 1024, ENTRIES_MAX = 8 * 1024 * 1024 };

/* Labels may share a name with a variable of an outer brace, ranges with a whole name. */
typedef enum entry_space { ENTRY_WHOLE, ENTRY_LABEL, ENTRY_RANGE } entry_space;

typedef struct text_slot {
    const char *text; /* NULL: free */
    size_t size;
    uint64_t hash;
} text_slot;

typedef struct entry {
    const char *name; /* interned; NULL: free */
    uint32_t scope;
    entry_space space;
    size_t count; /* of a range */
    name_meaning meaning;
} entry;

struct names {
    arena *memory;
    text_slot *texts;
    size_t text_cap, text_count;
    entry *entries;
    size_t entry_cap, entry_count;
    uint32_t *parents; /* of each scope */
    size_t scope_count, scope_cap;
    uint32_t current;
    size_t depth;
};

names *names_create(arena *memory)
{
    names *self = xcalloc(1, sizeof *self);
    self->memory = memory;
    self->text_cap = START;
    self->texts = xcalloc(START, sizeof *self->texts);
    self->entry_cap = START;
    self->entries = xcalloc(START, sizeof *self->entries);
    self->scope_cap = 64;
    self->parents = xcalloc(self->scope_cap, sizeof *self->parents);
    self->scope_count = 1;
    return self;
}

void names_destroy(names **self)
{
    if (*self == NULL)
        return;
    free((*self)->texts);
    free((*self)->entries);
    free((*self)->parents);
    free(*self);
    *self = NULL;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

static uint64_t text_hash(const char *text, size_t size)
{
    uint64_t h = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
    return mix(h);
}

static text_slot *text_find(text_slot *texts, size_t cap, uint64_t h, const char *text, size_t size)
{
    for (size_t i = h & (cap - 1);; i = (i + 1) & (cap - 1)) {
        text_slot *slot = &texts[i];
        if (slot->text == NULL ||
            (slot->hash == h && slot->size == size && memcmp(slot->text, text, size) == 0))
            return slot;
    }
}

static void grow_texts(names *self)
{
    size_t cap = self->text_cap * 2;
    text_slot *texts = xcalloc(cap, sizeof *texts);
    for (size_t i = 0; i < self->text_cap; i++) {
        text_slot *old = &self->texts[i];
        if (old->text != NULL)
            *text_find(texts, cap, old->hash, old->text, old->size) = *old;
    }
    free(self->texts);
    self->texts = texts;
    self->text_cap = cap;
}

const char *names_intern(names *self, const char *text, size_t size)
{
    uint64_t h = text_hash(text, size);
    text_slot *slot = text_find(self->texts, self->text_cap, h, text, size);
    if (slot->text != NULL)
        return slot->text;
    if (self->text_count >= TEXTS_MAX)
        return NULL;
    const char *copy = arena_text(self->memory, text, size);
    if (copy == NULL)
        return NULL;
    *slot = (text_slot){copy, size, h};
    if (++self->text_count > self->text_cap / 2)
        grow_texts(self);
    return copy;
}

uint32_t names_open(names *self)
{
    if (self->scope_count == self->scope_cap) {
        self->scope_cap *= 2;
        self->parents = xreallocarray(self->parents, self->scope_cap, sizeof *self->parents);
    }
    uint32_t scope = (uint32_t)self->scope_count++;
    self->parents[scope] = self->current;
    self->current = scope;
    self->depth++;
    return scope;
}

void names_close(names *self)
{
    self->current = self->parents[self->current];
    self->depth--;
}

uint32_t names_scope(const names *self)
{
    return self->current;
}

size_t names_depth(const names *self)
{
    return self->depth;
}

static entry *entry_find(entry *entries, size_t cap, uint32_t scope, entry_space space,
                         const char *name)
{
    uint64_t h = mix((uint64_t)(uintptr_t)name ^ (uint64_t)scope << 34 ^ (uint64_t)space << 62);
    for (size_t i = h & (cap - 1);; i = (i + 1) & (cap - 1)) {
        entry *slot = &entries[i];
        if (slot->name == NULL ||
            (slot->name == name && slot->scope == scope && slot->space == space))
            return slot;
    }
}

static void grow_entries(names *self)
{
    size_t cap = self->entry_cap * 2;
    entry *entries = xcalloc(cap, sizeof *entries);
    for (size_t i = 0; i < self->entry_cap; i++) {
        entry *old = &self->entries[i];
        if (old->name != NULL)
            *entry_find(entries, cap, old->scope, old->space, old->name) = *old;
    }
    free(self->entries);
    self->entries = entries;
    self->entry_cap = cap;
}

static bool add(names *self, uint32_t scope, entry_space space, const char *name, size_t count,
                name_meaning meaning)
{
    entry *slot = entry_find(self->entries, self->entry_cap, scope, space, name);
    if (slot->name != NULL || self->entry_count >= ENTRIES_MAX)
        return false;
    *slot = (entry){name, scope, space, count, meaning};
    if (++self->entry_count > self->entry_cap / 2)
        grow_entries(self);
    return true;
}

static bool is_label(name_kind kind)
{
    return kind == NAME_LABEL || kind == NAME_TABLE;
}

bool names_add(names *self, const char *name, name_meaning meaning)
{
    entry_space space = is_label(meaning.kind) ? ENTRY_LABEL : ENTRY_WHOLE;
    return add(self, self->current, space, name, 0, meaning);
}

bool names_add_global(names *self, const char *name, name_meaning meaning)
{
    return add(self, 0, ENTRY_WHOLE, name, 0, meaning);
}

bool names_add_range(names *self, const char *prefix, size_t first, size_t count)
{
    name_meaning meaning = {.kind = NAME_REGISTER, .index = first};
    return add(self, self->current, ENTRY_RANGE, prefix, count, meaning);
}

/* split_number splits "%r12" into "%r" (interned, NULL when never seen) and 12. */
static bool split_number(const names *self, const char *name, const char **prefix, size_t *number)
{
    size_t size = strlen(name);
    size_t at = size;
    while (at > 1 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (at == size || size - at > 8 || (name[at] == '0' && size - at > 1))
        return false;
    size_t value = 0;
    for (size_t i = at; i < size; i++)
        value = value * 10 + (size_t)(name[i] - '0');
    const text_slot *slot = text_find(self->texts, self->text_cap, text_hash(name, at), name, at);
    *prefix = slot->text;
    *number = value;
    return slot->text != NULL;
}

bool names_find(const names *self, uint32_t scope, const char *name, name_meaning *out)
{
    const char *prefix = NULL;
    size_t number = 0;
    bool numbered = split_number(self, name, &prefix, &number);
    for (;; scope = self->parents[scope]) {
        const entry *whole = entry_find(self->entries, self->entry_cap, scope, ENTRY_WHOLE, name);
        if (whole->name != NULL) {
            *out = whole->meaning;
            return true;
        }
        const entry *range =
            numbered ? entry_find(self->entries, self->entry_cap, scope, ENTRY_RANGE, prefix)
                     : NULL;
        if (range != NULL && range->name != NULL && number < range->count) {
            *out = range->meaning;
            out->index += number;
            return true;
        }
        if (scope == 0)
            return false;
    }
}

bool names_find_label(const names *self, uint32_t scope, const char *name, name_meaning *out)
{
    for (;; scope = self->parents[scope]) {
        const entry *found = entry_find(self->entries, self->entry_cap, scope, ENTRY_LABEL, name);
        if (found->name != NULL) {
            *out = found->meaning;
            return true;
        }
        if (scope == 0)
            return false;
    }
}
