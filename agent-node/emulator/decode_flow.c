/* decode_flow - jumps, calls, barriers and what lanes of a warp do together
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/decode.h"
#include "agent-node/emulator/sync.h"
#include "common/xalloc.h"

static bool has(const decoder *self, const char *word)
{
    return ptx_instruction_has(self->in, word);
}

/* only refuses a modifier that is not in the list (ended by NULL). */
static bool only(decoder *self, const char *const *list)
{
    for (size_t i = 0; i < self->in->modifier_count; i++) {
        const char *const *at = list;
        while (*at != NULL && strcmp(*at, self->in->modifiers[i]) != 0)
            at++;
        if (*at == NULL)
            return refuse(self, ".%s is not supported here", self->in->modifiers[i]);
    }
    return true;
}

static bool operands(decoder *self, size_t least, size_t most)
{
    const size_t count = self->in->operand_count;
    return count >= least && count <= most ? true : refuse(self, "%zu operands", count);
}

/* ---- jumps ---- */

bool decode_bra(decoder *self)
{
    static const char *const words[] = {"uni", NULL};
    const ptx_operand *to = operand_at(self, 0);
    if (to == NULL || !only(self, words))
        return false;
    if (to->kind != PTX_OPERAND_LABEL)
        return refuse(self, "a jump to something that is no label");
    self->op->step = step_branch;
    self->op->class = EMU_CLASS_CONTROL;
    self->op->flags |= OP_BRANCH;
    self->op->target = self->part->first + (uint32_t)to->target;
    return true;
}

bool decode_brx(decoder *self)
{
    static const char *const words[] = {"idx", "uni", NULL};
    if (!only(self, words) || !operands(self, 2, 2))
        return false;
    const ptx_operand *index = &self->in->operands[0], *list = &self->in->operands[1];
    if (list->kind != PTX_OPERAND_TABLE)
        return refuse(self, "a jump without a list of targets");
    const ptx_table *t = &self->part->function->tables[list->table];
    branch_table made = {xcalloc(t->item_count + 1, sizeof(uint32_t)), t->item_count};
    for (size_t i = 0; i < t->item_count; i++)
        made.targets[i] = self->part->first + (uint32_t)t->items[i].target;
    self->op->target = (uint32_t)self->p->table_count;
    *PUSH(self->p->tables, self->p->table_count) = made;
    self->op->flags |= OP_TOGETHER;
    self->op->step = step_branch_table;
    self->op->class = EMU_CLASS_CONTROL;
    return source(self, index, 'w', &self->op->a);
}

bool decode_exit(decoder *self)
{
    self->op->step = step_exit;
    self->op->class = EMU_CLASS_CONTROL;
    return true;
}

bool decode_ret(decoder *self)
{
    if (self->part->function->is_entry)
        return decode_exit(self);
    self->op->step = step_return;
    self->op->flags |= OP_TOGETHER;
    self->op->class = EMU_CLASS_CONTROL;
    return true;
}

bool decode_trap(decoder *self)
{
    self->op->step = step_trap;
    self->op->class = EMU_CLASS_CONTROL;
    return true;
}

bool decode_nanosleep(decoder *self)
{
    self->op->step = step_yield;
    self->op->class = EMU_CLASS_CONTROL;
    return true;
}

/* ---- calls ---- */

static const program_part *part_of(const decoder *self, const ptx_function *f)
{
    for (size_t i = 0; i < self->p->part_count; i++)
        if (self->p->parts[i].function == f)
            return &self->p->parts[i];
    return NULL;
}

static bool frame_copy(decoder *self, const ptx_operand *mine, const ptx_variable *theirs,
                       call_copy *out)
{
    uint64_t own = 0, other = 0;
    if (mine->kind != PTX_OPERAND_VARIABLE || mine->variable->space != PTX_SPACE_PARAM ||
        theirs->space != PTX_SPACE_PARAM)
        return refuse(self, "arguments in registers are not supported");
    if (!place_of(self, mine->variable, &own) || !place_of(self, theirs, &other))
        return false;
    if (mine->variable->bytes != theirs->bytes)
        return refuse(self, "an argument of %llu bytes, the function takes %llu",
                      (unsigned long long)mine->variable->bytes, (unsigned long long)theirs->bytes);
    *out = (call_copy){(uint32_t)own, (uint32_t)other, (uint32_t)theirs->bytes};
    return true;
}

/* The parts of `call (r), f, (a, b)`: lists may be absent. */
typedef struct call_parts {
    const ptx_operand *results, *callee, *arguments;
} call_parts;

