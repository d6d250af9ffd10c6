/* json - the one strict document model (jansson inside, nowhere else)
 *
 * Purpose:   build, parse, dump and read JSON; YAML comes in through common/yaml.h as the same model.
 *            Reading goes by cursors, which know their JSON pointer, file and line, so every
 *            complaint says where: "problem.yaml:12: /inputs/0/dtype: …".
 * Ownership: json * is owned by whoever made it until it is put into a parent (setters that take
 *            json ** consume and null). Getters borrow. A json_doc owns its tree.
 * Threads:   one owner; concurrent reads of one tree are fine.
 * Errors:    ERR_CONFIG with place and reason. Parsing is strict: whole input, UTF-8, no duplicate
 *            keys, depth ≤ JSON_DEPTH_MAX, size ≤ JSON_SIZE_MAX.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_JSON_H
#define CE_COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { JSON_DEPTH_MAX = 64, JSON_SIZE_MAX = 64 * 1024 * 1024 };

typedef struct json json;

typedef enum json_type {
    JSON_TYPE_NULL,
    JSON_TYPE_BOOL,
    JSON_TYPE_INT,
    JSON_TYPE_REAL,
    JSON_TYPE_STRING,
    JSON_TYPE_ARRAY,
    JSON_TYPE_OBJECT
} json_type;

/* ---- build ---- */
json *json_new_object(void);
json *json_new_array(void);
json *json_new_null(void);
json *json_new_bool(bool value);
json *json_new_int(int64_t value);
json *json_new_real(double value); /* NaN and ±Inf become null: a failed number is never a number */
json *json_new_str(const char *text); /* NULL becomes null; invalid UTF-8 bytes become U+FFFD */
json *json_new_strn(const char *text, size_t size);
json *json_copy(const json *value); /* deep */
void json_destroy(json **self);

void json_set(json *object, const char *key, json **value); /* consumes value */
void json_set_str(json *object, const char *key, const char *text);
void json_set_int(json *object, const char *key, int64_t value);
void json_set_real(json *object, const char *key, double value);
void json_set_bool(json *object, const char *key, bool value);
void json_set_null(json *object, const char *key);
void json_remove(json *object, const char *key);
void json_append(json *array, json **value); /* consumes value */

/* ---- dump ---- */
/* json_dump: one line, keys sorted: the canonical form that hashes are taken of. Caller frees. */
char *json_dump(const json *value);
/* json_dump_pretty: indented by 2, keys in insertion order, ends in '\n'. Caller frees. */
char *json_dump_pretty(const json *value);

/* ---- look (no complaint) ---- */
json_type json_typeof(const json *value); /* NULL counts as null */
const char *json_type_name(json_type type);
size_t json_size(const json *value); /* members of an object or array, else 0 */
const json *json_get(const json *object, const char *key); /* NULL when absent or no object */
const json *json_at(const json *array, size_t index);      /* NULL when absent or no array */
const char *json_key_at(const json *object, size_t index); /* insertion order; NULL past the end */
const char *json_str(const json *value, const char *otherwise);
int64_t json_int(const json *value, int64_t otherwise);
double json_real(const json *value, double otherwise); /* ints count */
bool json_bool(const json *value, bool otherwise);
bool json_equal(const json *a, const json *b);

/* ---- documents and cursors (every complaint has a place) ---- */
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
/* json_want_name: a string of the form [A-Za-z_][A-Za-z0-9_]*, at most 63 bytes. */
int json_want_name(const json_cursor *c, const char **out, err *e);
/* json_want_choice: one of a NULL-ended list; *out is its index. The message lists the choices. */
int json_want_choice(const json_cursor *c, const char *const *choices, int *out, err *e);

#endif
