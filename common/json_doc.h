/* json_doc - documents and cursors: reading JSON so that every complaint has a place
 *
 * Purpose:   a cursor knows its JSON pointer, file and line: "problem.yaml:12: /inputs/0/dtype: …".
 *            Included by common/json.h; include that.
 * Ownership: a json_doc owns its tree; cursors borrow it, and their parent cursor.
 * Threads:   one owner; concurrent reads of one document are fine.
 * Errors:    ERR_CONFIG with place and reason.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_JSON_DOC_H
#define CE_COMMON_JSON_DOC_H

#include "common/json.h"

typedef struct json_doc json_doc;

/* json_parse reads text of `size` bytes; origin is the file name for messages. NULL on failure. */
json_doc *json_parse(const char *text, size_t size, const char *origin, err *e);
/* json_load reads a file. */
json_doc *json_load(const char *path, err *e);
/* json_doc_of wraps a tree (consumes it). */
json_doc *json_doc_of(json **root, const char *origin);
void json_doc_destroy(json_doc **self);
const json *json_doc_root(const json_doc *self);
json *json_doc_take(json_doc *self); /* hands the tree over; the document is then empty */
/* json_doc_put gives an emptied document its tree (consumes it). */
void json_doc_put(json_doc *self, json **root);
/* json_doc_mark_line tells that the value at `pointer` starts on `line` (used by yaml.c). */
void json_doc_mark_line(json_doc *self, const char *pointer, int line);

typedef struct json_cursor {
    const json_doc *doc;
    const struct json_cursor *up; /* borrowed: the parent cursor must outlive this one */
    const json *value;
    const char *key; /* member name, or NULL for an element */
    size_t index;
} json_cursor;

json_cursor json_root(const json_doc *doc);

/* json_pointer writes the RFC 6901 pointer of c ("" is the root). */
void json_pointer(const json_cursor *c, char *out, size_t size);

/* json_fail sets ERR_CONFIG "origin:line: /pointer: message" and returns -1. */
int json_fail(const json_cursor *c, err *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* json_only_keys complains when c is no object or has a key that is not in the NULL-ended list. */
int json_only_keys(const json_cursor *c, const char *const *keys, err *e);
/* json_member steps to a required member; json_maybe to an optional one (false when absent). */
int json_member(const json_cursor *c, const char *key, json_cursor *out, err *e);
bool json_maybe(const json_cursor *c, const char *key, json_cursor *out);
/* json_element steps to array element i, which must exist. */
void json_element(const json_cursor *c, size_t i, json_cursor *out);
/* json_entry steps to object member number i, which must exist. */
void json_entry(const json_cursor *c, size_t i, json_cursor *out);

int json_want_object(const json_cursor *c, size_t max, size_t *n, err *e);
int json_want_array(const json_cursor *c, size_t max, size_t *n, err *e);
int json_want_str(const json_cursor *c, const char **out, err *e); /* borrowed */
int json_want_int(const json_cursor *c, int64_t min, int64_t max, int64_t *out, err *e);
int json_want_real(const json_cursor *c, double *out, err *e); /* ints count */
int json_want_bool(const json_cursor *c, bool *out, err *e);
/* json_maybe_text copies an optional member that has room for at most size - 1 bytes; absent: out stays. */
int json_maybe_text(const json_cursor *c, const char *key, char *out, size_t size, err *e);
/* json_want_name: a string of the form [A-Za-z_][A-Za-z0-9_]*, at most 63 bytes. */
int json_want_name(const json_cursor *c, const char **out, err *e);
/* json_want_choice: one of a NULL-ended list; *out is its index. The message lists the choices. */
int json_want_choice(const json_cursor *c, const char *const *choices, int *out, err *e);

#endif
