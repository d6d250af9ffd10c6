/* body - the statements of a PTX function
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/body.h"

#include <string.h>

#include "agent-node/ptx/declare.h"

void body_init(body *self, parser *p)
{
    *self = (body){.p = p};
    list_init(&self->registers, sizeof(ptx_register));
    list_init(&self->variables, sizeof(ptx_variable *));
    list_init(&self->code, sizeof(ptx_instruction));
    list_init(&self->tables, sizeof(ptx_table));
    list_init(&self->uses, sizeof(label_use));
    list_init(&self->stack, sizeof(ptx_operand));
}

void body_fini(body *self)
{
    list_fini(&self->registers);
    list_fini(&self->variables);
    list_fini(&self->code);
    list_fini(&self->tables);
    list_fini(&self->uses);
    list_fini(&self->stack);
}

/* ---- source lines ---- */

static int read_u32(parser *p, uint32_t *out)
{
    uint64_t value = 0;
    if (parser_u64(p, UINT32_MAX, &value) != 0)
        return -1;
    *out = (uint32_t)value;
    return 0;
}

/* ", function_name $L__info_string9+12, inlined_at 4 370 5" */
static int read_inlined(body *self, ptx_where *where)
{
    parser *p = self->p;
    const char *name = NULL;
    int64_t offset = 0;
    uint32_t column = 0;
    if (parser_expect(p, ',') != 0 || parser_name(p, &name) != 0)
        return -1;
    if (strcmp(name, "function_name") == 0) {
        if (parser_name(p, &name) != 0 || (parser_at(p, '+') && parser_constant(p, &offset) != 0) ||
            parser_expect(p, ',') != 0 || parser_name(p, &name) != 0)
            return -1;
    }
    if (strcmp(name, "inlined_at") != 0)
        return parser_fail(p, "inlined_at was expected, not %.40s", name);
    if (read_u32(p, &where->outer_file) != 0 || read_u32(p, &where->outer_line) != 0)
        return -1;
    return read_u32(p, &column);
}

static int read_loc(body *self)
{
    parser *p = self->p;
    ptx_where where = {0};
    if (parser_advance(p) != 0 || read_u32(p, &where.file) != 0 || read_u32(p, &where.line) != 0 ||
        read_u32(p, &where.column) != 0)
        return -1;
    if (parser_at(p, ',') && read_inlined(self, &where) != 0)
        return -1;
    self->where = where;
    return 0;
}

/* ---- tables: label: .branchtargets L1, L2; ---- */

static int read_targets(body *self, ptx_table *table)
{
    size_t from = self->stack.count;
    bool labels = table->kind == PTX_TABLE_BRANCH;
    for (;;) {
        self->wants_label = labels;
        int rc = operand_read(self, false, 0);
        self->wants_label = false;
        if (rc != 0)
            return -1;
        if (!parser_at(self->p, ','))
            break;
        if (parser_advance(self->p) != 0)
            return -1;
    }
    return operand_seal(self, from, &table->items, &table->item_count);
}

static int read_prototype_list(body *self, const ptx_variable *const **out, size_t *count)
{
    list items;
    list_init(&items, sizeof(ptx_variable *));
    int rc = declare_parameters(self->p, false, &self->registers, &items);
    if (rc == 0) {
        *count = items.count;
        *out = list_seal(&items, self->p);
        rc = *out != NULL ? 0 : -1;
    }
    list_fini(&items);
    return rc;
}

/* .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn; */
static int read_prototype(body *self, ptx_table *table)
{
    parser *p = self->p;
    const char *name = NULL;
    names_open(p->names);
    if (parser_at(p, '(') && read_prototype_list(self, &table->results, &table->result_count) != 0)
        return -1;
    if (parser_name(p, &name) != 0)
        return -1;
    if (parser_at(p, '(') && read_prototype_list(self, &table->params, &table->param_count) != 0)
        return -1;
    names_close(p->names);
    while (!parser_at(p, ';')) {
        if (p->now.kind == TOKEN_END)
            return parser_expect(p, ';');
        if (parser_advance(p) != 0)
            return -1;
    }
    return 0;
}

