/* operand - operands of PTX instructions
 *
 * Operands are pushed on one stack while they are read; a finished group (a vector, an address, the
 * whole operand list) moves into the arena. A name that is nothing known yet is taken for a label
 * and resolved when the function has been read.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent-node/ptx/body.h"

enum { OPERAND_DEPTH = 8, WARP_SIZE = 32 };

/* Special registers; a trailing '*' stands for any rest. */
static const char *const specials[] = {"%tid",
                                       "%ntid",
                                       "%laneid",
                                       "%warpid",
                                       "%nwarpid",
                                       "%ctaid",
                                       "%nctaid",
                                       "%smid",
                                       "%nsmid",
                                       "%gridid",
                                       "%is_explicit_cluster",
                                       "%clusterid",
                                       "%nclusterid",
                                       "%cluster_*",
                                       "%lanemask_*",
                                       "%clock*",
                                       "%pm*",
                                       "%envreg*",
                                       "%globaltimer*",
                                       "%reserved_smem_*",
                                       "%total_smem_size",
                                       "%aggr_smem_size",
                                       "%dynamic_smem_size",
                                       "%current_graph_exec"};

static bool is_special(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        const char *star = strchr(specials[i], '*');
        if (star == NULL ? strcmp(name, specials[i]) == 0
                         : strncmp(name, specials[i], (size_t)(star - specials[i])) == 0)
            return true;
    }
    return false;
}

static int push(body *self, const ptx_operand *operand)
{
    if (self->stack.count >= (size_t)PTX_OPERAND_MAX * OPERAND_DEPTH)
        return parser_limit(self->p, "operands");
    list_add(&self->stack, operand);
    return 0;
}

int operand_seal(body *self, size_t from, ptx_operand **items, size_t *count)
{
    *count = self->stack.count - from;
    if (*count > PTX_OPERAND_MAX)
        return parser_limit(self->p, "operands");
    *items = parser_get(self->p, *count, sizeof **items);
    if (*items == NULL)
        return -1;
    if (*count != 0)
        memcpy(*items, (ptx_operand *)self->stack.items + from, *count * sizeof **items);
    self->stack.count = from;
    for (size_t i = 0; i < *count; i++) {
        if ((*items)[i].kind != PTX_OPERAND_LABEL)
            continue;
        label_use use = {&(*items)[i], names_scope(self->p->names), self->p->now.line};
        list_add(&self->uses, &use);
    }
    return 0;
}

/* push_group closes a group: its parts are the stack from `from` on. */
static int push_group(body *self, ptx_operand *group, size_t from)
{
    if (operand_seal(self, from, &group->items, &group->item_count) != 0)
        return -1;
    return push(self, group);
}

/* read_parts reads operands separated by commas up to `close`. */
static int read_parts(body *self, char close, bool in_call, int depth)
{
    while (!parser_at(self->p, close)) {
        if (operand_read(self, in_call, depth + 1) != 0)
            return -1;
        if (!parser_at(self->p, close) && parser_expect(self->p, ',') != 0)
            return -1;
    }
    return parser_advance(self->p);
}

static int read_group(body *self, ptx_operand_kind kind, char close, int depth)
{
    ptx_operand group = {.kind = kind};
    size_t from = self->stack.count;
    if (parser_advance(self->p) != 0 || read_parts(self, close, false, depth) != 0)
        return -1;
    return push_group(self, &group, from);
}

static int read_offset(parser *p, int64_t *out)
{
    if (parser_at(p, '+') && parser_advance(p) != 0)
        return -1;
    return parser_constant(p, out);
}

static bool at_sign(const parser *p)
{
    return parser_at(p, '+') || parser_at(p, '-');
}

static int resolve(body *self, ptx_operand *operand)
{
    parser *p = self->p;
    name_meaning meaning = {0};
    if (self->wants_label ||
        !names_find(p->names, names_scope(p->names), operand->name, &meaning)) {
        operand->kind = is_special(operand->name) ? PTX_OPERAND_SPECIAL : PTX_OPERAND_LABEL;
        return 0;
    }
    if (meaning.kind == NAME_REGISTER) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->reg = (uint32_t)meaning.index;
    } else if (meaning.kind == NAME_VARIABLE) {
        operand->kind = PTX_OPERAND_VARIABLE;
        operand->variable = meaning.pointer;
    } else {
        operand->kind = PTX_OPERAND_FUNCTION;
        operand->function = meaning.pointer;
    }
    return 0;
}