static bool split_call(decoder *self, call_parts *c)
{
    *c = (call_parts){0};
    for (size_t i = 0; i < self->in->operand_count; i++) {
        const ptx_operand *x = &self->in->operands[i];
        if (x->kind == PTX_OPERAND_FUNCTION)
            c->callee = x;
        else if (x->kind == PTX_OPERAND_LIST && c->callee == NULL)
            c->results = x;
        else if (x->kind == PTX_OPERAND_LIST)
            c->arguments = x;
    }
    return c->callee != NULL ? true : refuse(self, "a call through a pointer is not supported");
}

static size_t list_count(const ptx_operand *list)
{
    return list != NULL ? list->item_count : 0;
}

static bool call_copies(decoder *self, const call_parts *c, const ptx_function *f, call *out)
{
    out->copy_count = (uint32_t)list_count(c->arguments);
    out->result_count = (uint32_t)list_count(c->results);
    if (out->copy_count != f->param_count || out->result_count != f->result_count)
        return refuse(self, "a call of %s with other arguments than it has", f->name);
    out->copies = xcalloc((size_t)out->copy_count + out->result_count + 1, sizeof *out->copies);
    for (size_t i = 0; i < out->copy_count; i++)
        if (!frame_copy(self, &c->arguments->items[i], f->params[i], &out->copies[i]))
            return false;
    for (size_t i = 0; i < out->result_count; i++)
        if (!frame_copy(self, &c->results->items[i], f->results[i],
                        &out->copies[out->copy_count + i]))
            return false;
    return true;
}

/* __assertfail(message, file, line, function, size): where its arguments lie in the caller's frame. */
static bool decode_assert(decoder *self, const call_parts *c)
{
    call made = {.copy_count = (uint32_t)list_count(c->arguments)};
    made.copies = xcalloc((size_t)made.copy_count + 1, sizeof *made.copies);
    self->op->target = (uint32_t)self->p->call_count;
    *PUSH(self->p->calls, self->p->call_count) = made;
    for (size_t i = 0; i < made.copy_count; i++) {
        const ptx_operand *x = &c->arguments->items[i];
        uint64_t at = 0;
        if (x->kind == PTX_OPERAND_VARIABLE && place_of(self, x->variable, &at))
            made.copies[i] = (call_copy){(uint32_t)at, 0, (uint32_t)x->variable->bytes};
    }
    self->op->step = step_assert;
    return true;
}

bool decode_call(decoder *self)
{
    call_parts c;
    call made = {0};
    self->op->class = EMU_CLASS_CONTROL;
    if (!split_call(self, &c))
        return false;
    const ptx_function *f = c.callee->function;
    if (strcmp(f->name, "__assertfail") == 0)
        return decode_assert(self, &c);
    const program_part *to = part_of(self, f);
    if (to == NULL)
        return refuse(self, "a call of %s, which has no body", f->name);
    bool ok = call_copies(self, &c, f, &made);
    made.first = to->first;
    self->op->target = (uint32_t)self->p->call_count;
    self->op->step = step_call;
    self->op->flags |= OP_TOGETHER;
    *PUSH(self->p->calls, self->p->call_count) = made; /* owned there, also when refused */
    return ok;
}

/* ---- barriers ---- */

/* bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, c: a is at `first`. */
static bool barrier_numbers(decoder *self, size_t first, size_t count)
{
    op *o = self->op;
    if (!source(self, &self->in->operands[first], 'w', &o->a))
        return false;
    o->flags |= count > 1 ? OP_COUNTED : 0;
    return count < 2 || source(self, &self->in->operands[first + 1], 'w', &o->b);
}

static bool decode_bar_red(decoder *self)
{
    op *o = self->op;
    if (!operands(self, 3, 4))
        return false;
    const size_t last = self->in->operand_count - 1;
    const bool counts = has(self, "popc");
    o->step = step_barrier_reduce;
    o->mode = counts ? BARRIER_POPC : has(self, "and") ? BARRIER_AND : BARRIER_OR;
    if (self->in->operands[last].negated)
        o->flags |= OP_NOT_C;
    return result(self, &self->in->operands[0], counts ? 'w' : 'p', &o->d) &&
           barrier_numbers(self, 1, last - 1) &&
           source(self, &self->in->operands[last], 'p', &o->c);
}

bool decode_bar(decoder *self)
{
    static const char *const words[] = {"sync", "arrive", "red",     "warp", "cta",  "popc",
                                        "and",  "or",     "aligned", "u32",  "pred", NULL};
    op *o = self->op;
    o->class = EMU_CLASS_SYNC;
    if (!only(self, words))
        return false;
    o->flags |= OP_TOGETHER;
    if (has(self, "warp")) {
        o->step = step_warp_barrier;
        return operands(self, 1, 1) && source(self, &self->in->operands[0], 'w', &o->b);
    }
    if (strcmp(self->in->opcode, "bar") == 0 || has(self, "aligned"))
        o->flags |= OP_WHOLE_WARP;
    if (has(self, "red"))
        return decode_bar_red(self);
    o->step = has(self, "arrive") ? step_barrier_arrive : step_barrier;
    return operands(self, 1, 2) && barrier_numbers(self, 0, self->in->operand_count);
}

