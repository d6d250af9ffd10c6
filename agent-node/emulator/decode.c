/* decode - see decode.h.
 *
 * Three passes: find the functions that are reached and give them their stretches of ops and registers;
 * lay out their frames; decode instruction by instruction. Functions do not recurse, so every function
 * has one frame and one set of registers a thread.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/decode.h"

#include <stdlib.h>

#include "agent-node/emulator/finding.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static const struct {
    const char *opcode;
    decode_fn *decode;
} opcodes[] = {
    {"mov", decode_mov},
    {"cvt", decode_cvt},
    {"ld", decode_load},
    {"ldu", decode_load},
    {"st", decode_store},
    {"atom", decode_atomic},
    {"red", decode_atomic},
    {"bra", decode_bra},
    {"brx", decode_brx},
    {"call", decode_call},
    {"ret", decode_ret},
    {"exit", decode_exit},
    {"trap", decode_trap},
    {"brkpt", decode_trap},
    {"bar", decode_bar},
    {"barrier", decode_bar},
    {"membar", decode_fence},
    {"fence", decode_fence},
    {"shfl", decode_shfl},
    {"vote", decode_vote},
    {"match", decode_match},
    {"redux", decode_redux},
    {"activemask", decode_activemask},
    {"nanosleep", decode_nanosleep},
    {"prefetch", decode_nothing},
    {"prefetchu", decode_nothing},
    {"pmevent", decode_nothing},
};

static decode_fn *decode_of(const char *opcode)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (strcmp(opcodes[i].opcode, opcode) == 0)
            return opcodes[i].decode;
    return decode_lanes;
}

/* ---- functions ---- */

static const ptx_function *callee_of(const ptx_instruction *in)
{
    if (strcmp(in->opcode, "call") != 0)
        return NULL;
    for (size_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_FUNCTION && in->operands[i].function->has_body)
            return in->operands[i].function;
    return NULL;
}

static program_part *part_of(const program *p, const ptx_function *f)
{
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i].function == f)
            return &p->parts[i];
    return NULL;
}

static bool too_deep(decoder *self, const ptx_function *f)
{
    finding_refuse(self->report, EMU_UNSUPPORTED, self->p->entry->name,
                   "function %s: recursion, or calls nested more than %d deep, is not supported",
                   f->name, CALL_DEPTH_MAX);
    return false;
}

/* collect adds a function and what it calls, each once; *height: how deep calls nest below it. A function
 * that is met while its own calls are looked at recurses. */
static bool collect(decoder *self, const ptx_function *f, unsigned depth, unsigned *height)
{
    program *p = self->p;
    const program_part *known = part_of(p, f);
    if (depth >= CALL_DEPTH_MAX || (known != NULL && known->is_open))
        return too_deep(self, f);
    if (known != NULL) {
        *height = known->height;
        return true;
    }
    const size_t own = p->part_count;
    unsigned highest = 0, below = 0;
    *PUSH(p->parts, p->part_count) = (program_part){.function = f,
                                                    .first = (uint32_t)p->op_count,
                                                    .count = (uint32_t)f->code_count + 1,
                                                    .is_open = true};
    p->op_count += f->code_count + 1;
    for (size_t i = 0; i < f->code_count; i++) {
        const ptx_function *called = callee_of(&f->code[i]);
        if (called != NULL && !collect(self, called, depth + 1, &below))
            return false;
        if (called != NULL && below + 1 > highest)
            highest = below + 1;
    }
    p->parts[own].is_open = false;
    p->parts[own].height = highest;
    *height = highest;
    return highest < CALL_DEPTH_MAX ? true : too_deep(self, f);
}

/* ---- registers and frames ---- */

static void lay_registers(decoder *self, size_t part)
{
    program *p = self->p;
    const ptx_function *f = p->parts[part].function;
    p->parts[part].registers = p->unit_count;
    self->units[part] = xcalloc(f->register_count + 1, sizeof(uint32_t));
    for (size_t i = 0; i < f->register_count; i++) {
        self->units[part][i] = p->unit_count;
        p->unit_count += f->registers[i].type->bytes == 8 ? 2 : 1;
    }
}

static void lay_local(decoder *self, const ptx_function *f, const ptx_variable *v)
{
    program *p = self->p;
    const uint32_t align = v->align > 8 ? v->align : 8;
    const uint64_t at = ((uint64_t)p->local_bytes + align - 1) / align * align;
    /* What does not fit is told after all are laid out. */
    const uint64_t end = at + v->bytes + VARIABLE_GAP;
    p->local_bytes = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX;
    *PUSH(p->placed, p->placed_count) = (placed){v, f, at, v->bytes};
}

