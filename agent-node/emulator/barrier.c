/* barrier - barriers of the block
 *
 * An aligned barrier (bar.*, __syncthreads) is executed by a whole warp: lanes that come early wait for
 * the others of their warp first. A barrier without a count waits for every thread that has not ended.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/lanes.h"
#include "agent-node/emulator/race.h"
#include "agent-node/emulator/sync.h"

/* Number and count of the op; false: the kernel gives impossible ones. */
static bool numbers(warp *w, const op *o, uint32_t *number, uint32_t *count, step *stop)
{
    const unsigned lane = (unsigned)__builtin_ctz(w->mask);
    *number = ((const uint32_t *)unit_at(w, o->a))[lane];
    *count = (o->flags & OP_COUNTED) != 0 ? ((const uint32_t *)unit_at(w, o->b))[lane] : 0;
    if (*number >= BARRIER_MAX) {
        *stop = finding_say(w, EMU_BARRIER, lane, "uses barrier %u; there are 0 to %d", *number,
                            BARRIER_MAX - 1);
        return false;
    }
    if ((o->flags & OP_COUNTED) != 0 && (*count == 0 || *count % LANES != 0)) {
        *stop = finding_say(w, EMU_BARRIER, lane,
                            "uses a barrier for %u threads: a multiple of 32 is legal", *count);
        return false;
    }
    return true;
}

/* ---- completion ---- */

static void give_result(warp *w, const group *g, const barrier *bar)
{
    const op *o = &w->program->ops[g->pc];
    if (o->step != step_barrier_reduce)
        return;
    const uint32_t before = w->mask;
    warp_mask(w, g->mask);
    if (o->mode == BARRIER_POPC) {
        uint32_t *d = unit_at(w, o->d);
        for (unsigned i = 0; i < LANES; i++)
            d[i] = w->on[i] != 0 ? bar->truths : d[i];
    } else {
        const bool truth = o->mode == BARRIER_AND ? bar->truths == bar->votes : bar->truths != 0;
        predicate_set(w, o->d, truth ? ALL_LANES : 0);
    }
    w->valid[o->d] |= w->mask;
    warp_mask(w, before);
}

static void release(block *b, uint32_t number)
{
    barrier *bar = &b->barriers[number];
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[i];
        for (uint32_t k = 0; k < w->group_count; k++) {
            group *g = &w->groups[k];
            if (g->state != GROUP_WAITS || g->barrier != number)
                continue;
            give_result(w, g, bar);
            race_passed(w, g->mask);
            g->state = GROUP_RUNS;
            g->pc++;
        }
    }
    race_advance(b);
    b->worker->counters.barriers++;
    *bar = (barrier){0};
}

static bool is_complete(const block *b, const barrier *bar)
{
    return bar->arrived >= (bar->expected != 0 ? bar->expected : b->live);
}

void barrier_retry(block *b)
{
    for (uint32_t i = 0; i < BARRIER_MAX; i++)
        if (b->barriers[i].arrived != 0 && b->barriers[i].expected == 0 &&
            is_complete(b, &b->barriers[i]))
            release(b, i);
}

/* ---- arrival ---- */

static void count_votes(const warp *w, const op *o, barrier *bar)
{
    if (o->step != step_barrier_reduce)
        return;
    const uint32_t p = predicate(w, o->c);
    const uint32_t truths = ((o->flags & OP_NOT_C) != 0 ? ~p : p) & w->mask;
    bar->truths += (uint32_t)__builtin_popcount(truths);
    bar->votes += w->lane_count;
}

static step arrive(warp *w, const op *o, bool waits)
{
    uint32_t number = 0, count = 0;
    step s = STEP_NEXT;
    block *b = w->block;
    group *g = w->now;
    if ((o->flags & OP_WHOLE_WARP) != 0 && (s = sync_whole_warp(w)) != STEP_NEXT)
        return s;
    if (!numbers(w, o, &number, &count, &s))
        return s;
    barrier *bar = &b->barriers[number];
    if (bar->arrived != 0 && bar->expected != count)
        return finding_say(w, EMU_BARRIER, (unsigned)__builtin_ctz(w->mask),
                           "comes to barrier %u for %u threads while others wait there for %u",
                           number, count, bar->expected);
    bar->expected = count;
    /* With a count a warp that comes whole counts as 32, however many threads it has. */
    const bool whole = count != 0 && (o->flags & OP_WHOLE_WARP) != 0;
    bar->arrived += whole ? LANES : w->lane_count;
    count_votes(w, o, bar);
    if (waits) {
        g->pc = w->pc - 1;
        g->state = GROUP_WAITS;
        g->barrier = number;
    }
    if (is_complete(b, bar)) {
        if (finding_flush(b))
            return STEP_STOP;
        release(b, number);
    }
    return waits ? STEP_SWITCH : STEP_NEXT;
}

step step_barrier(warp *w, const op *o)
{
    return arrive(w, o, true);
}

step step_barrier_reduce(warp *w, const op *o)
{
    const uint32_t unset = w->mask & ~w->valid[o->c];
    if (unset != 0)
        return finding_unset(w, (unsigned)__builtin_ctz(unset), o->c, "is voted on");
    return arrive(w, o, true);
}

step step_barrier_arrive(warp *w, const op *o)
{
    return arrive(w, o, false);
}
