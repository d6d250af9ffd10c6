/* fuzz_ptx - any bytes as PTX
 *
 * What parses must hold together: every number that names something is in range, and the readers of a
 * module (flow, code hash) survive it.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "agent-node/compiler/code.h"
#include "agent-node/compiler/flow.h"
#include "agent-node/compiler/gate.h"
#include "agent-node/ptx/parse.h"
#include "common/scoped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void check_operand(const ptx_function *f, const ptx_operand *o)
{
    must(o->kind != PTX_OPERAND_REGISTER || o->reg < f->register_count);
    must(o->kind != PTX_OPERAND_LABEL || o->target <= f->code_count);
    must(o->kind != PTX_OPERAND_TABLE || o->table < f->table_count);
    must(o->kind != PTX_OPERAND_VARIABLE || o->variable != NULL);
    must(o->kind != PTX_OPERAND_FUNCTION || o->function != NULL);
    must(o->kind != PTX_OPERAND_ADDRESS || o->item_count >= 1);
    must(o->kind != PTX_OPERAND_PAIR || o->item_count == 2);
    for (size_t i = 0; i < o->item_count; i++)
        check_operand(f, &o->items[i]);
}

static void check_function(const ptx_function *f)
{
    must(f->name != NULL);
    for (size_t i = 0; i < f->code_count; i++) {
        const ptx_instruction *in = &f->code[i];
        must(in->opcode != NULL);
        must(in->guard == PTX_NO_GUARD || in->guard < f->register_count);
        for (size_t k = 0; k < in->operand_count; k++)
            check_operand(f, &in->operands[k]);
    }
    for (size_t i = 0; i < f->variable_count; i++)
        must(f->variables[i]->type != NULL && f->variables[i]->index == i);
}

static void check_variable(const ptx_variable *v)
{
    must(v->name != NULL && v->type != NULL);
    must(v->image == NULL || (v->bytes > 0 && v->bytes <= PTX_IMAGE_MAX));
    for (size_t i = 0; i < v->reloc_count; i++)
        must(v->relocs[i].offset + v->relocs[i].bytes <= v->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {.code = ERR_NONE};
    SCOPED(ptx_module_destroy) ptx_module *m = ptx_parse((const char *)data, size, &e);
    if (m == NULL) {
        must(e.code == ERR_PROTOCOL || e.code == ERR_LIMIT);
        return 0;
    }
    for (size_t i = 0; i < m->variable_count; i++)
        check_variable(m->variables[i]);
    for (size_t i = 0; i < m->function_count; i++)
        check_function(m->functions[i]);
    flow_finding finding;
    must(!flow_find(m, &finding) || finding.variable != NULL);
    hash a = code_of_ptx(m);
    hash b = code_of_ptx(m);
    must(hash_equal(&a, &b));
    static const char *const entries[] = {"k"};
    gate_input input = {.arch = "compute_80", .ptx = m, .entries = entries, .entry_count = 1};
    gate_verdict verdict;
    must(gate_check(&input, &verdict) || verdict.text[0] != '\0');
    return 0;
}
