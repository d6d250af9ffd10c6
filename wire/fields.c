/* fields - a struct as a table of named fields, written to and read from JSON
 *
 * Each type has one writer, one reader and one releaser, in the table at the end; nested objects and
 * lists recurse.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { FIELD_KEYS_MAX = 64 };

typedef struct field_ops {
    json *(*write)(const field *f, const void *base);
    int (*read)(const json_cursor *c, const field *f, void *base, err *e);
    void (*fini)(const field *f, void *base);         /* NULL: nothing to free */
    bool (*absent)(const field *f, const void *base); /* the key is left out; NULL: never */
} field_ops;

static const field_ops *ops_of(field_type type);

static const void *const_at(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

static void *at(void *base, size_t offset)
{
    return (char *)base + offset;
}

static json *write_text(const field *f, const void *base)
{
    return json_new_str(*(char *const *)const_at(base, f->offset));
}

static int read_text(const json_cursor *c, const field *f, void *base, err *e)
{
    const char *text = NULL;
    if (f->type == FIELD_TEXT_OR_NULL && json_typeof(c->value) == JSON_TYPE_NULL) {
        return 0;
    }
    if (json_want_str(c, &text, e) != 0) {
        return -1;
    }
    *(char **)at(base, f->offset) = xstrdup(text);
    return 0;
}

static void fini_text(const field *f, void *base)
{
    scoped_free(at(base, f->offset));
}

static json *write_int(const field *f, const void *base)
{
    return json_new_int(*(const int64_t *)const_at(base, f->offset));
}

static int read_int(const json_cursor *c, const field *f, void *base, err *e)
{
    return json_want_int(c, INT64_MIN, INT64_MAX, at(base, f->offset), e);
}

static json *write_real(const field *f, const void *base)
{
    return json_new_real(*(const double *)const_at(base, f->offset));
}

static int read_real(const json_cursor *c, const field *f, void *base, err *e)
{
    double *out = at(base, f->offset);
    if (json_typeof(c->value) == JSON_TYPE_NULL) {
        *out = (double)NAN;
        return 0;
    }
    return json_want_real(c, out, e);
}

static json *write_bool(const field *f, const void *base)
{
    return json_new_bool(*(const bool *)const_at(base, f->offset));
}

static int read_bool(const json_cursor *c, const field *f, void *base, err *e)
{
    return json_want_bool(c, at(base, f->offset), e);
}

static json *write_hash(const field *f, const void *base)
{
    const hash *value = const_at(base, f->offset);
    char hex[HASH_HEX];
    if (hash_is_zero(value)) {
        return json_new_null();
    }
    hash_hex(value, hex);
    return json_new_str(hex);
}

static int read_hash(const json_cursor *c, const field *f, void *base, err *e)
{
    const char *hex = NULL;
    if (json_typeof(c->value) == JSON_TYPE_NULL) {
        return 0;
    }
    if (json_want_str(c, &hex, e) != 0) {
        return -1;
    }
    return hash_parse(hex, at(base, f->offset))
               ? 0
               : json_fail(c, e, "want a content hash: 64 lower-case hex digits");
}

static json *write_outcome(const field *f, const void *base)
{
    return json_new_str(outcome_name(*(const outcome *)const_at(base, f->offset)));
}

static int read_outcome(const json_cursor *c, const field *f, void *base, err *e)
{
    const char *name = NULL;
    if (json_want_str(c, &name, e) != 0) {
        return -1;
    }
    return outcome_parse(name, at(base, f->offset)) ? 0 : json_fail(c, e, "no outcome '%s'", name);
}

static json *write_object(const field *f, const void *base)
{
    return fields_write(f->inner, base);
}

static bool is_optional(const field *f)
{
    return ops_of(f->type)->absent != NULL;
}

static bool is_absent(const field *f, const void *base)
{
    return is_optional(f) && ops_of(f->type)->absent(f, base);
}

static bool no_text(const field *f, const void *base)
{
    return *(char *const *)const_at(base, f->offset) == NULL;
}

static bool no_int(const field *f, const void *base)
{
    return *(const int64_t *)const_at(base, f->offset) == 0;
}

static bool no_real(const field *f, const void *base)
{
    return *(const double *)const_at(base, f->offset) == 0;
}

static bool never(const field *f, const void *base)
{
    (void)f;
    (void)base;
    return false;
}

static bool no_list(const field *f, const void *base)
{
    return *(const size_t *)const_at(base, f->count_offset) == 0;
}

/* Reads the members of one object; base is already zeroed. */
static int read_members(const json_cursor *c, const field *table, void *base, err *e)
{
    const char *keys[FIELD_KEYS_MAX + 1] = {NULL};
    for (size_t i = 0; table[i].key != NULL && i < FIELD_KEYS_MAX; i++) {
        keys[i] = table[i].key;
    }
    if (json_only_keys(c, keys, e) != 0) {
        return -1;
    }
    for (const field *f = table; f->key != NULL; f++) {
        json_cursor member;
        if (is_optional(f) && !json_maybe(c, f->key, &member)) {
            continue;
        }
        if (json_member(c, f->key, &member, e) != 0 ||
            ops_of(f->type)->read(&member, f, base, e) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_object(const json_cursor *c, const field *f, void *base, err *e)
{
    return read_members(c, f->inner, base, e);
}

static void fini_object(const field *f, void *base)
{
    fields_fini(f->inner, base);
}

static json *write_list(const field *f, const void *base)
{
    const char *items = *(char *const *)const_at(base, f->offset);
    size_t count = *(const size_t *)const_at(base, f->count_offset);
    json *array = json_new_array();
    for (size_t i = 0; i < count; i++) {
        json *item = fields_write(f->inner, items + i * f->size);
        json_append(array, &item);
    }
    return array;
}

static int read_list(const json_cursor *c, const field *f, void *base, err *e)
{
    size_t count = 0;
    if (json_want_array(c, f->max, &count, e) != 0) {
        return -1;
    }
    char *items = xcalloc(count > 0 ? count : 1, f->size);
    *(char **)at(base, f->offset) = items;
    for (size_t i = 0; i < count; i++) {
        json_cursor element;
        json_element(c, i, &element);
        *(size_t *)at(base, f->count_offset) = i + 1;
        if (read_members(&element, f->inner, items + i * f->size, e) != 0) {
            return -1;
        }
    }
    return 0;
}

static void fini_list(const field *f, void *base)
{
    char **items = at(base, f->offset);
    size_t *count = at(base, f->count_offset);
    for (size_t i = 0; i < *count; i++) {
        fields_fini(f->inner, *items + i * f->size);
    }
    free(*items);
    *items = NULL;
    *count = 0;
}

json *fields_write(const field *table, const void *base)
{
    json *object = json_new_object();
    for (const field *f = table; f->key != NULL; f++) {
        if (is_absent(f, base)) {
            continue;
        }
        json *value = ops_of(f->type)->write(f, base);
        json_set(object, f->key, &value);
    }
    return object;
}

int fields_read(const json_cursor *c, const field *table, void *base, size_t base_size, err *e)
{
    memset(base, 0, base_size);
    if (read_members(c, table, base, e) != 0) {
        fields_fini(table, base);
        memset(base, 0, base_size);
        return -1;
    }
    return 0;
}

void fields_fini(const field *table, void *base)
{
    for (const field *f = table; f->key != NULL; f++) {
        const field_ops *ops = ops_of(f->type);
        if (ops->fini != NULL) {
            ops->fini(f, base);
        }
    }
}

char *fields_dump(const field *table, const void *base)
{
    SCOPED(json_destroy) json *object = fields_write(table, base);
    return json_dump(object);
}

int fields_parse(const char *text, size_t size, const char *origin, const field *table, void *base,
                 size_t base_size, err *e)
{
    memset(base, 0, base_size);
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, size, origin, e);
    if (doc == NULL) {
        return -1;
    }
    json_cursor root = json_root(doc);
    return fields_read(&root, table, base, base_size, e);
}

static const field_ops ops_table[] = {
    [FIELD_TEXT] = {write_text, read_text, fini_text, NULL},
    [FIELD_TEXT_OR_NULL] = {write_text, read_text, fini_text, NULL},
    [FIELD_TEXT_IF_ANY] = {write_text, read_text, fini_text, no_text},
    [FIELD_INT] = {write_int, read_int, NULL, NULL},
    [FIELD_INT_IF_ANY] = {write_int, read_int, NULL, no_int},
    [FIELD_REAL] = {write_real, read_real, NULL, NULL},
    [FIELD_REAL_IF_ANY] = {write_real, read_real, NULL, no_real},
    [FIELD_BOOL] = {write_bool, read_bool, NULL, NULL},
    [FIELD_BOOL_SINCE] = {write_bool, read_bool, NULL, never},
    [FIELD_HASH] = {write_hash, read_hash, NULL, NULL},
    [FIELD_OUTCOME] = {write_outcome, read_outcome, NULL, NULL},
    [FIELD_OBJECT] = {write_object, read_object, fini_object, NULL},
    [FIELD_LIST] = {write_list, read_list, fini_list, NULL},
    [FIELD_LIST_IF_ANY] = {write_list, read_list, fini_list, no_list},
};

static const field_ops *ops_of(field_type type)
{
    return &ops_table[type];
}
