/* grammar - the form of a JSON text that a model writes, as one table
 *
 * SPDX-License-Identifier: MIT */
#include "common/grammar.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"

/* ---- the schema ---- */

static void set_text_list(json *object, const char *key, const char *const *words)
{
    json *list = json_new_array();
    for (; *words != NULL; words++) {
        json *word = json_new_str(*words);
        json_append(list, &word);
    }
    json_set(object, key, &list);
}

static void set_members(json *schema, const grammar_member *members)
{
    json *properties = json_new_object();
    json *required = json_new_array();
    for (; members->key != NULL; members++) {
        json *value = grammar_schema(members->value);
        json *key = json_new_str(members->key);
        json_set(properties, members->key, &value);
        json_append(required, &key);
    }
    json_set(schema, "properties", &properties);
    json_set(schema, "required", &required);
    json_set_bool(schema, "additionalProperties", false);
}

static void set_options(json *schema, const grammar_node *const *options)
{
    json *list = json_new_array();
    for (; *options != NULL; options++) {
        json *option = grammar_schema(*options);
        json_append(list, &option);
    }
    json_set(schema, "anyOf", &list);
}

json *grammar_schema(const grammar_node *node)
{
    static const char *const types[] = {
        [GRAMMAR_TEXT] = "string", [GRAMMAR_NUMBER] = "string", [GRAMMAR_TRUTH] = "boolean",
        [GRAMMAR_WORD] = "string", [GRAMMAR_LIST] = "array",    [GRAMMAR_OBJECT] = "object",
        [GRAMMAR_ANY_OF] = NULL};
    json *schema = json_new_object();
    if (types[node->kind] != NULL) {
        json_set_str(schema, "type", types[node->kind]);
    }
    if (node->help != NULL) {
        json_set_str(schema, "description", node->help);
    }
    if (node->kind == GRAMMAR_WORD) {
        set_text_list(schema, "enum", node->words);
    } else if (node->kind == GRAMMAR_LIST) {
        json *items = grammar_schema(node->items);
        json_set(schema, "items", &items);
    } else if (node->kind == GRAMMAR_OBJECT) {
        set_members(schema, node->members);
    } else if (node->kind == GRAMMAR_ANY_OF) {
        set_options(schema, node->options);
    }
    return schema;
}

void grammar_keys(const grammar_node *object, const char *out[GRAMMAR_MEMBERS_MAX + 1])
{
    size_t count = 0;
    for (const grammar_member *m = object->members; m->key != NULL; m++) {
        assert(count < GRAMMAR_MEMBERS_MAX);
        out[count++] = m->key;
    }
    out[count] = NULL;
}

/* ---- the check ---- */

static int check_number(const json_cursor *at, err *e)
{
    json_type type = json_typeof(at->value);
    if (type == JSON_TYPE_INT || type == JSON_TYPE_REAL || type == JSON_TYPE_STRING) {
        return 0;
    }
    return json_fail(at, e, "expected a number or text, found %s", json_type_name(type));
}

static int check_truth(const json_cursor *at, err *e)
{
    json_type type = json_typeof(at->value);
    if (type == JSON_TYPE_BOOL) {
        return 0;
    }
    return json_fail(at, e, "expected true or false, found %s", json_type_name(type));
}

static int check_list(const grammar_node *node, const json_cursor *at, err *e)
{
    size_t count = 0;
    if (json_want_array(at, node->max, &count, e) != 0) {
        return -1;
    }
    if (count < node->min) {
        return json_fail(at, e, "has %zu entries, at least %zu are needed", count, node->min);
    }
    for (size_t i = 0; i < count; i++) {
        json_cursor item;
        json_element(at, i, &item);
        if (grammar_check(node->items, &item, e) != 0) {
            return -1;
        }
    }
    return 0;
}

