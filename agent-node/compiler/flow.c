/* flow - where the address of a global variable goes
 *
 * A register's mark is a pair: a variable whose address it may hold, and a table (a variable with
 * addresses in its initialiser) whose address it may hold. One representative of each is enough to
 * refuse with a name. Marks only grow, so repeating the pass until nothing changes ends.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/flow.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct mark {
    const ptx_variable *any;
    const ptx_variable *table;
} mark;

typedef struct flow {
    const ptx_function *function;
    mark *registers;
    bool *trusted; /* per variable of the function: a parameter slot of __assertfail */
    bool changed;
} flow;

/* Opcodes that only read through their address operands. */
static const char *const readers[] = {"ld", "ldu", "prefetch", "prefetchu", "ldmatrix", "isspacep"};

static bool is_any(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

static void join(mark *into, mark more)
{
    if (into->any == NULL)
        into->any = more.any;
    if (into->table == NULL)
        into->table = more.table;
}

static mark mark_of_variable(const ptx_variable *v)
{
    bool table = v->reloc_count != 0;
    bool counts = v->space == PTX_SPACE_GLOBAL || table;
    return (mark){counts ? v : NULL, table ? v : NULL};
}

/* mark_of is what the value of an operand may be. */
static mark mark_of(const flow *self, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REGISTER)
        return self->registers[o->reg];
    if (o->kind == PTX_OPERAND_VARIABLE)
        return mark_of_variable(o->variable);
    mark out = {0};
    for (size_t i = 0; i < o->item_count; i++)
        join(&out, mark_of(self, &o->items[i]));
    return out;
}

/* mark_loaded is what may be found where an address points to. */
static mark mark_loaded(mark address)
{
    mark out = {0};
    if (address.table == NULL)
        return out;
    for (size_t i = 0; i < address.table->reloc_count; i++)
        if (address.table->relocs[i].target != NULL)
            join(&out, mark_of_variable(address.table->relocs[i].target));
    return out;
}

static void set(flow *self, const ptx_operand *o, mark m)
{
    if (o->kind == PTX_OPERAND_REGISTER) {
        mark *r = &self->registers[o->reg];
        mark old = *r;
        join(r, m);
        self->changed = self->changed || r->any != old.any || r->table != old.table;
        return;
    }
    if (o->kind != PTX_OPERAND_VECTOR && o->kind != PTX_OPERAND_PAIR)
        return;
    for (size_t i = 0; i < o->item_count; i++)
        set(self, &o->items[i], m);
}

/* sources_of joins what an instruction computes from. */
static mark sources_of(const flow *self, const ptx_instruction *in)
{
    mark out = {0};
    if (in->guard != PTX_NO_GUARD)
        join(&out, self->registers[in->guard]);
    for (size_t i = 1; i < in->operand_count; i++) {
        const ptx_operand *o = &in->operands[i];
        mark m = mark_of(self, o);
        join(&out, o->kind == PTX_OPERAND_ADDRESS ? mark_loaded(m) : m);
    }
    return out;
}

static void spread(flow *self)
{
    const ptx_function *f = self->function;
    for (size_t i = 0; i < f->code_count; i++) {
        const ptx_instruction *in = &f->code[i];
        /* Which state space an address is of says nothing of the address. */
        if (in->operand_count < 2 || strcmp(in->opcode, "isspacep") == 0)
            continue;
        mark m = sources_of(self, in);
        if (m.any != NULL)
            set(self, &in->operands[0], m);
    }
}

static bool is_call(const ptx_instruction *in)
{
    return strcmp(in->opcode, "call") == 0;
}

static bool calls_assert(const ptx_instruction *in)
{
    for (size_t i = 0; is_call(in) && i < in->operand_count; i++) {
        const ptx_operand *o = &in->operands[i];
        if (o->kind == PTX_OPERAND_FUNCTION && !o->function->has_body &&
            strcmp(o->function->name, "__assertfail") == 0)
            return true;
    }
    return false;
}