static bool table_kind(const token *word, ptx_table_kind *kind)
{
    if (token_is_dot(word, "branchtargets"))
        *kind = PTX_TABLE_BRANCH;
    else if (token_is_dot(word, "calltargets"))
        *kind = PTX_TABLE_CALL;
    else if (token_is_dot(word, "callprototype"))
        *kind = PTX_TABLE_PROTOTYPE;
    else
        return false;
    return true;
}

static int read_table(body *self, const char *name, ptx_table_kind kind)
{
    parser *p = self->p;
    ptx_table table = {.name = name, .kind = kind};
    if (parser_advance(p) != 0)
        return -1;
    int rc =
        kind == PTX_TABLE_PROTOTYPE ? read_prototype(self, &table) : read_targets(self, &table);
    if (rc != 0)
        return -1;
    list_add(&self->tables, &table);
    return parser_expect(p, ';');
}

/* ---- statements ---- */

static int read_label(body *self, const char *name)
{
    parser *p = self->p;
    ptx_table_kind kind = PTX_TABLE_BRANCH;
    if (parser_expect(p, ':') != 0)
        return -1;
    bool table = table_kind(&p->now, &kind);
    name_meaning meaning = {.kind = table ? NAME_TABLE : NAME_LABEL,
                            .index = table ? self->tables.count : self->code.count};
    if (!names_add(p->names, name, meaning))
        return parser_fail(p, "label %.80s stands twice", name);
    return table ? read_table(self, name, kind) : 0;
}

static int read_modifiers(body *self, ptx_instruction *in)
{
    parser *p = self->p;
    const char *words[PTX_MODIFIER_MAX];
    while (p->now.kind == TOKEN_DOT) {
        if (in->modifier_count == PTX_MODIFIER_MAX)
            return parser_limit(p, "modifiers");
        if (parser_intern(p, p->now.text, &words[in->modifier_count]) != 0 ||
            parser_advance(p) != 0)
            return -1;
        in->modifier_count++;
    }
    const char **kept = parser_get(p, in->modifier_count, sizeof *kept);
    if (kept == NULL)
        return -1;
    if (in->modifier_count != 0)
        memcpy(kept, words, in->modifier_count * sizeof *kept);
    in->modifiers = kept;
    return 0;
}

static int read_operands(body *self, ptx_instruction *in)
{
    parser *p = self->p;
    bool call = strcmp(in->opcode, "call") == 0;
    self->wants_label = strcmp(in->opcode, "bra") == 0;
    size_t from = self->stack.count;
    while (!parser_at(p, ';')) {
        if (operand_read(self, call, 0) != 0)
            return -1;
        if (!parser_at(p, ';') && parser_expect(p, ',') != 0)
            return -1;
    }
    self->wants_label = false;
    if (operand_seal(self, from, &in->operands, &in->operand_count) != 0)
        return -1;
    return parser_advance(p);
}

static int read_instruction(body *self, const char *opcode, uint32_t line, ptx_instruction *in)
{
    in->opcode = opcode;
    in->line = line;
    in->where = self->where;
    if (read_modifiers(self, in) != 0 || read_operands(self, in) != 0)
        return -1;
    list_add(&self->code, in);
    return 0;
}

/* @%p1 bra L; @!%p2 … */
static int read_guarded(body *self)
{
    parser *p = self->p;
    ptx_instruction in = {0};
    const char *name = NULL;
    name_meaning meaning = {0};
    if (parser_advance(p) != 0)
        return -1;
    in.guard_negated = parser_at(p, '!');
    if ((in.guard_negated && parser_advance(p) != 0) || parser_name(p, &name) != 0)
        return -1;
    if (!names_find(p->names, names_scope(p->names), name, &meaning) ||
        meaning.kind != NAME_REGISTER)
        return parser_fail(p, "the guard %.80s is no register", name);
    in.guard = (uint32_t)meaning.index;
    uint32_t line = p->now.line;
    if (parser_name(p, &name) != 0)
        return -1;
    return read_instruction(self, name, line, &in);
}