static int check_object(const grammar_node *node, const json_cursor *at, err *e)
{
    const char *keys[GRAMMAR_MEMBERS_MAX + 1];
    grammar_keys(node, keys);
    if (json_only_keys(at, keys, e) != 0) {
        return -1;
    }
    for (const grammar_member *m = node->members; m->key != NULL; m++) {
        json_cursor member;
        if (m->otherwise != NULL && !json_maybe(at, m->key, &member)) {
            continue;
        }
        if (json_member(at, m->key, &member, e) != 0 || grammar_check(m->value, &member, e) != 0) {
            return -1;
        }
    }
    return 0;
}

static int check_any(const grammar_node *node, const json_cursor *at, err *e)
{
    for (const grammar_node *const *option = node->options; *option != NULL; option++) {
        if (grammar_check(*option, at, NULL) == 0) {
            return 0;
        }
    }
    return json_fail(at, e, "expected %s", node->help != NULL ? node->help : "another value");
}

int grammar_check(const grammar_node *node, const json_cursor *at, err *e)
{
    const char *text = NULL;
    int word = 0;
    switch (node->kind) {
    case GRAMMAR_TEXT:
        return json_want_str(at, &text, e);
    case GRAMMAR_NUMBER:
        return check_number(at, e);
    case GRAMMAR_TRUTH:
        return check_truth(at, e);
    case GRAMMAR_WORD:
        return json_want_choice(at, node->words, &word, e);
    case GRAMMAR_LIST:
        return check_list(node, at, e);
    case GRAMMAR_OBJECT:
        return check_object(node, at, e);
    case GRAMMAR_ANY_OF:
        return check_any(node, at, e);
    }
    return err_set(e, ERR_INTERNAL, "a grammar has a node of no kind");
}

/* ---- the normal form ---- */

static json *normal_number(const json *value)
{
    char text[64];
    double real = 0.0;
    if (json_typeof(value) == JSON_TYPE_INT) {
        snprintf(text, sizeof(text), "%" PRId64, json_int(value, 0));
        return json_new_str(text);
    }
    bool is_real = json_typeof(value) == JSON_TYPE_REAL;
    const char *written = json_str(value, "");
    int64_t whole = 0;
    if (is_real || (str_to_f64(written, &real) && !str_to_i64(written, &whole))) {
        snprintf(text, sizeof(text), "%.17g", is_real ? json_real(value, 0.0) : real);
        return json_new_str(text);
    }
    return json_copy(value);
}

static json *normal_list(const grammar_node *node, const json *value)
{
    json *list = json_new_array();
    for (size_t i = 0; i < json_size(value); i++) {
        json *item = grammar_normal(node->items, json_at(value, i));
        json_append(list, &item);
    }
    return list;
}

static json *normal_object(const grammar_node *node, const json *value)
{
    json *object = json_copy(value);
    for (const grammar_member *m = node->members; m->key != NULL; m++) {
        const json *said = json_get(value, m->key);
        json *member = said != NULL ? grammar_normal(m->value, said) : NULL;
        if (said == NULL && m->otherwise != NULL) {
            member = json_parse_tree(m->otherwise, strlen(m->otherwise), "grammar", NULL);
        }
        if (member != NULL) {
            json_set(object, m->key, &member);
        }
    }
    return object;
}

static json *normal_any(const grammar_node *node, const json *value)
{
    json *copy = json_copy(value);
    SCOPED(json_doc_destroy) json_doc *doc = json_doc_of(&copy, "value");
    json_cursor at = json_root(doc);
    for (const grammar_node *const *option = node->options; *option != NULL; option++) {
        if (grammar_check(*option, &at, NULL) == 0) {
            return grammar_normal(*option, value);
        }
    }
    return json_copy(value);
}

json *grammar_normal(const grammar_node *node, const json *value)
{
    json_type type = json_typeof(value);
    if (node->kind == GRAMMAR_NUMBER) {
        return normal_number(value);
    }
    if (node->kind == GRAMMAR_LIST && type == JSON_TYPE_ARRAY) {
        return normal_list(node, value);
    }
    if (node->kind == GRAMMAR_OBJECT && type == JSON_TYPE_OBJECT) {
        return normal_object(node, value);
    }
    return node->kind == GRAMMAR_ANY_OF ? normal_any(node, value) : json_copy(value);
}
