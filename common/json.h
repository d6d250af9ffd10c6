/* json - the one strict document model (jansson inside, nowhere else)
 *
 * Purpose:   build, parse, dump and read JSON; YAML comes in through common/yaml.h as the same model.
 *            Reading goes by the cursors of common/json_doc.h, whose complaints say where.
 * Ownership: json * is owned by whoever made it until it is put into a parent (setters that take
 *            json ** consume and null). Getters borrow.
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

/* jansson exports these names too, and both are linked into one program. */
#define json_copy  ce_json_copy
#define json_equal ce_json_equal
#define json_real  ce_json_real

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
/* json_quote appends text as a JSON string, quotes included; invalid UTF-8 and NUL become U+FFFD. */
struct buf;
void json_quote(struct buf *out, const char *text, size_t size);
/* json_number appends the shortest decimal that reads back as the same double, always as a real; null for
 * NaN and ±Inf. */
void json_number(struct buf *out, double value);

/* ---- look (no complaint) ---- */
json_type json_typeof(const json *value); /* NULL counts as null */
const char *json_type_name(json_type type);
size_t json_size(const json *value); /* members of an object or array, else 0 */
const json *json_get(const json *object, const char *key); /* NULL when absent or no object */
const json *json_at(const json *array, size_t index);      /* NULL when absent or no array */
const char *json_key_at(const json *object, size_t index); /* insertion order; NULL past the end */
/* json_next steps through the members in insertion order: `for (json_iter it = {0}; json_next(o, &it);)`.
 * False at the end, and when `object` is none. */
typedef struct json_iter {
    void *at; /* NULL before the first member */
    const char *key;
    const json *value;
} json_iter;
bool json_next(const json *object, json_iter *iter);
const char *json_str(const json *value, const char *otherwise);
int64_t json_int(const json *value, int64_t otherwise);
double json_real(const json *value, double otherwise); /* ints count */
bool json_bool(const json *value, bool otherwise);
bool json_equal(const json *a, const json *b);

/* ---- parse ---- */
/* json_parse_tree reads text of `size` bytes; origin is the file name for messages. NULL on failure. */
json *json_parse_tree(const char *text, size_t size, const char *origin, err *e);

#include "common/json_doc.h" /* documents and cursors */

#endif
