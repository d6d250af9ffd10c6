/* yaml - YAML into the JSON model (libyaml inside, nowhere else)
 *
 * libyaml's events drive a recursive builder. Each value's line is marked in the document under its
 * JSON pointer, so that a complaint of a later reader names the YAML line.
 *
 * SPDX-License-Identifier: MIT */
#include "common/yaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"

/* Values behind a longer pointer, or past so many, have no line of their own in complaints. */
enum { POINTER_MAX = 1024, MARKS_MAX = 64 * 1024 };

typedef struct reader {
    yaml_parser_t parser;
    const char *origin;
    json_doc *doc; /* only lines while the tree is under construction */
    buf pointer;   /* of the value that is being read */
    int depth, marks;
    err *e;
} reader;

/* Where the pointer stood before a step. */
typedef struct mark {
    size_t size;
    bool overflow;
} mark;

static int complain(const reader *r, size_t line, const char *text)
{
    return err_set(r->e, ERR_CONFIG, "%s:%zu: %s", r->origin, line + 1, text);
}

static int next_event(reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event) != 0)
        return 0;
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem != NULL ? p->problem : "not YAML";
    if (p->error == YAML_READER_ERROR)
        return err_set(r->e, ERR_CONFIG, "%s: %s (byte %zu)", r->origin, problem,
                       p->problem_offset);
    return complain(r, p->problem_mark.line, problem);
}

/* ---- scalars: the YAML 1.2 core schema ---- */

static bool one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
static const char *const trues[] = {"true", "True", "TRUE", NULL};
static const char *const falses[] = {"false", "False", "FALSE", NULL};
static const char *const unreal[] = {".inf",  ".Inf",  ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
                                     "-.Inf", "-.INF", ".nan", ".NaN",  ".NAN",  NULL};

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

static const char *skip_sign(const char *text)
{
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static bool is_int(const char *text)
{
    const char *at = skip_sign(text);
    return *at != '\0' && at[digits(at)] == '\0';
}

/* is_prefixed: 0x… and 0o…, which the core schema reads as integers. */
static bool is_prefixed(const char *text)
{
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'o') || text[2] == '\0')
        return false;
    const char *set = text[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";
    return text[2 + strspn(text + 2, set)] == '\0';
}

/* is_float: [-+]? ( \.[0-9]+ | [0-9]+ (\.[0-9]*)? ) ([eE][-+]?[0-9]+)? */
static bool is_float(const char *text)
{
    const char *at = skip_sign(text);
    size_t whole = digits(at);
    at += whole;
    if (*at == '.') {
        size_t part = digits(++at);
        if (whole == 0 && part == 0)
            return false;
        at += part;
    } else if (whole == 0) {
        return false;
    }
    if (*at == 'e' || *at == 'E') {
        at = skip_sign(at + 1);
        size_t power = digits(at);
        if (power == 0)
            return false;
        at += power;
    }
    return *at == '\0';
}

static json *new_int(const reader *r, size_t line, const char *text)
{
    int64_t value;
    if (str_to_i64(text[0] == '+' ? text + 1 : text, &value))
        return json_new_int(value);
    complain(r, line, "the integer does not fit in 64 bits");
    return NULL;
}

static json *new_float(const reader *r, size_t line, const char *text)
{
    double value;
    if (str_to_f64(text, &value))
        return json_new_real(value);
    complain(r, line, "the number is too large");
    return NULL;
}

static json *plain_scalar(const reader *r, size_t line, const char *text)
{
    if (one_of(text, nulls))
        return json_new_null();
    if (one_of(text, trues) || one_of(text, falses))
        return json_new_bool(one_of(text, trues));
    if (is_int(text))
        return new_int(r, line, text);
    if (is_float(text))
        return new_float(r, line, text);
    if (is_prefixed(text)) {
        complain(r, line, "write the integer in decimal, or quote the text");
        return NULL;
    }
    if (one_of(text, unreal)) {
        complain(r, line, "infinity and not-a-number are refused");
        return NULL;
    }
    return json_new_str(text);
}