static int read_named_statement(body *self)
{
    parser *p = self->p;
    const char *name = NULL;
    uint32_t line = p->now.line;
    if (parser_name(p, &name) != 0)
        return -1;
    if (parser_at(p, ':'))
        return read_label(self, name);
    ptx_instruction in = {.guard = PTX_NO_GUARD};
    return read_instruction(self, name, line, &in);
}

static int read_dotted_statement(body *self)
{
    parser *p = self->p;
    if (token_is_dot(&p->now, "loc"))
        return read_loc(self);
    if (token_is_dot(&p->now, "pragma"))
        return parser_skip_to(p, ';');
    ptx_space space = declare_space(&p->now);
    if (space == PTX_SPACE_REG)
        return declare_registers(p, &self->registers);
    if (space != PTX_SPACE_NONE)
        return declare_variables(p, PTX_LINK_NONE, &self->variables);
    return parser_fail(p, "unknown statement .%.*s",
                       p->now.text.size > 40 ? 40 : (int)p->now.text.size, p->now.text.data);
}

static int read_scope_edge(body *self)
{
    parser *p = self->p;
    if (parser_at(p, '}')) {
        names_close(p->names);
        return parser_advance(p);
    }
    if (names_depth(p->names) >= PTX_NESTING_MAX)
        return parser_limit(p, "nested braces");
    names_open(p->names);
    return parser_advance(p);
}

static int read_statement(body *self)
{
    parser *p = self->p;
    if (parser_at(p, '{') || parser_at(p, '}'))
        return read_scope_edge(self);
    if (parser_at(p, '@'))
        return read_guarded(self);
    if (parser_at(p, ';'))
        return parser_advance(p);
    if (p->now.kind == TOKEN_NAME)
        return read_named_statement(self);
    if (p->now.kind == TOKEN_DOT)
        return read_dotted_statement(self);
    if (p->now.kind == TOKEN_END)
        return parser_fail(p, "the text ends inside a function");
    return parser_fail(p, "unexpected '%.*s'", p->now.text.size > 40 ? 40 : (int)p->now.text.size,
                       p->now.text.data);
}

/* resolve_labels gives every label use its place. */
static int resolve_labels(body *self)
{
    for (size_t i = 0; i < self->uses.count; i++) {
        label_use *use = (label_use *)self->uses.items + i;
        name_meaning meaning = {0};
        if (!names_find_label(self->p->names, use->scope, use->operand->name, &meaning))
            return err_set(self->p->e, ERR_PROTOCOL, "PTX line %u: unknown name %.80s", use->line,
                           use->operand->name);
        if (meaning.kind == NAME_TABLE) {
            use->operand->kind = PTX_OPERAND_TABLE;
            use->operand->table = meaning.index;
        } else {
            use->operand->target = meaning.index;
        }
    }
    return 0;
}

static int seal(body *self, ptx_function *f)
{
    f->register_count = self->registers.count;
    f->registers = list_seal(&self->registers, self->p);
    f->variable_count = self->variables.count;
    f->variables = list_seal(&self->variables, self->p);
    f->code_count = self->code.count;
    f->code = list_seal(&self->code, self->p);
    f->table_count = self->tables.count;
    f->tables = list_seal(&self->tables, self->p);
    bool full =
        f->registers == NULL || f->variables == NULL || f->code == NULL || f->tables == NULL;
    return full ? -1 : 0;
}

int body_read(body *self, ptx_function *function)
{
    size_t outside = names_depth(self->p->names);
    do {
        if (read_statement(self) != 0)
            return -1;
    } while (names_depth(self->p->names) > outside);
    if (resolve_labels(self) != 0)
        return -1;
    function->has_body = true;
    return seal(self, function);
}
