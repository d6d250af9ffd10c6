/* warp - runs a warp: groups of lanes, and the loop over ops
 *
 * The group with the smallest place runs, up to the next one's place, where the two become one: with
 * compilers' layout of code that brings diverged lanes together again. So that lanes that wait for
 * lanes of their own warp do not wait for ever, the group that was chosen longest ago gets a turn when a
 * slice has been used up.
 *
 * SPDX-License-Identifier: MIT */
#include <fenv.h>

#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/lanes.h"

void warp_mask(warp *w, uint32_t mask)
{
    if (w->mask == mask)
        return;
    w->mask = mask;
    w->lane_count = (uint32_t)__builtin_popcount(mask);
    for (unsigned i = 0; i < LANES; i++) {
        w->on[i] = 0 - (mask >> i & 1);
        w->on64[i] = 0 - (uint64_t)(mask >> i & 1);
    }
}

void warp_reset(warp *w, uint32_t lanes)
{
    w->born = w->live = lanes;
    w->group_count = 1;
    w->groups[0] = (group){.mask = lanes};
    w->carry = 0;
    w->spins = 0;
    w->ops = w->jumps = 0;
    for (unsigned i = 0; i < ORIGINS; i++)
        w->unset[i].op = NO_ORIGIN;
}

/* ---- groups ---- */

group *group_split(warp *w, group *from, uint32_t mask, uint32_t pc)
{
    group *g = &w->groups[w->group_count++];
    *g = *from;
    from->mask &= ~mask;
    g->mask = mask;
    g->pc = pc;
    g->state = GROUP_RUNS;
    return g;
}

void group_remove(warp *w, group *g)
{
    *g = w->groups[--w->group_count];
}

static bool same_place(const group *a, const group *b)
{
    return a->pc == b->pc && a->depth == b->depth &&
           memcmp(a->calls, b->calls, a->depth * sizeof *a->calls) == 0;
}

/* merge joins running groups that are at the same place. */
static void merge(warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++)
        for (uint32_t k = i + 1; k < w->group_count;) {
            group *a = &w->groups[i], *b = &w->groups[k];
            if (a->state != GROUP_RUNS || b->state != GROUP_RUNS || !same_place(a, b)) {
                k++;
                continue;
            }
            a->mask |= b->mask;
            a->worked |= b->worked;
            group_remove(w, b);
        }
}

/* choose gives the group to run, or NULL; *stop becomes the place where it meets another one. */
static group *choose(warp *w, bool oldest, uint32_t *stop, uint32_t *running)
{
    group *best = NULL;
    *running = 0;
    if (w->group_count > 1)
        merge(w);
    for (uint32_t i = 0; i < w->group_count; i++) {
        group *g = &w->groups[i];
        if (g->state != GROUP_RUNS)
            continue;
        ++*running;
        if (best == NULL || (oldest ? g->turn < best->turn : g->pc < best->pc))
            best = g;
    }
    *stop = UINT32_MAX;
    for (uint32_t i = 0; best != NULL && i < w->group_count; i++) {
        const group *g = &w->groups[i];
        if (g != best && g->state == GROUP_RUNS && g->pc > best->pc && g->pc < *stop)
            *stop = g->pc;
    }
    if (best != NULL)
        best->turn = ++w->turns;
    return best;
}

/* ---- ops ---- */

static void settle(warp *w, const op *o)
{
    const uint32_t good = w->valid[o->a] & w->valid[o->b] & w->valid[o->c];
    w->valid[o->d] = (w->valid[o->d] & ~w->mask) | (good & w->mask);
    if ((w->mask & ~good) != 0)
        w->origin[o->d] = origin_of(w, o, w->mask & ~good);
}

