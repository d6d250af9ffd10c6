/* decode_operand - places of registers, constants, special registers and variables
 *
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdlib.h>

#include "agent-node/emulator/decode.h"
#include "agent-node/emulator/finding.h"
#include "common/buf.h"
#include "common/xalloc.h"

enum { REASON_MAX = 1024 };

void *decode_room(void *items, size_t count, size_t size)
{
    bool full = (count & (count - 1)) == 0; /* at 0, 1, 2, 4, … */
    return full ? xreallocarray(items, count == 0 ? 1 : 2 * count, size) : items;
}

bool refuse(decoder *self, const char *format, ...)
{
    buf text;
    va_list args;
    buf_init(&text, REASON_MAX);
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    finding_refuse_at(self->report, self->p, self->at, "%s", buf_text(&text));
    buf_fini(&text);
    return false;
}

const ptx_operand *operand_at(decoder *self, size_t i)
{
    if (i < self->in->operand_count)
        return &self->in->operands[i];
    refuse(self, "operand %zu is missing", i + 1);
    return NULL;
}

const ptx_type *register_type(const decoder *self, uint32_t reg)
{
    return self->part->function->registers[reg].type;
}

bool register_is_wide(const decoder *self, uint32_t reg)
{
    return register_type(self, reg)->bytes == 8;
}

static bool fits(const ptx_type *type, char kind)
{
    bool predicate = type->kind == PTX_PREDICATE;
    switch (kind) {
    case 'p':
        return predicate;
    case 'w':
        return !predicate && type->bytes <= 4;
    case 'd':
        return !predicate && type->bytes == 8;
    default:
        return !predicate && type->bytes <= 8;
    }
}

static bool register_unit(decoder *self, const ptx_operand *x, char kind, uint32_t *unit)
{
    const ptx_register *r = &self->part->function->registers[x->reg];
    if (r->lanes > 1 || x->component != NULL)
        return refuse(self, "vector registers are not supported");
    if (!fits(r->type, kind))
        return refuse(self, "register %s of type .%s does not fit the instruction", x->name,
                      r->type->name);
    *unit = self->units[self->part - self->p->parts][x->reg];
    return true;
}

/* ---- constants ---- */

uint32_t constant_unit(decoder *self, uint64_t bits, bool wide)
{
    program *p = self->p;
    uint32_t bucket = (uint32_t)((bits ^ bits >> 32) * 2654435761u >> 8) % CONSTANT_BUCKETS;
    if (bits == 0 && !wide)
        return 0;
    for (uint32_t i = self->buckets[bucket]; i != 0; i = self->chain[i - 1])
        if (p->constants[i - 1].bits == bits && p->constants[i - 1].wide == wide)
            return p->constants[i - 1].unit;
    self->chain = decode_room(self->chain, p->constant_count, sizeof *self->chain);
    self->chain[p->constant_count] = self->buckets[bucket];
    constant *c = PUSH(p->constants, p->constant_count);
    self->buckets[bucket] = (uint32_t)p->constant_count;
    *c = (constant){p->unit_count, wide, bits};
    p->unit_count += wide ? 2 : 1;
    return c->unit;
}

static uint64_t float_bits(const ptx_operand *x, bool wide)
{
    if (x->kind == PTX_OPERAND_FLOAT32)
        return wide ? bits_of_f64((double)f32_of_bits((uint32_t)x->bits)) : x->bits;
    return wide ? x->bits : bits_of_f32((float)f64_of_bits(x->bits));
}

static bool immediate(decoder *self, const ptx_operand *x, char kind, uint32_t *unit)
{
    bool wide = kind == 'd';
    uint64_t bits = x->kind == PTX_OPERAND_INT ? x->bits : float_bits(x, wide);
    if (kind == 'p')
        bits = bits != 0 ? ALL_LANES : 0;
    *unit = constant_unit(self, wide ? bits : (uint32_t)bits, wide);
    return true;
}

bool integer_operand(decoder *self, const ptx_operand *x, uint64_t *out)
{
    if (x->kind != PTX_OPERAND_INT)
        return refuse(self, "a constant was expected");
    *out = x->bits;
    return true;
}

/* ---- special registers ---- */

static const struct {
    const char *name, *component;
    special_register number;
} specials[] = {
    {"%tid", "x", SPECIAL_TID_X},
    {"%tid", "y", SPECIAL_TID_Y},
    {"%tid", "z", SPECIAL_TID_Z},
    {"%ntid", "x", SPECIAL_NTID_X},
    {"%ntid", "y", SPECIAL_NTID_Y},
    {"%ntid", "z", SPECIAL_NTID_Z},
    {"%ctaid", "x", SPECIAL_CTAID_X},
    {"%ctaid", "y", SPECIAL_CTAID_Y},
    {"%ctaid", "z", SPECIAL_CTAID_Z},
    {"%nctaid", "x", SPECIAL_NCTAID_X},
    {"%nctaid", "y", SPECIAL_NCTAID_Y},
    {"%nctaid", "z", SPECIAL_NCTAID_Z},
    {"%laneid", NULL, SPECIAL_LANEID},
    {"%warpid", NULL, SPECIAL_WARPID},
    {"%nwarpid", NULL, SPECIAL_NWARPID},
    {"%smid", NULL, SPECIAL_SMID},
    {"%nsmid", NULL, SPECIAL_NSMID},
    {"%gridid", NULL, SPECIAL_GRIDID},
    {"%lanemask_eq", NULL, SPECIAL_LANEMASK_EQ},
    {"%lanemask_lt", NULL, SPECIAL_LANEMASK_LT},
    {"%lanemask_le", NULL, SPECIAL_LANEMASK_LE},
    {"%lanemask_gt", NULL, SPECIAL_LANEMASK_GT},
    {"%lanemask_ge", NULL, SPECIAL_LANEMASK_GE},
    {"%dynamic_smem_size", NULL, SPECIAL_DYNAMIC_SHARED},
    {"%total_smem_size", NULL, SPECIAL_TOTAL_SHARED},
    {"%envreg1", NULL, SPECIAL_ENVREG1},
    {"%envreg2", NULL, SPECIAL_ENVREG2},
    {"%tid", "w", SPECIAL_ZERO},
    {"%ctaid", "w", SPECIAL_ZERO},
};