static void lay_frame(decoder *self, const ptx_function *f)
{
    for (size_t i = 0; !f->is_entry && i < f->param_count; i++)
        lay_local(self, f, f->params[i]);
    for (size_t i = 0; i < f->result_count; i++)
        lay_local(self, f, f->results[i]);
    for (size_t i = 0; i < f->variable_count; i++)
        if (f->variables[i]->space == PTX_SPACE_LOCAL || f->variables[i]->space == PTX_SPACE_PARAM)
            lay_local(self, f, f->variables[i]);
}

static bool lay_out(decoder *self)
{
    program *p = self->p;
    p->unit_count = 1;
    p->local_bytes = LOCAL_BASE;
    p->shared_bytes = SHARED_BASE;
    self->units = xcalloc(p->part_count, sizeof *self->units);
    for (size_t i = 0; i < p->part_count; i++) {
        lay_registers(self, i);
        lay_frame(self, p->parts[i].function);
    }
    p->register_units = p->unit_count;
    for (size_t i = 0; i < p->entry->param_count; i++) {
        const ptx_variable *v = p->entry->params[i];
        const uint32_t align = v->align > 0 ? v->align : 1;
        p->param_bytes = (p->param_bytes + align - 1) / align * align + (uint32_t)v->bytes;
    }
    return true;
}

/* Dynamic shared memory lies behind all static variables, so these are laid out before decoding. */
static bool lay_shared(decoder *self, const ptx_function *f)
{
    uint64_t at = 0;
    for (size_t i = 0; i < f->code_count; i++)
        for (size_t k = 0; k < f->code[i].operand_count; k++) {
            const ptx_operand *x = &f->code[i].operands[k];
            const ptx_operand *base = x->kind == PTX_OPERAND_ADDRESS ? &x->items[0] : x;
            if (base->kind == PTX_OPERAND_VARIABLE && base->variable->space == PTX_SPACE_SHARED &&
                base->variable->bytes != 0 && !place_of(self, base->variable, &at))
                return false;
        }
    return true;
}

/* ---- instructions ---- */

static bool decode_guard(decoder *self)
{
    const ptx_instruction *in = self->in;
    if (in->guard == PTX_NO_GUARD)
        return true;
    if (register_type(self, in->guard)->kind != PTX_PREDICATE)
        return refuse(self, "the guard is no predicate");
    self->op->guard = self->units[self->part - self->p->parts][in->guard];
    self->op->flags |= in->guard_negated ? OP_GUARD_NOT : 0;
    return true;
}

static bool decode_part(decoder *self)
{
    const ptx_function *f = self->part->function;
    for (size_t i = 0; i < f->code_count; i++) {
        self->at = self->part->first + (uint32_t)i;
        self->in = &f->code[i];
        self->op = &self->p->ops[self->at];
        if (!decode_guard(self) || !decode_of(self->in->opcode)(self))
            return false;
    }
    /* Running past the end of a function is a return. */
    op *last = &self->p->ops[self->part->first + self->part->count - 1];
    last->step = f->is_entry ? step_exit : step_return;
    last->class = EMU_CLASS_CONTROL;
    return true;
}

static bool decode_all(decoder *self)
{
    program *p = self->p;
    p->ops = xcalloc(p->op_count, sizeof *p->ops);
    for (size_t i = 0; i < p->part_count; i++) {
        self->part = &p->parts[i];
        self->at = self->part->first;
        if (!lay_shared(self, self->part->function))
            return false;
    }
    p->shared_dynamic = (p->shared_bytes + 127) / 128 * 128;
    for (size_t i = 0; i < p->part_count; i++) {
        self->part = &p->parts[i];
        if (!decode_part(self))
            return false;
    }
    decode_expected(p);
    return true;
}

static void find_main_file(program *p)
{
    for (size_t i = 0; i < p->entry->code_count && p->main_file == 0; i++)
        p->main_file = p->entry->code[i].where.file;
}

static void decoder_fini(decoder *self)
{
    for (size_t i = 0; self->units != NULL && i < self->p->part_count; i++)
        free(self->units[i]);
    free(self->units);
    free(self->buckets);
    free(self->chain);
}

program *program_decode(const ptx_module *module, const placed *globals, size_t global_count,
                        const ptx_function *entry, emu_report *out)
{
    SCOPED(program_destroy) program *p = xcalloc(1, sizeof *p);
    decoder d = {.p = p, .globals = globals, .global_count = global_count, .report = out};
    p->module = module;
    p->entry = entry;
    find_main_file(p);
    d.buckets = xcalloc(CONSTANT_BUCKETS, sizeof *d.buckets);
    unsigned height = 0;
    bool ok = collect(&d, entry, 0, &height) && lay_out(&d) && decode_all(&d);
    decoder_fini(&d);
    return ok ? TAKE(p) : NULL;
}