static void lanes_rounded(warp *w, const op *o)
{
    static const int units[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(units[o->round]);
    o->lanes(w, o);
    fesetround(FE_TONEAREST);
}

static step execute(warp *w, const op *o)
{
    w->counters->thread_instructions[o->class] += w->lane_count;
    w->counters->warp_instructions++;
    if (o->lanes == NULL)
        return o->step(w, o);
    if (o->round != ROUND_NEAREST)
        lanes_rounded(w, o);
    else
        o->lanes(w, o);
    if ((o->flags & OP_OWN_VALID) == 0)
        settle(w, o);
    return STEP_NEXT;
}

/* guarded executes an op in the lanes whose predicate says so. What lanes do together is executed by a
 * group of its own. */
static step guarded(warp *w, const op *o)
{
    group *g = w->now;
    const uint32_t bits = predicate(w, o->guard);
    const uint32_t lanes = g->mask & ((o->flags & OP_GUARD_NOT) != 0 ? ~bits : bits);
    const uint32_t unset = g->mask & ~w->valid[o->guard];
    if (unset != 0)
        return finding_unset(w, (unsigned)__builtin_ctz(unset), o->guard,
                             "decides whether an instruction is executed");
    if (lanes == 0)
        return STEP_NEXT;
    if (lanes != g->mask && (o->flags & OP_TOGETHER) != 0) {
        group_split(w, g, g->mask & ~lanes, w->pc);
        g->pc = w->pc - 1;
        warp_mask(w, lanes);
        step s = execute(w, o);
        if (s == STEP_NEXT)
            g->pc = w->pc;
        return s == STEP_NEXT ? STEP_SWITCH : s;
    }
    warp_mask(w, lanes);
    step s = execute(w, o);
    if (s == STEP_NEXT)
        warp_mask(w, g->mask);
    return s;
}

static step run_ops(warp *w, uint32_t stop, uint32_t count)
{
    const op *ops = w->program->ops;
    group *g = w->now;
    w->pc = g->pc;
    warp_mask(w, g->mask);
    while (count-- > 0) {
        const op *o = &ops[w->pc++];
        w->ops++;
        step s = o->guard != 0 && (o->flags & OP_BRANCH) == 0 ? guarded(w, o) : execute(w, o);
        if (s != STEP_NEXT)
            return s;
        if (w->pc >= stop)
            break;
    }
    g->pc = w->pc;
    return STEP_NEXT;
}

/* run_group runs the chosen group and notes whether it did more than jump. */
static step run_group(warp *w, uint32_t stop, uint32_t count)
{
    w->worked_at = w->ops - w->jumps;
    group *g = w->now;
    step s = run_ops(w, stop, count);
    if (s == STEP_NEXT && w->ops - w->jumps != w->worked_at)
        g->worked = true;
    return s;
}

/* Everybody's turn is over without progress: the warp waits for others. */
static bool only_spins(const warp *w, uint32_t running, uint32_t *rounds)
{
    if (w->spins < SPIN_SLICE)
        return false;
    ++*rounds;
    return *rounds >= running;
}

warp_state warp_run(warp *w)
{
    const uint64_t end = w->ops + WARP_SLICE;
    uint32_t rounds = 0;
    bool oldest = false;
    w->spins = 0;
    while (w->group_count > 0) {
        uint32_t stop = 0, running = 0;
        if (w->ops >= end)
            return WARP_RAN;
        w->now = choose(w, oldest, &stop, &running);
        oldest = false;
        if (w->now == NULL) {
            step s = sync_stuck(w);
            if (s == STEP_STOP)
                return WARP_STOPPED;
            if (s != STEP_SWITCH)
                return WARP_BLOCKED;
            continue;
        }
        const uint64_t before = w->ops;
        const uint32_t slice = running > 1 ? GROUP_SLICE : WARP_SLICE;
        if (run_group(w, stop, slice) == STEP_STOP)
            return WARP_STOPPED;
        if (only_spins(w, running, &rounds))
            return WARP_SPINS;
        oldest = w->spins >= SPIN_SLICE || w->ops - before >= slice;
        if (w->spins >= SPIN_SLICE)
            w->spins = 0;
    }
    return WARP_ENDED;
}
