/* flow - jumps, calls and ends
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/lanes.h"
#include "agent-node/emulator/race.h"
#include "agent-node/emulator/sync.h"

/* ---- jumps ---- */

step step_branch(warp *w, const op *o)
{
    group *g = w->now;
    uint32_t taken = g->mask;
    w->jumps++;
    w->counters->branches++;
    if (o->guard != 0) {
        const uint32_t bits = predicate(w, o->guard);
        const uint32_t unset = g->mask & ~w->valid[o->guard];
        if (unset != 0)
            return finding_unset(w, (unsigned)__builtin_ctz(unset), o->guard, "decides a branch");
        taken &= (o->flags & OP_GUARD_NOT) != 0 ? ~bits : bits;
    }
    if (taken == 0)
        return STEP_NEXT;
    if (taken == g->mask) {
        w->pc = o->target;
        return STEP_NEXT;
    }
    w->counters->divergent_branches++;
    g->pc = w->pc;
    group_split(w, g, taken, o->target);
    return STEP_SWITCH;
}

step step_branch_table(warp *w, const op *o)
{
    const branch_table *t = &w->program->tables[o->target];
    const uint32_t *index = unit_at(w, o->a);
    group *g = w->now;
    const uint32_t unset = g->mask & ~w->valid[o->a];
    w->jumps++;
    w->counters->branches++;
    if (unset != 0)
        return finding_unset(w, (unsigned)__builtin_ctz(unset), o->a, "decides a branch");
    for (uint32_t left = g->mask; left != 0;) {
        const uint32_t number = index[__builtin_ctz(left)];
        uint32_t same = 0;
        for (unsigned i = 0; i < LANES; i++)
            same |= index[i] == number ? 1u << i : 0;
        same &= left;
        if (number >= t->count)
            return finding_say(w, EMU_TRAP, (unsigned)__builtin_ctz(same),
                               "jumps to entry %u of a table of %zu", number, t->count);
        left &= ~same;
        if (left == 0) /* the last ones stay in the group */
            g->pc = t->targets[number];
        else
            group_split(w, g, same, t->targets[number]);
    }
    return STEP_SWITCH;
}

/* ---- calls ---- */

static void copy_frame(warp *w, const call_copy *c, bool back)
{
    block *b = w->block;
    const program *p = w->program;
    const uint32_t size = p->local_bytes - LOCAL_BASE;
    const uint32_t from = (back ? c->to : c->from) - LOCAL_BASE;
    const uint32_t to = (back ? c->from : c->to) - LOCAL_BASE;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        const size_t start = (size_t)thread_of(w, (unsigned)__builtin_ctz(left)) * size;
        memcpy(b->local + start + to, b->local + start + from, c->bytes);
        memcpy(b->local_valid + start + to, b->local_valid + start + from, c->bytes);
    }
}

step step_call(warp *w, const op *o)
{
    const call *c = &w->program->calls[o->target];
    group *g = w->now;
    for (uint32_t i = 0; i < c->copy_count; i++)
        copy_frame(w, &c->copies[i], false);
    g->calls[g->depth++] = w->pc - 1;
    w->pc = c->first;
    return STEP_NEXT;
}

step step_return(warp *w, const op *o)
{
    (void)o;
    group *g = w->now;
    const uint32_t from = g->calls[--g->depth];
    const call *c = &w->program->calls[w->program->ops[from].target];
    w->jumps++;
    for (uint32_t i = 0; i < c->result_count; i++)
        copy_frame(w, &c->copies[c->copy_count + i], true);
    w->pc = from + 1;
    /* Lanes that left earlier may be waiting right behind the call. */
    g->pc = w->pc;
    return w->group_count > 1 ? STEP_SWITCH : STEP_NEXT;
}

/* ---- ends ---- */

/* Lanes that end after others of their warp have come to an aligned barrier have gone past it. That is
 * fine if they did nothing more: an early return. */