bool decode_fence(decoder *self)
{
    static const char *const words[] = {"sc",  "acq_rel", "acquire", "release", "gpu",
                                        "cta", "sys",     "gl",      NULL};
    self->op->step = step_fence;
    self->op->class = EMU_CLASS_SYNC;
    self->op->mode = has(self, "cta") ? 0 : 1;
    return only(self, words);
}

/* ---- together in a warp ---- */

bool decode_shfl(decoder *self)
{
    static const char *const words[] = {"sync", "up", "down", "bfly", "idx", "b32", NULL};
    op *o = self->op;
    if (!only(self, words) || !operands(self, 5, 5))
        return false;
    if (!has(self, "sync"))
        return refuse(self, "shfl without .sync is not supported");
    const ptx_operand *x = self->in->operands;
    o->step = step_shuffle;
    o->flags |= OP_TOGETHER;
    o->class = EMU_CLASS_SYNC;
    o->mode = has(self, "up")     ? SHUFFLE_UP
              : has(self, "down") ? SHUFFLE_DOWN
              : has(self, "bfly") ? SHUFFLE_BFLY
                                  : SHUFFLE_IDX;
    bool pair = x[0].kind == PTX_OPERAND_PAIR && x[0].item_count == 2;
    return result(self, pair ? &x[0].items[0] : &x[0], 'w', &o->d) &&
           (!pair || result(self, &x[0].items[1], 'p', &o->e)) && source(self, &x[1], 'w', &o->a) &&
           source(self, &x[2], 'w', &o->c) && source(self, &x[3], 'w', &o->target) &&
           source(self, &x[4], 'w', &o->b);
}

bool decode_vote(decoder *self)
{
    static const char *const words[] = {"sync", "all", "any", "uni", "ballot", "pred", "b32", NULL};
    op *o = self->op;
    if (!only(self, words) || !operands(self, 3, 3))
        return false;
    const ptx_operand *x = self->in->operands;
    const bool ballot = has(self, "ballot");
    o->step = step_vote;
    o->flags |= OP_TOGETHER;
    o->class = EMU_CLASS_SYNC;
    o->mode = ballot             ? VOTE_BALLOT
              : has(self, "all") ? VOTE_ALL
              : has(self, "any") ? VOTE_ANY
                                 : VOTE_UNI;
    if (x[1].negated)
        o->flags |= OP_NOT_C;
    return result(self, &x[0], ballot ? 'w' : 'p', &o->d) && source(self, &x[1], 'p', &o->a) &&
           source(self, &x[2], 'w', &o->b);
}

bool decode_match(decoder *self)
{
    static const char *const words[] = {"sync", "any", "all", "b32", "b64", NULL};
    op *o = self->op;
    if (!only(self, words) || !operands(self, 3, 3))
        return false;
    const ptx_operand *x = self->in->operands;
    const bool wide = has(self, "b64");
    const bool pair = x[0].kind == PTX_OPERAND_PAIR && x[0].item_count == 2;
    o->step = step_match;
    o->flags |= OP_TOGETHER;
    o->class = EMU_CLASS_SYNC;
    o->mode = (has(self, "all") ? MATCH_ALL : 0) | (wide ? MATCH_WIDE : 0);
    return result(self, pair ? &x[0].items[0] : &x[0], 'w', &o->d) &&
           (!pair || result(self, &x[0].items[1], 'p', &o->e)) &&
           source(self, &x[1], wide ? 'd' : 'w', &o->a) && source(self, &x[2], 'w', &o->b);
}

bool decode_redux(decoder *self)
{
    static const char *const words[] = {"sync", "add", "min", "max", "and", "or",
                                        "xor",  "s32", "u32", "b32", NULL};
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    op *o = self->op;
    if (!only(self, words) || !operands(self, 3, 3))
        return false;
    o->step = step_reduce;
    o->flags |= OP_TOGETHER;
    o->class = EMU_CLASS_SYNC;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has(self, names[i]))
            o->mode = (uint8_t)i; /* order of enum reduction */
    o->mode |= has(self, "s32") ? REDUCE_SIGNED : 0;
    const ptx_operand *x = self->in->operands;
    return result(self, &x[0], 'w', &o->d) && source(self, &x[1], 'w', &o->a) &&
           source(self, &x[2], 'w', &o->b);
}

bool decode_activemask(decoder *self)
{
    self->op->step = step_activemask;
    self->op->class = EMU_CLASS_SYNC;
    return operands(self, 1, 1) && result(self, &self->in->operands[0], 'w', &self->op->d);
}
