/* code - the identity of machine code, whatever it was called
 *
 * A cubin: the sections that are loaded (code, constants, initialised and shared memory), what says how
 * to launch them (.nv.info…) and their relocations. Symbol tables and strings carry the names and are
 * left out. PTX: the instructions as the parser resolved them, registers and symbols by number.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { SERIAL_MAX = 1 << 30 };

/* ---- cubin ---- */

static bool starts(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool counts(const cubin_section *s)
{
    if (starts(s->name, ".nv.info") || starts(s->name, ".rela.text.") ||
        starts(s->name, ".rela.nv.constant"))
        return true;
    return (s->flags & SHF_ALLOC) != 0;
}

static int by_name(const void *a, const void *b)
{
    const cubin_section *const *x = a;
    const cubin_section *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

hash code_of_cubin(const cubin *self)
{
    SCOPED(scoped_free)
    const cubin_section **chosen = xcalloc(self->section_count + 1, sizeof(cubin_section *));
    SCOPED(scoped_free) hash_part *parts = xcalloc(self->section_count + 1, 2 * sizeof *parts);
    size_t count = 0;
    for (size_t i = 0; i < self->section_count; i++)
        if (counts(&self->sections[i]))
            chosen[count++] = &self->sections[i];
    qsort(chosen, count, sizeof(cubin_section *), by_name);
    for (size_t i = 0; i < count; i++) {
        const cubin_section *s = chosen[i];
        parts[2 * i] = (hash_part){s->name, &s->size, sizeof s->size};
        parts[2 * i + 1] = (hash_part){"bytes", s->data, s->data != NULL ? s->size : 0};
    }
    return hash_list(parts, 2 * count);
}

/* ---- PTX ---- */

static void put_u64(buf *out, uint64_t value)
{
    buf_add(out, &value, sizeof value);
}

static void put_text(buf *out, const char *text)
{
    const char *kept = text != NULL ? text : "";
    buf_add(out, kept, strlen(kept) + 1);
}

static size_t function_number(const ptx_module *m, const ptx_function *f)
{
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i] == f)
            return i;
    return SIZE_MAX;
}

/* A function that is only declared is known to others by its name. */
static void put_function(buf *out, const ptx_module *m, const ptx_function *f)
{
    if (f == NULL)
        put_u64(out, UINT64_MAX);
    else if (f->is_entry || !f->has_body)
        put_text(out, f->name);
    else
        put_u64(out, function_number(m, f));
}

static void put_variable_number(buf *out, const ptx_variable *v)
{
    put_u64(out, v == NULL ? UINT64_MAX : (uint64_t)v->space << 32 | v->index);
}

static void put_operand(buf *out, const ptx_module *m, const ptx_operand *o)
{
    put_u64(out, (uint64_t)o->kind << 1 | o->negated);
    put_u64(out, o->reg);
    put_text(out, o->component);
    put_u64(out, o->bits);
    put_u64(out, (uint64_t)o->offset);
    put_u64(out, o->target);
    put_u64(out, o->table);
    put_u64(out, o->item_count);
    if (o->kind == PTX_OPERAND_SPECIAL)
        put_text(out, o->name);
    if (o->kind == PTX_OPERAND_VARIABLE)
        put_variable_number(out, o->variable);
    if (o->kind == PTX_OPERAND_FUNCTION)
        put_function(out, m, o->function);
    for (size_t i = 0; i < o->item_count; i++)
        put_operand(out, m, &o->items[i]);
}

static void put_instruction(buf *out, const ptx_module *m, const ptx_instruction *in)
{
    put_text(out, in->opcode);
    put_u64(out, in->modifier_count);
    for (size_t i = 0; i < in->modifier_count; i++)
        put_text(out, in->modifiers[i]);
    put_u64(out, (uint64_t)in->guard << 1 | in->guard_negated);
    put_u64(out, in->operand_count);
    for (size_t i = 0; i < in->operand_count; i++)
        put_operand(out, m, &in->operands[i]);
}

static void put_variable(buf *out, const ptx_module *m, const ptx_variable *v)
{
    put_text(out, v->type->name);
    uint64_t words[] = {v->linkage, v->space,         v->lanes,      v->align,
                        v->bytes,   v->image != NULL, v->reloc_count};
    buf_add(out, words, sizeof words);
    if (v->image != NULL)
        buf_add(out, v->image, v->bytes);
    for (size_t i = 0; i < v->reloc_count; i++) {
        const ptx_reloc *r = &v->relocs[i];
        put_u64(out, r->offset);
        put_u64(out, (uint64_t)r->bytes << 1 | r->generic);
        put_u64(out, (uint64_t)r->addend);
        put_variable_number(out, r->target);
        put_function(out, m, r->function);
    }
}

static void put_variables(buf *out, const ptx_module *m, const ptx_variable *const *list,
                          size_t count)
{
    put_u64(out, count);
    for (size_t i = 0; i < count; i++)
        put_variable(out, m, list[i]);
}

static void put_table(buf *out, const ptx_module *m, const ptx_table *t)
{
    put_u64(out, t->kind);
    put_u64(out, t->item_count);
    for (size_t i = 0; i < t->item_count; i++)
        put_operand(out, m, &t->items[i]);
    put_variables(out, m, t->results, t->result_count);
    put_variables(out, m, t->params, t->param_count);
}

static void put_body(buf *out, const ptx_module *m, const ptx_function *f)
{
    put_u64(out, f->register_count);
    for (size_t i = 0; i < f->register_count; i++)
        put_text(out, f->registers[i].type->name);
    put_u64(out, f->code_count);
    for (size_t i = 0; i < f->code_count; i++)
        put_instruction(out, m, &f->code[i]);
    for (size_t i = 0; i < f->table_count; i++)
        put_table(out, m, &f->tables[i]);
}

static void put_whole_function(buf *out, const ptx_module *m, const ptx_function *f)
{
    put_u64(out, (uint64_t)f->linkage << 2 | (uint64_t)f->is_entry << 1 | f->has_body);
    put_function(out, m, f);
    put_variables(out, m, f->results, f->result_count);
    put_variables(out, m, f->params, f->param_count);
    put_variables(out, m, f->variables, f->variable_count);
    for (size_t i = 0; i < f->directive_count; i++) {
        put_text(out, f->directives[i].name);
        buf_add(out, f->directives[i].values, f->directives[i].value_count * sizeof(uint64_t));
    }
    put_body(out, m, f);
}

hash code_of_ptx(const ptx_module *self)
{
    SCOPED(buf_fini) buf out;
    buf_init(&out, SERIAL_MAX);
    put_u64(&out, (uint64_t)self->version_major << 32 | self->version_minor);
    put_text(&out, self->target);
    put_variables(&out, self, self->variables, self->variable_count);
    for (size_t i = 0; i < self->function_count; i++)
        put_whole_function(&out, self, self->functions[i]);
    return hash_of(out.data, out.size);
}