static const group *passed_barrier(const warp *w)
{
    const group *g = w->now;
    const uint64_t own = w->ops - w->jumps;
    if (!g->worked && own == w->worked_at)
        return NULL;
    for (uint32_t i = 0; i < w->group_count; i++) {
        const group *other = &w->groups[i];
        if (other->state == GROUP_SYNCS && (w->program->ops[other->pc].flags & OP_WHOLE_WARP) != 0)
            return other;
    }
    return NULL;
}

step step_exit(warp *w, const op *o)
{
    (void)o;
    group *g = w->now;
    w->jumps++;
    const group *waits = passed_barrier(w);
    if (waits != NULL) {
        w->pc = waits->pc + 1;
        return finding_say(w, EMU_BARRIER, (unsigned)__builtin_ctz(waits->mask),
                           "comes to a barrier that other threads of its warp never reach: all "
                           "threads of a block must execute the same __syncthreads()");
    }
    const uint32_t gone = w->mask;
    block *b = w->block;
    w->live &= ~gone;
    b->live -= (uint32_t)__builtin_popcount(gone);
    g->mask &= ~gone;
    g->pc = w->pc;
    if (g->mask == 0)
        group_remove(w, g);
    sync_retry(w);
    barrier_retry(b);
    return STEP_SWITCH;
}

step step_trap(warp *w, const op *o)
{
    (void)o;
    return finding_say(w, EMU_TRAP, (unsigned)__builtin_ctz(w->mask),
                       "executes a trap: __trap(), or code that cannot be reached");
}

/* A text in global memory that an argument of __assertfail points to. */
static const char *text_argument(const warp *w, const call *c, uint32_t i, unsigned lane)
{
    uint64_t address = 0;
    const program *p = w->program;
    const size_t start = (size_t)thread_of(w, lane) * (p->local_bytes - LOCAL_BASE);
    if (i >= c->copy_count || c->copies[i].bytes != 8)
        return "";
    memcpy(&address, w->block->local + start + c->copies[i].from - LOCAL_BASE, sizeof address);
    const region *r = memory_find(w->block->grid->memory, address);
    const char *text = r != NULL ? (const char *)(uintptr_t)address : "";
    const uint64_t rest = r != NULL ? r->bytes - (address - r->base) : 1;
    return memchr(text, '\0', rest) != NULL ? text : "";
}

step step_assert(warp *w, const op *o)
{
    const unsigned lane = (unsigned)__builtin_ctz(w->mask);
    const char *text = text_argument(w, &w->program->calls[o->target], 0, lane);
    return finding_say(w, EMU_ASSERT, lane, "fails the assertion %.160s", text);
}

/* ---- small things ---- */

step step_clock(warp *w, const op *o)
{
    if (o->mode != 0) {
        uint64_t *d = unit_at(w, o->d);
        for (unsigned i = 0; i < LANES; i++)
            d[i] = w->on[i] != 0 ? w->ops : d[i];
    } else {
        uint32_t *d = unit_at(w, o->d);
        for (unsigned i = 0; i < LANES; i++)
            d[i] = w->on[i] != 0 ? (uint32_t)w->ops : d[i];
    }
    w->valid[o->d] |= w->mask;
    return STEP_NEXT;
}

/* mode 1: a hint without effect. */
step step_yield(warp *w, const op *o)
{
    if (o->mode != 0)
        return STEP_NEXT;
    w->spins = SPIN_SLICE;
    w->now->pc = w->pc;
    return STEP_SWITCH;
}

step step_fence(warp *w, const op *o)
{
    race_fence(w, o->mode != 0);
    return STEP_NEXT;
}

step step_activemask(warp *w, const op *o)
{
    uint32_t *d = unit_at(w, o->d);
    for (unsigned i = 0; i < LANES; i++)
        d[i] = w->on[i] != 0 ? w->mask : d[i];
    w->valid[o->d] |= w->mask;
    return STEP_NEXT;
}