static void trust_assert(flow *self)
{
    const ptx_function *f = self->function;
    for (size_t i = 0; i < f->code_count; i++) {
        if (!calls_assert(&f->code[i]))
            continue;
        const ptx_operand *args = &f->code[i].operands[f->code[i].operand_count - 1];
        for (size_t k = 0; k < args->item_count; k++) {
            const ptx_variable *v = args->items[k].variable;
            if (v != NULL && v->index < f->variable_count && f->variables[v->index] == v)
                self->trusted[v->index] = true;
        }
    }
}

/* goes_to_assert: st.param into an argument slot of __assertfail. */
static bool goes_to_assert(const flow *self, const ptx_instruction *in)
{
    const ptx_operand *o = in->operand_count > 0 ? &in->operands[0] : NULL;
    if (o == NULL || o->kind != PTX_OPERAND_ADDRESS || strcmp(in->opcode, "st") != 0)
        return false;
    const ptx_variable *v = o->items[0].variable;
    return v != NULL && v->index < self->function->variable_count &&
           self->function->variables[v->index] == v && self->trusted[v->index];
}

/* writes_through: may the i-th operand, an address, be written? cp.async … [to], [from], … */
static bool writes_through(const ptx_instruction *in, size_t i)
{
    if (is_any(in->opcode, readers, sizeof readers / sizeof readers[0]))
        return false;
    bool copy = strcmp(in->opcode, "cp") == 0;
    bool prefetch = copy && ptx_instruction_has(in, "prefetch");
    return !prefetch && !(copy && i == 1);
}

static bool is_jump(const ptx_instruction *in)
{
    static const char *const jumps[] = {"bra", "brx", "ret", "exit", "trap"};
    return is_any(in->opcode, jumps, sizeof jumps / sizeof jumps[0]);
}

static bool has_write(const ptx_instruction *in)
{
    for (size_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_ADDRESS && writes_through(in, i))
            return true;
    return false;
}

static bool found(flow_finding *out, flow_end end, const ptx_variable *v)
{
    out->end = end;
    out->variable = v;
    return true;
}

static bool check_operands(const flow *self, const ptx_instruction *in, flow_finding *out)
{
    bool writes = has_write(in);
    bool call = is_call(in) && !calls_assert(in);
    for (size_t i = 0; i < in->operand_count; i++) {
        const ptx_operand *o = &in->operands[i];
        const ptx_variable *v = mark_of(self, o).any;
        if (v == NULL)
            continue;
        if (o->kind == PTX_OPERAND_ADDRESS) {
            if (writes_through(in, i))
                return found(out, FLOW_WRITTEN, v);
        } else if (call) {
            return found(out, FLOW_PASSED, v);
        } else if (writes && i != 0) {
            return found(out, FLOW_STORED, v);
        }
    }
    return false;
}

static bool check(const flow *self, const ptx_instruction *in, flow_finding *out)
{
    out->at = in;
    if (goes_to_assert(self, in))
        return false;
    const ptx_variable *guard = in->guard != PTX_NO_GUARD ? self->registers[in->guard].any : NULL;
    if (is_jump(in)) {
        for (size_t i = 0; guard == NULL && i < in->operand_count; i++)
            guard = mark_of(self, &in->operands[i]).any;
        return guard != NULL && found(out, FLOW_BRANCHED, guard);
    }
    if (guard != NULL && (has_write(in) || is_call(in)))
        return found(out, FLOW_BRANCHED, guard);
    return check_operands(self, in, out);
}

static bool find_in(const ptx_function *f, flow_finding *out)
{
    SCOPED(scoped_free) mark *registers = xcalloc(f->register_count + 1, sizeof *registers);
    SCOPED(scoped_free) bool *trusted = xcalloc(f->variable_count + 1, sizeof *trusted);
    flow self = {.function = f, .registers = registers, .trusted = trusted};
    trust_assert(&self);
    do {
        self.changed = false;
        spread(&self);
    } while (self.changed);
    out->function = f;
    for (size_t i = 0; i < f->code_count; i++)
        if (check(&self, &f->code[i], out))
            return true;
    return false;
}

bool flow_find(const ptx_module *module, flow_finding *out)
{
    *out = (flow_finding){0};
    for (size_t i = 0; i < module->function_count; i++)
        if (find_in(module->functions[i], out))
            return true;
    return false;
}
