/* json - the one strict document model (jansson inside, nowhere else)
 *
 * A json is a json_t behind a cast. jansson parses; dumping is ours, because its reals carry 17 digits
 * (0.1 would read 0.10000000000000001) and the canonical form is what hashes are taken of.
 *
 * jansson.h comes first: the names that it shares with common/json.h are used here, then hidden.
 *
 * SPDX-License-Identifier: MIT */
#define json_type jansson_type
#include <jansson.h>
#undef json_type

static inline int kind_of(const json_t *value)
{
    return (int)json_typeof(value);
}

static inline json_t *make_real(double value)
{
    return json_real(value);
}

static inline int same(const json_t *a, const json_t *b)
{
    return json_equal(a, b);
}
#undef json_typeof

#include "common/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/decimal.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { DUMP_MAX = 1024 * 1024 * 1024 };

static json_t *inner(json *value)
{
    return (json_t *)value;
}

static const json_t *inner_const(const json *value)
{
    return (const json_t *)value;
}

/* jansson's iterators take a mutable object but change nothing. */
static json_t *inner_iterable(const json *value)
{
    return (json_t *)(uintptr_t)value;
}

static json *made(json_t *value)
{
    if (value == NULL) {
        fprintf(stderr, "ce: out of memory (a JSON value wanted)\n");
        abort();
    }
    return (json *)value;
}

/* ---- build ---- */

json *json_new_object(void)
{
    return made(json_object());
}

json *json_new_array(void)
{
    return made(json_array());
}

json *json_new_null(void)
{
    return made(json_null());
}

json *json_new_bool(bool value)
{
    return made(json_boolean(value));
}

json *json_new_int(int64_t value)
{
    return made(json_integer(value));
}

json *json_new_real(double value)
{
    return isfinite(value) ? made(make_real(value)) : json_new_null();
}

/* clean is text with U+FFFD for every NUL and every byte that is no UTF-8. */
static void clean(buf *out, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t step = text[at] == '\0' ? 0 : str_utf8_step(text + at, size - at);
        if (step == 0)
            buf_puts(out, "\xef\xbf\xbd");
        else
            buf_add(out, text + at, step);
        at += step == 0 ? 1 : step;
    }
}

static bool is_clean(const char *text, size_t size)
{
    return str_utf8_valid(text, size) == size && (size == 0 || memchr(text, '\0', size) == NULL);
}

json *json_new_str(const char *text)
{
    return text == NULL ? json_new_null() : json_new_strn(text, strlen(text));
}

json *json_new_strn(const char *text, size_t size)
{
    if (is_clean(text, size))
        return made(json_stringn_nocheck(size == 0 ? "" : text, size));
    SCOPED(buf_fini) buf cleaned;
    buf_init(&cleaned, DUMP_MAX);
    clean(&cleaned, text, size);
    return made(json_stringn_nocheck(buf_text(&cleaned), cleaned.size));
}

json *json_copy(const json *value)
{
    return value == NULL ? json_new_null() : made(json_deep_copy(inner_const(value)));
}

void json_destroy(json **self)
{
    if (*self != NULL)
        json_decref(inner(*self));
    *self = NULL;
}

static void must(int rc)
{
    if (rc != 0) {
        fprintf(stderr, "ce: out of memory (growing a JSON value)\n");
        abort();
    }
}

void json_set(json *object, const char *key, json **value)
{
    assert(json_typeof(object) == JSON_TYPE_OBJECT && object != *value);
    json_t *member = inner(*value == NULL ? json_new_null() : TAKE(*value));
    size_t size = strlen(key);
    if (is_clean(key, size)) {
        must(json_object_set_new_nocheck(inner(object), key, member));
        return;
    }
    SCOPED(buf_fini) buf cleaned;
    buf_init(&cleaned, DUMP_MAX);
    clean(&cleaned, key, size);
    must(json_object_set_new_nocheck(inner(object), buf_text(&cleaned), member));
}

void json_set_str(json *object, const char *key, const char *text)
{
    json *value = json_new_str(text);
    json_set(object, key, &value);
}

void json_set_int(json *object, const char *key, int64_t value)
{
    json *member = json_new_int(value);
    json_set(object, key, &member);
}

void json_set_real(json *object, const char *key, double value)
{
    json *member = json_new_real(value);
    json_set(object, key, &member);
}

void json_set_bool(json *object, const char *key, bool value)
{
    json *member = json_new_bool(value);
    json_set(object, key, &member);
}

void json_set_null(json *object, const char *key)
{
    json *member = json_new_null();
    json_set(object, key, &member);
}

void json_remove(json *object, const char *key)
{
    json_object_del(inner(object), key);
}

void json_append(json *array, json **value)
{
    assert(json_typeof(array) == JSON_TYPE_ARRAY && array != *value);
    json_t *element = inner(*value == NULL ? json_new_null() : TAKE(*value));
    must(json_array_append_new(inner(array), element));
}