static int check_scalar(const reader *r, const yaml_event_t *event)
{
    size_t line = event->start_mark.line;
    if (event->data.scalar.anchor != NULL)
        return complain(r, line, "anchors are refused");
    if (event->data.scalar.tag != NULL)
        return complain(r, line, "tags are refused");
    if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return complain(r, line, "a text with a NUL character");
    return 0;
}

static json *build_scalar(const reader *r, const yaml_event_t *event)
{
    if (check_scalar(r, event) < 0)
        return NULL;
    const char *text = (const char *)event->data.scalar.value;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return plain_scalar(r, event->start_mark.line, text);
    return json_new_str(text);
}

/* ---- containers ---- */

static json *build(reader *r, const yaml_event_t *event);

/* step_in appends one reference token to the pointer; step_out cuts it again. */
static mark step_in(reader *r, const char *token)
{
    mark before = {r->pointer.size, r->pointer.overflow};
    buf_puts(&r->pointer, "/");
    for (; *token != '\0'; token++) {
        if (*token == '~')
            buf_puts(&r->pointer, "~0");
        else if (*token == '/')
            buf_puts(&r->pointer, "~1");
        else
            buf_add(&r->pointer, token, 1);
    }
    return before;
}

static void step_out(reader *r, mark before)
{
    r->pointer.size = before.size;
    r->pointer.overflow = before.overflow;
    if (r->pointer.data != NULL)
        r->pointer.data[before.size] = '\0';
}

static json *build_next(reader *r, const char *token)
{
    yaml_event_t event;
    if (next_event(r, &event) < 0)
        return NULL;
    mark before = step_in(r, token);
    json *value = build(r, &event);
    step_out(r, before);
    yaml_event_delete(&event);
    return value;
}

static int check_key(const reader *r, const yaml_event_t *event, const json *object)
{
    size_t line = event->start_mark.line;
    if (event->type != YAML_SCALAR_EVENT)
        return complain(r, line, "a key must be a plain text");
    if (check_scalar(r, event) < 0)
        return -1;
    const char *key = (const char *)event->data.scalar.value;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (strcmp(key, "<<") == 0)
            return complain(r, line, "merge keys are refused");
        SCOPED(json_destroy) json *meaning = plain_scalar(r, line, key);
        if (meaning == NULL)
            return -1;
        if (json_typeof(meaning) != JSON_TYPE_STRING)
            return err_set(r->e, ERR_CONFIG, "%s:%zu: the key %s is no text; quote it", r->origin,
                           line + 1, key[0] == '\0' ? "(empty)" : key);
    }
    if (json_get(object, key) != NULL)
        return err_set(r->e, ERR_CONFIG, "%s:%zu: %s/%s: duplicate key", r->origin, line + 1,
                       buf_text(&r->pointer), key);
    return 0;
}

/* build_member reads one key and its value; 1 at the end of the mapping. */
static int build_member(reader *r, json *object)
{
    yaml_event_t event;
    if (next_event(r, &event) < 0)
        return -1;
    int rc = event.type == YAML_MAPPING_END_EVENT ? 1 : check_key(r, &event, object);
    if (rc == 0) {
        const char *key = (const char *)event.data.scalar.value;
        json *value = build_next(r, key);
        if (value != NULL)
            json_set(object, key, &value);
        else
            rc = -1;
    }
    yaml_event_delete(&event);
    return rc;
}

static json *build_mapping(reader *r)
{
    SCOPED(json_destroy) json *object = json_new_object();
    int rc;
    while ((rc = build_member(r, object)) == 0)
        continue;
    return rc < 0 ? NULL : TAKE(object);
}

static int build_element(reader *r, json *array)
{
    yaml_event_t event;
    if (next_event(r, &event) < 0)
        return -1;
    int rc = event.type == YAML_SEQUENCE_END_EVENT ? 1 : 0;
    if (rc == 0) {
        char token[24];
        snprintf(token, sizeof token, "%zu", json_size(array));
        mark before = step_in(r, token);
        json *value = build(r, &event);
        step_out(r, before);
        if (value != NULL)
            json_append(array, &value);
        else
            rc = -1;
    }
    yaml_event_delete(&event);
    return rc;
}