static bool special_unit(decoder *self, const ptx_operand *x, char kind, uint32_t *unit)
{
    const size_t count = sizeof specials / sizeof *specials;
    for (size_t i = 0; i < count; i++) {
        const char *component = specials[i].component;
        if (strcmp(specials[i].name, x->name) != 0 ||
            (component == NULL) != (x->component == NULL) ||
            (component != NULL && strcmp(component, x->component) != 0))
            continue;
        bool wide = specials[i].number == SPECIAL_GRIDID;
        if (kind != (wide ? 'd' : 'w') && kind != 'x')
            break;
        uint32_t *known = &self->p->specials[specials[i].number];
        if (*known == 0) {
            *known = self->p->unit_count;
            self->p->unit_count += wide ? 2 : 1;
        }
        *unit = *known;
        return true;
    }
    return refuse(self, "special register %s%s%s is not supported here", x->name,
                  x->component != NULL ? "." : "", x->component != NULL ? x->component : "");
}

/* ---- variables ---- */

static bool find_placed(const placed *list, size_t count, const ptx_variable *v, uint64_t *address)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].variable == v) {
            *address = list[i].at;
            return true;
        }
    return false;
}

static bool place_shared(decoder *self, const ptx_variable *v, uint64_t *address)
{
    program *p = self->p;
    if (v->bytes == 0) { /* extern: dynamic shared memory; its address is set when all is known */
        *address = p->shared_dynamic;
        return true;
    }
    uint32_t align = v->align > 16 ? v->align : 16;
    uint64_t at = ((uint64_t)p->shared_bytes + align - 1) / align * align;
    if (at + v->bytes > (1u << 30))
        return refuse(self, "shared variables of more than 1 GiB");
    const uint32_t own = v->align > 1 ? v->align : 1;
    p->shared_real = (p->shared_real + own - 1) / own * own + (uint32_t)v->bytes;
    p->shared_bytes = (uint32_t)(at + v->bytes + VARIABLE_GAP);
    *PUSH(p->placed, p->placed_count) = (placed){v, NULL, at, v->bytes};
    *address = at;
    return true;
}

bool place_of(decoder *self, const ptx_variable *v, uint64_t *address)
{
    if (find_placed(self->globals, self->global_count, v, address) ||
        find_placed(self->p->placed, self->p->placed_count, v, address))
        return true;
    if (v->space == PTX_SPACE_SHARED)
        return place_shared(self, v, address);
    return refuse(self, "variable %s is not supported", v->name);
}

static bool variable_unit(decoder *self, const ptx_operand *x, char kind, uint32_t *unit)
{
    uint64_t address = 0;
    if (x->variable->is_kernel_param)
        return refuse(self, "the address of kernel parameter %s is not supported",
                      x->variable->name);
    if (!place_of(self, x->variable, &address))
        return false;
    address += (uint64_t)x->offset;
    if (kind == 'w' && address > UINT32_MAX)
        return refuse(self, "the address of %s has more than 32 bits", x->variable->name);
    *unit = constant_unit(self, address, kind == 'd');
    return true;
}

/* ---- operands ---- */

bool source(decoder *self, const ptx_operand *x, char kind, uint32_t *unit)
{
    if (x->negated && kind != 'p')
        return refuse(self, "a negated operand is not supported");
    switch (x->kind) {
    case PTX_OPERAND_REGISTER:
        return register_unit(self, x, kind, unit);
    case PTX_OPERAND_INT:
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        return immediate(self, x, kind, unit);
    case PTX_OPERAND_SPECIAL:
        return special_unit(self, x, kind, unit);
    case PTX_OPERAND_VARIABLE:
        return variable_unit(self, x, kind, unit);
    case PTX_OPERAND_FUNCTION:
        return refuse(self, "the address of function %s is not supported", x->name);
    case PTX_OPERAND_LABEL:
    case PTX_OPERAND_TABLE:
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_SINK:
        break;
    }
    return refuse(self, "an operand of this kind is not supported");
}

bool result(decoder *self, const ptx_operand *x, char kind, uint32_t *unit)
{
    if (x->kind == PTX_OPERAND_SINK) {
        *unit = 0;
        return true;
    }
    if (x->kind != PTX_OPERAND_REGISTER || x->negated)
        return refuse(self, "the result is no register");
    return register_unit(self, x, kind, unit);
}
