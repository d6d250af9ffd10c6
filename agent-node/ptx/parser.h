/* parser - what the parts of the PTX parser share
 *
 * Purpose:   the token window, the growing lists, and the error form "PTX line N: …".
 * Ownership: parser_fini frees all but the module.
 * Threads:   one owner.
 * Errors:    every function that fails has filled self->e and returns -1 (or NULL).
 *
 * Private to agent-node/ptx; others include parse.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_PARSER_H
#define CE_PTX_PARSER_H

#include "agent-node/ptx/arena.h"
#include "agent-node/ptx/module.h"
#include "agent-node/ptx/names.h"
#include "agent-node/ptx/token.h"
#include "common/err.h"

/* A growing array; items are moved into the arena when they are complete. */
typedef struct list {
    void *items;
    size_t count, cap;
    size_t size; /* of an item */
} list;

typedef struct parser {
    token_reader reader;
    token now;  /* the token to be looked at */
    token next; /* the one after */
    arena *memory;
    names *names;
    ptx_module *module;
    list variables; /* const ptx_variable * of the module */
    list functions; /* const ptx_function * */
    list files;     /* ptx_file */
    err *e;
} parser;

int parser_init(parser *self, arena *memory, const char *text, size_t size, err *e);
void parser_fini(parser *self);

int parser_fail(parser *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* parser_limit: ERR_LIMIT "PTX line N: more than … ". */
int parser_limit(parser *self, const char *what);

int parser_advance(parser *self);
bool parser_at(const parser *self, char punct);
/* parser_take: true and advanced when the token is this punctuation; false else (also on failure
 * of advancing, which the next call reports again). */
int parser_expect(parser *self, char punct);
/* parser_name takes a name and gives its interned text. */
int parser_name(parser *self, const char **out);
int parser_intern(parser *self, str text, const char **out);
/* parser_u64 takes one integer token. */
int parser_u64(parser *self, uint64_t max, uint64_t *out);
/* parser_skip_to takes tokens up to and with this punctuation. */
int parser_skip_to(parser *self, char punct);
/* parser_constant evaluates an integer constant expression (C's operators and precedence). */
int parser_constant(parser *self, int64_t *out);

void *parser_get(parser *self, size_t count, size_t size);

void list_init(list *self, size_t item_size);
void list_fini(list *self);
/* list_add appends a copy and gives its place, valid till the next list_add. */
void *list_add(list *self, const void *item);
/* list_seal copies the items into the arena; NULL with self->e set when it is full. */
void *list_seal(list *self, parser *p);

#endif