/* read_named reads a name with its component (%tid.x) or, outside brackets, its offset (sym+4). */
static int read_named(body *self, bool offset, ptx_operand *out)
{
    parser *p = self->p;
    if (parser_name(p, &out->name) != 0)
        return -1;
    if (strcmp(out->name, "_") == 0) {
        out->kind = PTX_OPERAND_SINK;
        return 0;
    }
    if (strcmp(out->name, "WARP_SZ") == 0) {
        out->kind = PTX_OPERAND_INT;
        out->bits = WARP_SIZE;
        return 0;
    }
    if (resolve(self, out) != 0)
        return -1;
    if (p->now.kind == TOKEN_DOT) {
        if (out->kind != PTX_OPERAND_REGISTER && out->kind != PTX_OPERAND_SPECIAL)
            return parser_fail(p, "%.80s has no parts", out->name);
        return parser_intern(p, p->now.text, &out->component) != 0 ? -1 : parser_advance(p);
    }
    if (offset && out->kind == PTX_OPERAND_VARIABLE && at_sign(p))
        return read_offset(p, &out->offset);
    return 0;
}

static int read_immediate(parser *p, ptx_operand *out)
{
    bool minus = parser_at(p, '-') && p->next.kind == TOKEN_FLOAT;
    if (minus && parser_advance(p) != 0)
        return -1;
    if (p->now.kind == TOKEN_FLOAT) {
        out->kind = p->now.wide ? PTX_OPERAND_FLOAT64 : PTX_OPERAND_FLOAT32;
        out->bits = p->now.bits;
        if (minus)
            out->bits ^= p->now.wide ? 1ULL << 63 : 1ULL << 31;
        return parser_advance(p);
    }
    int64_t value = 0;
    out->kind = PTX_OPERAND_INT;
    if (parser_constant(p, &value) != 0)
        return -1;
    out->bits = (uint64_t)value;
    return 0;
}

/* [base], [base+offset], [base, {…}] */
static int read_address(body *self, int depth)
{
    parser *p = self->p;
    ptx_operand address = {.kind = PTX_OPERAND_ADDRESS};
    ptx_operand base = {0};
    size_t from = self->stack.count;
    if (parser_advance(p) != 0)
        return -1;
    if ((p->now.kind == TOKEN_NAME ? read_named(self, false, &base) : read_immediate(p, &base)) !=
        0)
        return -1;
    if (base.kind == PTX_OPERAND_LABEL || base.kind == PTX_OPERAND_FUNCTION)
        return parser_fail(p, "unknown name %.80s in an address", base.name);
    if (push(self, &base) != 0 || (at_sign(p) && read_offset(p, &address.offset) != 0))
        return -1;
    if (parser_at(p, ',') && parser_advance(p) != 0)
        return -1;
    if (read_parts(self, ']', false, depth) != 0)
        return -1;
    return push_group(self, &address, from);
}

static int read_simple(body *self, int depth)
{
    parser *p = self->p;
    ptx_operand operand = {0};
    bool bang = parser_at(p, '!');
    bool minus = parser_at(p, '-') && p->next.kind == TOKEN_NAME;
    if ((bang || minus) && parser_advance(p) != 0)
        return -1;
    if (p->now.kind != TOKEN_NAME && !bang) {
        if (read_immediate(p, &operand) != 0)
            return -1;
    } else if (read_named(self, true, &operand) != 0) {
        return -1;
    }
    operand.negated = bang || minus;
    if (!parser_at(p, '|'))
        return push(self, &operand);
    ptx_operand pair = {.kind = PTX_OPERAND_PAIR};
    size_t from = self->stack.count;
    if (push(self, &operand) != 0 || parser_advance(p) != 0 || read_simple(self, depth + 1) != 0)
        return -1;
    return push_group(self, &pair, from);
}

int operand_read(body *self, bool in_call, int depth)
{
    parser *p = self->p;
    if (depth > OPERAND_DEPTH)
        return parser_fail(p, "operands are nested too deeply");
    if (parser_at(p, '{'))
        return read_group(self, PTX_OPERAND_VECTOR, '}', depth);
    if (parser_at(p, '['))
        return read_address(self, depth);
    if (in_call && parser_at(p, '('))
        return read_group(self, PTX_OPERAND_LIST, ')', depth);
    return read_simple(self, depth);
}
