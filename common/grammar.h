/* grammar - the form of a JSON text that a model writes, as one table
 *
 * Purpose:   one table of nodes says which members and types a text has. It gives the JSON schema that a
 *            provider binds answers to, the check of a text, and the normal form that two texts of the
 *            same meaning have in common.
 * Ownership: tables are constant; results are fresh memory.
 * Threads:   safe.
 * Errors:    grammar_check: ERR_CONFIG with the JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_GRAMMAR_H
#define CE_COMMON_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/json.h"

typedef enum grammar_kind {
    GRAMMAR_TEXT,
    GRAMMAR_NUMBER, /* a number, or text such as "1e-5" or an expression; text in a schema */
    GRAMMAR_TRUTH,  /* true or false */
    GRAMMAR_WORD,   /* one of `words` */
    GRAMMAR_LIST,   /* of `items`, min to max of them */
    GRAMMAR_OBJECT, /* of `members` */
    GRAMMAR_ANY_OF  /* one of `options` */
} grammar_kind;

enum { GRAMMAR_MEMBERS_MAX = 16 };

typedef struct grammar_node grammar_node;

typedef struct grammar_member {
    const char *key; /* NULL ends a list */
    const grammar_node *value;
    const char
        *otherwise; /* JSON text that stands for it when it is left out; NULL: it must be there */
} grammar_member;

struct grammar_node {
    grammar_kind kind;
    const char *help; /* for whoever writes the text; NULL: none */
    const char *const *words;
    const grammar_node *items;
    size_t min, max;
    const grammar_member *members;
    const grammar_node *const *options; /* NULL-ended */
};

/* grammar_schema is what providers accept in common: type, properties, items, enum, anyOf, description.
 * Every member of an object is required: a model writes all, a person may leave some out. */
json *grammar_schema(const grammar_node *node);
/* grammar_keys fills `out` with the members' keys, NULL-ended. */
void grammar_keys(const grammar_node *object, const char *out[GRAMMAR_MEMBERS_MAX + 1]);
/* grammar_check wants a value of the node, no key more. */
int grammar_check(const grammar_node *node, const json_cursor *at, err *e);
/* grammar_normal is the value with what may be left out written out and numbers as text. What does not
 * fit the grammar stays as it is. */
json *grammar_normal(const grammar_node *node, const json *value);

#endif
