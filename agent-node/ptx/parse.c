/* parse - PTX text to a module
 *
 * Module level: version, target, variables, functions, debug sections (skipped). Bodies are in body.c.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/parse.h"

#include <string.h>

#include "agent-node/ptx/body.h"
#include "agent-node/ptx/declare.h"
#include "agent-node/ptx/parser.h"
#include "common/scoped.h"

enum { DIRECTIVE_MAX = 64, VALUE_MAX = 16 };

/* ---- directives of the module ---- */

/* "9.0" is a number token; its text says both parts exactly. */
static int read_version(parser *p)
{
    str rest = p->now.text;
    str major = {0};
    uint32_t *parts[] = {&p->module->version_major, &p->module->version_minor};
    if (p->now.kind != TOKEN_FLOAT && p->now.kind != TOKEN_INT)
        return parser_fail(p, "a version was expected");
    for (size_t i = 0; i < 2 && str_split(&rest, '.', &major); i++)
        for (size_t k = 0; k < major.size && k < 6; k++)
            if (major.data[k] >= '0' && major.data[k] <= '9')
                *parts[i] = *parts[i] * 10 + (uint32_t)(major.data[k] - '0');
    return parser_advance(p);
}

static int read_target(parser *p)
{
    if (parser_name(p, &p->module->target) != 0)
        return -1;
    while (parser_at(p, ',')) {
        const char *other = NULL;
        if (parser_advance(p) != 0 || parser_name(p, &other) != 0)
            return -1;
    }
    return 0;
}

static int read_address_size(parser *p)
{
    uint64_t bits = 0;
    if (parser_u64(p, 64, &bits) != 0)
        return -1;
    if (bits != 32 && bits != 64)
        return parser_fail(p, "addresses of %llu bits", (unsigned long long)bits);
    p->module->address_bytes = (uint32_t)(bits / 8);
    return 0;
}

/* .file 1 "kernel.cu"[, time, size] */
static int read_file(parser *p)
{
    ptx_file file = {0};
    uint64_t number = 0;
    if (parser_u64(p, UINT32_MAX, &number) != 0)
        return -1;
    file.number = (uint32_t)number;
    if (p->now.kind != TOKEN_STRING)
        return parser_fail(p, "a file name was expected");
    if (parser_intern(p, p->now.text, &file.path) != 0 || parser_advance(p) != 0)
        return -1;
    while (parser_at(p, ','))
        if (parser_advance(p) != 0 || parser_u64(p, UINT64_MAX, &number) != 0)
            return -1;
    if (p->files.count >= PTX_FUNCTION_MAX)
        return parser_limit(p, "files");
    list_add(&p->files, &file);
    return 0;
}

/* .section .debug_str { … }: debug data, not ours. */
static int read_section(parser *p)
{
    while (!parser_at(p, '{')) {
        if (p->now.kind == TOKEN_END)
            return parser_expect(p, '{');
        if (parser_advance(p) != 0)
            return -1;
    }
    return parser_skip_to(p, '}');
}

static int read_statement_to_end(parser *p)
{
    return parser_skip_to(p, ';');
}

/* ---- functions ---- */

static int read_value(parser *p, list *values)
{
    int64_t value = 0;
    if (values->count == VALUE_MAX)
        return parser_limit(p, "values of a directive");
    if (parser_constant(p, &value) != 0)
        return -1;
    uint64_t kept = (uint64_t)value;
    list_add(values, &kept);
    return 0;
}

static int read_values(parser *p, list *values)
{
    while (p->now.kind == TOKEN_INT) {
        if (read_value(p, values) != 0)
            return -1;
        if (parser_at(p, ',') && parser_advance(p) != 0)
            return -1;
    }
    return 0;
}

/* .maxntid 256, 1, 1  .minnctapersm 2  .pragma "…";  .noreturn */
static int read_directive(parser *p, list *directives)
{
    ptx_directive d = {0};
    list values;
    if (directives->count == DIRECTIVE_MAX)
        return parser_limit(p, "directives");
    if (parser_intern(p, p->now.text, &d.name) != 0 || parser_advance(p) != 0)
        return -1;
    list_init(&values, sizeof(uint64_t));
    int rc = read_values(p, &values);
    d.value_count = values.count;
    d.values = rc == 0 ? list_seal(&values, p) : NULL;
    list_fini(&values);
    if (d.values == NULL)
        return -1;
    if (p->now.kind == TOKEN_STRING) {
        if (parser_intern(p, p->now.text, &d.text) != 0 || parser_advance(p) != 0)
            return -1;
        if (parser_at(p, ';') && parser_advance(p) != 0)
            return -1;
    }
    list_add(directives, &d);
    return 0;
}

static int read_directives(parser *p, ptx_function *f)
{
    list directives;
    list_init(&directives, sizeof(ptx_directive));
    int rc = 0;
    while (rc == 0 && p->now.kind == TOKEN_DOT)
        rc = read_directive(p, &directives);
    if (rc == 0) {
        f->directive_count = directives.count;
        f->directives = list_seal(&directives, p);
        rc = f->directives != NULL ? 0 : -1;
    }
    list_fini(&directives);
    return rc;
}

static int read_parameters(parser *p, bool kernel, list *registers, const ptx_variable *const **out,
                           size_t *count)
{
    list items;
    list_init(&items, sizeof(ptx_variable *));
    int rc = declare_parameters(p, kernel, registers, &items);
    if (rc == 0) {
        *count = items.count;
        *out = list_seal(&items, p);
        rc = *out != NULL ? 0 : -1;
    }
    list_fini(&items);
    return rc;
}

