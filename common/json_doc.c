/* json_doc - documents and cursors: every complaint has a place
 *
 * The tree forgets where a value stood. A parsed document keeps its text (up to KEEP_TEXT_MAX), and
 * only a complaint walks it: the cursor's path as ordinals ("member 2, element 0") leads to the value,
 * newlines before it are counted. yaml.c, whose text is no JSON, marks lines by pointer instead.
 *
 * SPDX-License-Identifier: MIT */
#include "common/json_doc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { KEEP_TEXT_MAX = 1024 * 1024, POINTER_MAX = 1024, LIST_TEXT = 160, NAME_BYTES_MAX = 63 };

typedef struct line_mark {
    char *pointer;
    int line;
} line_mark;

struct json_doc {
    json *root;
    char *origin; /* for messages; NULL when there is none */
    char *text;   /* the JSON source, or NULL */
    size_t text_size;
    line_mark *marks; /* by json_doc_mark_line */
    size_t mark_count, mark_cap;
};

static const char *shown(const char *origin)
{
    return origin == NULL ? "json" : origin;
}

json_doc *json_parse(const char *text, size_t size, const char *origin, err *e)
{
    json *root = json_parse_tree(text, size, origin, e);
    if (root == NULL)
        return NULL;
    json_doc *self = json_doc_of(&root, origin);
    if (size <= KEEP_TEXT_MAX) {
        self->text = xmemdup(text, size);
        self->text_size = size;
    }
    return self;
}

json_doc *json_load(const char *path, err *e)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, JSON_SIZE_MAX);
    if (file_read(path, &text, e) < 0)
        return NULL;
    return json_parse(buf_text(&text), text.size, path, e);
}

json_doc *json_doc_of(json **root, const char *origin)
{
    json_doc *self = xcalloc(1, sizeof *self);
    self->root = TAKE(*root);
    self->origin = origin == NULL ? NULL : xstrdup(origin);
    return self;
}

void json_doc_destroy(json_doc **self)
{
    json_doc *doc = TAKE(*self);
    if (doc == NULL)
        return;
    json_destroy(&doc->root);
    for (size_t i = 0; i < doc->mark_count; i++)
        free(doc->marks[i].pointer);
    free(doc->marks);
    free(doc->text);
    free(doc->origin);
    free(doc);
}

const json *json_doc_root(const json_doc *self)
{
    return self->root;
}

json *json_doc_take(json_doc *self)
{
    return TAKE(self->root);
}

void json_doc_put(json_doc *self, json **root)
{
    assert(self->root == NULL);
    self->root = TAKE(*root);
}

void json_doc_mark_line(json_doc *self, const char *pointer, int line)
{
    if (self->mark_count == self->mark_cap) {
        self->mark_cap = self->mark_cap == 0 ? 64 : 2 * self->mark_cap;
        self->marks = xreallocarray(self->marks, self->mark_cap, sizeof *self->marks);
    }
    self->marks[self->mark_count++] = (line_mark){xstrdup(pointer), line};
}

/* ---- lines ---- */

static size_t skip_space(const char *text, size_t size, size_t at)
{
    while (at < size && strchr(" \t\r\n", text[at]) != NULL)
        at++;
    return at;
}

/* skip_value is behind the value at `at`; the text is known to be valid JSON. */
static size_t skip_value(const char *text, size_t size, size_t at)
{
    int depth = 0;
    bool quoted = false;
    for (; at < size; at++) {
        char c = text[at];
        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && depth == 0 && strchr(",]}:", c) != NULL)
            return at;
        else if (!quoted && (c == ']' || c == '}'))
            depth--;
    }
    return at;
}

/* child_at is where child number `ordinal` of the container at `at` begins. */
static size_t child_at(const char *text, size_t size, size_t at, size_t ordinal)
{
    bool object = at < size && text[at] == '{';
    at = skip_space(text, size, at + 1);
    for (size_t i = 0;; i++) {
        if (object)
            at = skip_value(text, size, at) + 1;
        at = skip_space(text, size, at);
        if (i == ordinal || at >= size)
            return at;
        at = skip_space(text, size, skip_value(text, size, at) + 1);
    }
}