/* ---- dump ---- */

typedef struct dumper {
    buf out;
    bool pretty;
    int depth;
} dumper;

static const char *short_escape(char c)
{
    static const char letters[] = "\"\\\b\f\n\r\t";
    static const char *const escapes[] = {"\\\"", "\\\\", "\\b", "\\f", "\\n", "\\r", "\\t"};
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    return found == NULL ? NULL : escapes[found - letters];
}

/* plain_run is how many bytes at text need no escape at all. */
static size_t plain_run(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        unsigned char c = (unsigned char)text[at];
        size_t step = c < 0x20 || c == '"' || c == '\\' ? 0
                      : c < 0x80                        ? 1
                                                        : str_utf8_step(text + at, size - at);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

void json_quote(buf *out, const char *text, size_t size)
{
    buf_puts(out, "\"");
    for (size_t at = 0; at < size;) {
        size_t run = plain_run(text + at, size - at);
        buf_add(out, text + at, run);
        at += run;
        if (at == size)
            break;
        const char *escape = short_escape(text[at]);
        if (escape != NULL)
            buf_puts(out, escape);
        else if (text[at] > 0 && text[at] < 0x20)
            buf_printf(out, "\\u%04x", (unsigned)text[at]);
        else
            buf_puts(out, "\xef\xbf\xbd");
        at++;
    }
    buf_puts(out, "\"");
}

void json_number(buf *out, double value)
{
    char text[DECIMAL_TEXT];
    if (!isfinite(value)) {
        buf_puts(out, "null");
        return;
    }
    const size_t size = decimal_shortest(value, text);
    buf_add(out, text, size);
    if (strpbrk(text, ".e") == NULL)
        buf_puts(out, ".0");
}

static void new_line(dumper *d)
{
    if (d->pretty)
        buf_printf(&d->out, "\n%*s", 2 * d->depth, "");
}

static void dump_value(dumper *d, const json_t *value);

static void dump_array(dumper *d, const json_t *array)
{
    size_t count = json_array_size(array);
    buf_puts(&d->out, "[");
    d->depth++;
    for (size_t i = 0; i < count; i++) {
        buf_puts(&d->out, i > 0 ? "," : "");
        new_line(d);
        dump_value(d, json_array_get(array, i));
    }
    d->depth--;
    if (count > 0)
        new_line(d);
    buf_puts(&d->out, "]");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **keys_of(const json_t *object, bool sorted)
{
    json_t *walk = inner_iterable((const json *)object);
    const char **keys = xcalloc(json_object_size(object), sizeof *keys);
    size_t count = 0;
    for (void *it = json_object_iter(walk); it != NULL; it = json_object_iter_next(walk, it))
        keys[count++] = json_object_iter_key(it);
    if (sorted)
        qsort(keys, count, sizeof *keys, by_text);
    return keys;
}

static void dump_object(dumper *d, const json_t *object)
{
    size_t count = json_object_size(object);
    SCOPED(scoped_free) const char **keys = keys_of(object, !d->pretty);
    buf_puts(&d->out, "{");
    d->depth++;
    for (size_t i = 0; i < count; i++) {
        buf_puts(&d->out, i > 0 ? "," : "");
        new_line(d);
        json_quote(&d->out, keys[i], strlen(keys[i]));
        buf_puts(&d->out, d->pretty ? ": " : ":");
        dump_value(d, json_object_get(object, keys[i]));
    }
    d->depth--;
    if (count > 0)
        new_line(d);
    buf_puts(&d->out, "}");
}

static void dump_value(dumper *d, const json_t *value)
{
    switch (json_typeof((const json *)value)) {
    case JSON_TYPE_NULL:
        buf_puts(&d->out, "null");
        return;
    case JSON_TYPE_BOOL:
        buf_puts(&d->out, kind_of(value) == JSON_TRUE ? "true" : "false");
        return;
    case JSON_TYPE_INT:
        buf_printf(&d->out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return;
    case JSON_TYPE_REAL:
        json_number(&d->out, json_real_value(value));
        return;
    case JSON_TYPE_STRING:
        json_quote(&d->out, json_string_value(value), json_string_length(value));
        return;
    case JSON_TYPE_ARRAY:
        dump_array(d, value);
        return;
    case JSON_TYPE_OBJECT:
        dump_object(d, value);
        return;
    }
}

static char *dump(const json *value, bool pretty)
{
    dumper d = {.pretty = pretty};
    buf_init(&d.out, DUMP_MAX);
    dump_value(&d, inner_const(value));
    if (pretty)
        buf_puts(&d.out, "\n");
    if (d.out.overflow) {
        fprintf(stderr, "ce: a JSON document of more than %d bytes\n", DUMP_MAX);
        abort();
    }
    return buf_take(&d.out);
}

char *json_dump(const json *value)
{
    return dump(value, false);
}

char *json_dump_pretty(const json *value)
{
    return dump(value, true);
}

/* ---- look ---- */

json_type json_typeof(const json *value)
{
    if (value == NULL)
        return JSON_TYPE_NULL;
    switch (kind_of(inner_const(value))) {
    case JSON_OBJECT:
        return JSON_TYPE_OBJECT;
    case JSON_ARRAY:
        return JSON_TYPE_ARRAY;
    case JSON_STRING:
        return JSON_TYPE_STRING;
    case JSON_INTEGER:
        return JSON_TYPE_INT;
    case JSON_REAL:
        return JSON_TYPE_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return JSON_TYPE_BOOL;
    default:
        return JSON_TYPE_NULL;
    }
}

const char *json_type_name(json_type type)
{
    static const char *const names[] = {"null",   "bool",  "integer", "real",
                                        "string", "array", "object"};
    size_t index = (size_t)type;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

size_t json_size(const json *value)
{
    json_type type = json_typeof(value);
    if (type == JSON_TYPE_ARRAY)
        return json_array_size(inner_const(value));
    return type == JSON_TYPE_OBJECT ? json_object_size(inner_const(value)) : 0;
}

const json *json_get(const json *object, const char *key)
{
    if (json_typeof(object) != JSON_TYPE_OBJECT)
        return NULL;
    return (const json *)json_object_get(inner_const(object), key);
}

const json *json_at(const json *array, size_t index)
{
    if (json_typeof(array) != JSON_TYPE_ARRAY)
        return NULL;
    return (const json *)json_array_get(inner_const(array), index);
}

bool json_next(const json *object, json_iter *iter)
{
    if (json_typeof(object) != JSON_TYPE_OBJECT)
        return false;
    json_t *walk = inner_iterable(object);
    void *at = iter->at == NULL ? json_object_iter(walk) : json_object_iter_next(walk, iter->at);
    if (at == NULL)
        return false;
    *iter = (json_iter){at, json_object_iter_key(at), (const json *)json_object_iter_value(at)};
    return true;
}

const char *json_key_at(const json *object, size_t index)
{
    json_iter it = {0};
    for (size_t i = 0; json_next(object, &it); i++)
        if (i == index)
            return it.key;
    return NULL;
}

const char *json_str(const json *value, const char *otherwise)
{
    return json_typeof(value) == JSON_TYPE_STRING ? json_string_value(inner_const(value))
                                                  : otherwise;
}

int64_t json_int(const json *value, int64_t otherwise)
{
    return json_typeof(value) == JSON_TYPE_INT ? json_integer_value(inner_const(value)) : otherwise;
}

double json_real(const json *value, double otherwise)
{
    json_type type = json_typeof(value);
    if (type == JSON_TYPE_INT)
        return (double)json_integer_value(inner_const(value));
    return type == JSON_TYPE_REAL ? json_real_value(inner_const(value)) : otherwise;
}

bool json_bool(const json *value, bool otherwise)
{
    return json_typeof(value) == JSON_TYPE_BOOL ? kind_of(inner_const(value)) == JSON_TRUE
                                                : otherwise;
}

bool json_equal(const json *a, const json *b)
{
    if (json_typeof(a) == JSON_TYPE_NULL || json_typeof(b) == JSON_TYPE_NULL)
        return json_typeof(a) == json_typeof(b);
    return same(inner_const(a), inner_const(b)) == 1;
}

/* ---- parse ---- */

/* too_deep gives the line where nesting passes JSON_DEPTH_MAX, or 0. Strings are skipped. */
static int too_deep(const char *text, size_t size)
{
    int depth = 0;
    int line = 1;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\n')
            line++;
        else if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{') && ++depth > JSON_DEPTH_MAX)
            return line;
        else if (!quoted && (c == ']' || c == '}'))
            depth--;
    }
    return 0;
}

json *json_parse_tree(const char *text, size_t size, const char *origin, err *e)
{
    const char *place = origin == NULL ? "json" : origin;
    if (size > JSON_SIZE_MAX) {
        err_set(e, ERR_CONFIG, "%s: %zu bytes; the maximum is %d", place, size, JSON_SIZE_MAX);
        return NULL;
    }
    int line = too_deep(text, size);
    if (line > 0) {
        err_set(e, ERR_CONFIG, "%s:%d: nested more than %d deep", place, line, JSON_DEPTH_MAX);
        return NULL;
    }
    json_error_t error;
    json_t *root =
        json_loadb(size == 0 ? "" : text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root == NULL)
        err_set(e, ERR_CONFIG, "%s:%d: %s", place, error.line < 1 ? 1 : error.line, error.text);
    return (json *)root;
}