static json *build_sequence(reader *r)
{
    SCOPED(json_destroy) json *array = json_new_array();
    int rc;
    while ((rc = build_element(r, array)) == 0)
        continue;
    return rc < 0 ? NULL : TAKE(array);
}

static json *build_container(reader *r, const yaml_event_t *event)
{
    bool mapping = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor =
        mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const yaml_char_t *tag =
        mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (anchor != NULL || tag != NULL) {
        complain(r, event->start_mark.line,
                 anchor != NULL ? "anchors are refused" : "tags are refused");
        return NULL;
    }
    if (r->depth == JSON_DEPTH_MAX) {
        complain(r, event->start_mark.line, "nested too deep");
        return NULL;
    }
    r->depth++;
    json *value = mapping ? build_mapping(r) : build_sequence(r);
    r->depth--;
    return value;
}

static json *build(reader *r, const yaml_event_t *event)
{
    size_t line = event->start_mark.line;
    if (!r->pointer.overflow && r->marks++ < MARKS_MAX)
        json_doc_mark_line(r->doc, buf_text(&r->pointer), (int)line + 1);
    if (event->type == YAML_SCALAR_EVENT)
        return build_scalar(r, event);
    if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT)
        return build_container(r, event);
    complain(r, line, event->type == YAML_ALIAS_EVENT ? "aliases are refused" : "not a value");
    return NULL;
}

/* ---- the stream: exactly one document ---- */

/* expect steps over one event of the given type. */
static int expect(reader *r, yaml_event_type_t type, const char *otherwise)
{
    yaml_event_t event;
    if (next_event(r, &event) < 0)
        return -1;
    int rc = event.type == type ? 0 : complain(r, event.start_mark.line, otherwise);
    yaml_event_delete(&event);
    return rc;
}

static json *build_root(reader *r)
{
    yaml_event_t event;
    if (expect(r, YAML_STREAM_START_EVENT, "not YAML") < 0 ||
        expect(r, YAML_DOCUMENT_START_EVENT, "the file is empty") < 0 || next_event(r, &event) < 0)
        return NULL;
    SCOPED(json_destroy) json *root = build(r, &event);
    yaml_event_delete(&event);
    if (root == NULL || expect(r, YAML_DOCUMENT_END_EVENT, "more than one value") < 0 ||
        expect(r, YAML_STREAM_END_EVENT, "more than one document") < 0)
        return NULL;
    return TAKE(root);
}

static int check_text(const char *text, size_t size, const char *origin, err *e)
{
    if (size > YAML_SIZE_MAX)
        return err_set(e, ERR_CONFIG, "%s: %zu bytes; the maximum is %d", origin, size,
                       YAML_SIZE_MAX);
    size_t valid = str_utf8_valid(text, size);
    if (valid == size)
        return 0;
    int line = 1;
    for (size_t i = 0; i < valid; i++)
        line += text[i] == '\n';
    return err_set(e, ERR_CONFIG, "%s:%d: not UTF-8", origin, line);
}

json_doc *yaml_parse(const char *text, size_t size, const char *origin, err *e)
{
    const char *place = origin == NULL ? "yaml" : origin;
    if (check_text(text, size, place, e) < 0)
        return NULL;
    json *nothing = NULL;
    SCOPED(json_doc_destroy) json_doc *lines = json_doc_of(&nothing, origin);
    reader r = {.origin = place, .doc = lines, .e = e};
    buf_init(&r.pointer, POINTER_MAX);
    if (yaml_parser_initialize(&r.parser) == 0) {
        err_set(e, ERR_LIMIT, "%s: no memory for the YAML parser", place);
        return NULL;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(size == 0 ? "" : text), size);
    json *root = build_root(&r);
    yaml_parser_delete(&r.parser);
    buf_fini(&r.pointer);
    if (root == NULL)
        return NULL;
    json_doc_put(lines, &root);
    return TAKE(lines);
}

json_doc *yaml_load(const char *path, err *e)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, YAML_SIZE_MAX);
    if (file_read(path, &text, e) < 0)
        return NULL;
    return yaml_parse(buf_text(&text), text.size, path, e);
}