static size_t ordinal_of(const json_cursor *c)
{
    if (c->key == NULL)
        return c->index;
    size_t ordinal = 0;
    for (json_iter it = {0}; json_next(c->up->value, &it) && strcmp(it.key, c->key) != 0;)
        ordinal++;
    return ordinal;
}

static size_t place_of(const json_cursor *c)
{
    const json_doc *doc = c->doc;
    if (c->up == NULL)
        return skip_space(doc->text, doc->text_size, 0);
    return child_at(doc->text, doc->text_size, place_of(c->up), ordinal_of(c));
}

static int line_in_text(const json_cursor *c)
{
    size_t place = place_of(c);
    int line = 1;
    for (size_t i = 0; i < place && i < c->doc->text_size; i++)
        line += c->doc->text[i] == '\n';
    return line;
}

/* line_of is 0 when nobody knows. */
static int line_of(const json_cursor *c, const char *pointer)
{
    if (c->doc == NULL)
        return 0;
    if (c->doc->text != NULL)
        return line_in_text(c);
    for (size_t i = c->doc->mark_count; i > 0; i--)
        if (strcmp(c->doc->marks[i - 1].pointer, pointer) == 0)
            return c->doc->marks[i - 1].line;
    return 0;
}

/* ---- cursors ---- */

json_cursor json_root(const json_doc *doc)
{
    return (json_cursor){.doc = doc, .value = doc->root};
}

static void add_key(buf *out, const char *key)
{
    for (; *key != '\0'; key++) {
        if (*key == '~')
            buf_puts(out, "~0");
        else if (*key == '/')
            buf_puts(out, "~1");
        else
            buf_add(out, key, 1);
    }
}

static void add_pointer(buf *out, const json_cursor *c)
{
    if (c->up == NULL)
        return;
    add_pointer(out, c->up);
    buf_puts(out, "/");
    if (c->key != NULL)
        add_key(out, c->key);
    else
        buf_printf(out, "%zu", c->index);
}

void json_pointer(const json_cursor *c, char *out, size_t size)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, JSON_SIZE_MAX);
    add_pointer(&text, c);
    snprintf(out, size, "%s", buf_text(&text));
}