/* declared_function is the function of that name, new or declared earlier. */
static ptx_function *declared_function(parser *p, const ptx_function *draft)
{
    name_meaning meaning = {0};
    if (names_find(p->names, 0, draft->name, &meaning)) {
        ptx_function *old = meaning.kind == NAME_FUNCTION ? meaning.pointer : NULL;
        if (old == NULL || old->has_body || old->is_entry != draft->is_entry) {
            parser_fail(p, "%.80s is declared twice", draft->name);
            return NULL;
        }
        return old;
    }
    if (p->functions.count >= PTX_FUNCTION_MAX) {
        parser_limit(p, "functions");
        return NULL;
    }
    ptx_function *f = parser_get(p, 1, sizeof *f);
    if (f == NULL)
        return NULL;
    list_add(&p->functions, &f);
    meaning = (name_meaning){.kind = NAME_FUNCTION, .pointer = f};
    names_add_global(p->names, draft->name, meaning);
    return f;
}

/* read_header reads from the optional result list to the directives. */
static int read_header(parser *p, body *b, ptx_function *draft)
{
    if (parser_at(p, '(') &&
        read_parameters(p, false, &b->registers, &draft->results, &draft->result_count) != 0)
        return -1;
    if (parser_name(p, &draft->name) != 0)
        return -1;
    if (parser_at(p, '(') && read_parameters(p, draft->is_entry, &b->registers, &draft->params,
                                             &draft->param_count) != 0)
        return -1;
    return read_directives(p, draft);
}

/* A function is known by name before its body is read: it may call itself. */
static int read_function_parts(parser *p, body *b, ptx_function *draft)
{
    if (parser_advance(p) != 0 || read_header(p, b, draft) != 0)
        return -1;
    ptx_function *f = declared_function(p, draft);
    if (f == NULL)
        return -1;
    *f = *draft;
    if (parser_at(p, ';'))
        return parser_advance(p);
    if (!parser_at(p, '{'))
        return parser_expect(p, '{');
    return body_read(b, f);
}

static int read_function(parser *p, ptx_linkage linkage)
{
    ptx_function draft = {.linkage = linkage, .line = p->now.line};
    draft.is_entry = token_is_dot(&p->now, "entry");
    body b;
    body_init(&b, p);
    names_open(p->names);
    int rc = read_function_parts(p, &b, &draft);
    names_close(p->names);
    body_fini(&b);
    return rc;
}

/* ---- the module ---- */

typedef struct linkage_row {
    const char *word;
    ptx_linkage linkage;
} linkage_row;

static const linkage_row linkages[] = {{"visible", PTX_LINK_VISIBLE},
                                       {"extern", PTX_LINK_EXTERN},
                                       {"weak", PTX_LINK_WEAK},
                                       {"common", PTX_LINK_COMMON}};

typedef struct statement_row {
    const char *word;
    int (*read)(parser *p);
} statement_row;

static const statement_row statements[] = {
    {"version", read_version},           {"target", read_target},
    {"address_size", read_address_size}, {"file", read_file},
    {"section", read_section},           {"alias", read_statement_to_end},
    {"pragma", read_statement_to_end}};

static int read_declaration(parser *p)
{
    ptx_linkage linkage = PTX_LINK_NONE;
    for (size_t i = 0; i < sizeof linkages / sizeof linkages[0]; i++) {
        if (!token_is_dot(&p->now, linkages[i].word))
            continue;
        linkage = linkages[i].linkage;
        if (parser_advance(p) != 0)
            return -1;
        break;
    }
    if (token_is_dot(&p->now, "entry") || token_is_dot(&p->now, "func"))
        return read_function(p, linkage);
    ptx_space space = declare_space(&p->now);
    if (space == PTX_SPACE_NONE || space == PTX_SPACE_REG)
        return parser_fail(p, "a function or a variable was expected");
    return declare_variables(p, linkage, &p->variables);
}

static int read_module_statement(parser *p)
{
    if (parser_at(p, ';'))
        return parser_advance(p);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        if (token_is_dot(&p->now, statements[i].word))
            return parser_advance(p) != 0 ? -1 : statements[i].read(p);
    return read_declaration(p);
}

static int read_module(parser *p)
{
    while (p->now.kind != TOKEN_END)
        if (read_module_statement(p) != 0)
            return -1;
    if (p->module->target == NULL)
        return parser_fail(p, "this text has no .target");
    ptx_module *m = p->module;
    m->variable_count = p->variables.count;
    m->variables = list_seal(&p->variables, p);
    m->function_count = p->functions.count;
    m->functions = list_seal(&p->functions, p);
    m->file_count = p->files.count;
    m->files = list_seal(&p->files, p);
    return m->variables != NULL && m->functions != NULL && m->files != NULL ? 0 : -1;
}

ptx_module *ptx_parse(const char *text, size_t size, err *e)
{
    if (size != 0 && text[size - 1] == '\0')
        size--;
    if (size > PTX_TEXT_MAX) {
        err_set(e, ERR_LIMIT, "PTX of %zu bytes: at most %d are read", size, PTX_TEXT_MAX);
        return NULL;
    }
    SCOPED(arena_destroy) arena *memory = arena_create(PTX_ARENA_MAX);
    ptx_module *module = arena_get(memory, 1, sizeof *module);
    parser p;
    int rc = parser_init(&p, memory, text, size, e);
    p.module = module;
    if (rc == 0)
        rc = read_module(&p);
    parser_fini(&p);
    if (rc != 0)
        return NULL;
    module->memory = TAKE(memory);
    return module;
}