int json_fail(const json_cursor *c, err *e, const char *format, ...)
{
    char message[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    char pointer[POINTER_MAX];
    json_pointer(c, pointer, sizeof pointer);
    char place[16] = "";
    int line = line_of(c, pointer);
    if (line > 0)
        snprintf(place, sizeof place, ":%d", line);
    const char *origin = c->doc == NULL ? NULL : c->doc->origin;
    if (pointer[0] == '\0')
        return err_set(e, ERR_CONFIG, "%s%s: %s", shown(origin), place, message);
    return err_set(e, ERR_CONFIG, "%s%s: %s: %s", shown(origin), place, pointer, message);
}

static int want(const json_cursor *c, json_type type, const char *expected, err *e)
{
    json_type found = json_typeof(c->value);
    if (found == type)
        return 0;
    return json_fail(c, e, "expected %s, found %s", expected, json_type_name(found));
}

static bool listed(const char *key, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

static void join(char *out, size_t size, const char *const *words)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; words[i] != NULL && used < size; i++) {
        int length = snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", words[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
}

int json_only_keys(const json_cursor *c, const char *const *keys, err *e)
{
    if (want(c, JSON_TYPE_OBJECT, "an object", e) < 0)
        return -1;
    for (json_iter it = {0}; json_next(c->value, &it);) {
        json_cursor member = {.doc = c->doc, .up = c, .value = it.value, .key = it.key};
        if (listed(member.key, keys))
            continue;
        const char *near = str_nearest(member.key, keys);
        if (near != NULL)
            return json_fail(&member, e, "unknown key (did you mean \"%s\"?)", near);
        char known[LIST_TEXT];
        join(known, sizeof known, keys);
        return json_fail(&member, e, "unknown key (known: %s)", known);
    }
    return 0;
}

bool json_maybe(const json_cursor *c, const char *key, json_cursor *out)
{
    const json *value = json_get(c->value, key);
    if (value == NULL)
        return false;
    *out = (json_cursor){.doc = c->doc, .up = c, .value = value, .key = key};
    return true;
}

int json_member(const json_cursor *c, const char *key, json_cursor *out, err *e)
{
    if (want(c, JSON_TYPE_OBJECT, "an object", e) < 0)
        return -1;
    if (json_maybe(c, key, out))
        return 0;
    return json_fail(c, e, "\"%s\" is missing", key);
}

void json_element(const json_cursor *c, size_t i, json_cursor *out)
{
    const json *value = json_at(c->value, i);
    assert(value != NULL);
    *out = (json_cursor){.doc = c->doc, .up = c, .value = value, .index = i};
}

void json_entry(const json_cursor *c, size_t i, json_cursor *out)
{
    json_iter it = {0};
    bool there = json_next(c->value, &it);
    for (; there && i > 0; i--)
        there = json_next(c->value, &it);
    assert(there);
    *out = (json_cursor){.doc = c->doc, .up = c, .value = it.value, .key = it.key};
}

static int want_container(const json_cursor *c, size_t max, size_t *n, err *e)
{
    size_t size = json_size(c->value);
    if (size > max)
        return json_fail(c, e, "has %zu entries; the maximum is %zu", size, max);
    *n = size;
    return 0;
}

int json_want_object(const json_cursor *c, size_t max, size_t *n, err *e)
{
    return want(c, JSON_TYPE_OBJECT, "an object", e) < 0 ? -1 : want_container(c, max, n, e);
}

int json_want_array(const json_cursor *c, size_t max, size_t *n, err *e)
{
    return want(c, JSON_TYPE_ARRAY, "an array", e) < 0 ? -1 : want_container(c, max, n, e);
}

int json_want_str(const json_cursor *c, const char **out, err *e)
{
    if (want(c, JSON_TYPE_STRING, "a string", e) < 0)
        return -1;
    *out = json_str(c->value, "");
    return 0;
}

int json_want_int(const json_cursor *c, int64_t min, int64_t max, int64_t *out, err *e)
{
    if (want(c, JSON_TYPE_INT, "an integer", e) < 0)
        return -1;
    int64_t value = json_int(c->value, 0);
    if (value < min || value > max)
        return json_fail(c, e, "%lld is outside %lld..%lld", (long long)value, (long long)min,
                         (long long)max);
    *out = value;
    return 0;
}

int json_want_real(const json_cursor *c, double *out, err *e)
{
    if (json_typeof(c->value) != JSON_TYPE_INT && want(c, JSON_TYPE_REAL, "a number", e) < 0)
        return -1;
    *out = json_real(c->value, 0);
    return 0;
}

int json_want_bool(const json_cursor *c, bool *out, err *e)
{
    if (want(c, JSON_TYPE_BOOL, "true or false", e) < 0)
        return -1;
    *out = json_bool(c->value, false);
    return 0;
}

int json_maybe_text(const json_cursor *c, const char *key, char *out, size_t size, err *e)
{
    json_cursor member;
    const char *text = NULL;
    if (!json_maybe(c, key, &member)) {
        return 0;
    }
    if (json_want_str(&member, &text, e) != 0) {
        return -1;
    }
    if (strlen(text) >= size) {
        return json_fail(&member, e, "longer than %zu bytes", size - 1);
    }
    snprintf(out, size, "%s", text);
    return 0;
}

int json_want_name(const json_cursor *c, const char **out, err *e)
{
    const char *text = NULL;
    if (json_want_str(c, &text, e) < 0)
        return -1;
    if (!str_is_name(text, NAME_BYTES_MAX))
        return json_fail(c, e,
                         "\"%.64s\" is no name (letters, digits, '_'; at most %d, no digit first)",
                         text, NAME_BYTES_MAX);
    *out = text;
    return 0;
}

int json_want_choice(const json_cursor *c, const char *const *choices, int *out, err *e)
{
    const char *text = NULL;
    if (json_want_str(c, &text, e) < 0)
        return -1;
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *out = i;
            return 0;
        }
    }
    char known[LIST_TEXT];
    join(known, sizeof known, choices);
    return json_fail(c, e, "\"%.48s\" is none of: %s", text, known);
}
