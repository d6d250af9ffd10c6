/* sync - what lanes of a warp do together
 *
 * Lanes that come to a warp-level operation before the other lanes named in its member mask wait there
 * (GROUP_SYNCS). When others arrive at the same place the groups become one and try again; when lanes end
 * all that wait try again, since ended lanes need not come. If nothing of the warp can run any more,
 * barriers of the warp at different places may still complete each other; anything else is a fault.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/sync.h"

#include "agent-node/emulator/finding.h"
#include "agent-node/emulator/lanes.h"
#include "agent-node/emulator/race.h"

static bool same_place(const group *a, const group *b)
{
    return a->pc == b->pc && a->depth == b->depth &&
           memcmp(a->calls, b->calls, a->depth * sizeof *a->calls) == 0;
}

/* park makes the running group wait at its op, with others that wait there already: these try again. */
static step park(warp *w)
{
    group *g = w->now;
    g->pc = w->pc - 1;
    g->state = GROUP_SYNCS;
    if ((w->program->ops[g->pc].flags & OP_WHOLE_WARP) != 0)
        for (uint32_t i = 0; i < w->group_count; i++)
            w->groups[i].worked = false;
    for (uint32_t i = 0; i < w->group_count; i++) {
        group *other = &w->groups[i];
        if (other == g || other->state != GROUP_SYNCS || !same_place(other, g))
            continue;
        other->mask |= g->mask;
        other->state = GROUP_RUNS;
        group_remove(w, g);
        break;
    }
    return STEP_SWITCH;
}

step sync_whole_warp(warp *w)
{
    return (w->live & ~w->now->mask) == 0 ? STEP_NEXT : park(w);
}

void sync_retry(warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++)
        if (w->groups[i].state == GROUP_SYNCS)
            w->groups[i].state = GROUP_RUNS;
}

/* The lanes of w->mask whose partners have all come. */
static uint32_t complete(const warp *w, const uint32_t *members)
{
    uint32_t ready = 0;
    for (unsigned i = 0; i < LANES; i++)
        if (w->on[i] != 0 && (members[i] & w->live & ~w->mask) == 0)
            ready |= 1u << i;
    return ready;
}

/* gather lets the op go on (STEP_NEXT) in lanes whose partners are here; others wait. */
static step gather(warp *w, const op *o)
{
    const uint32_t *members = unit_at(w, o->b);
    const uint32_t unset = w->mask & ~w->valid[o->b];
    if (unset != 0)
        return finding_unset(w, (unsigned)__builtin_ctz(unset), o->b, "is a member mask");
    for (unsigned i = 0; i < LANES; i++)
        if (w->on[i] != 0 && (members[i] >> i & 1) == 0)
            return finding_say(w, EMU_SHUFFLE, i,
                               "is not in the member mask 0x%08x of the operation it executes",
                               members[i]);
    const uint32_t ready = complete(w, members);
    if (ready == w->mask)
        return STEP_NEXT;
    if (ready == 0)
        return park(w);
    group *rest = group_split(w, w->now, w->now->mask & ~ready, w->pc - 1);
    rest->state = GROUP_SYNCS;
    warp_mask(w, ready);
    return STEP_NEXT;
}

/* left_others: after an op that only part of a group has executed the set of groups is another. */
static step done(warp *w, uint32_t before)
{
    if (w->mask == before)
        return STEP_NEXT;
    w->now->pc = w->pc;
    return STEP_SWITCH;
}

/* ---- barrier of the warp ---- */

step step_warp_barrier(warp *w, const op *o)
{
    const uint32_t before = w->mask;
    step s = gather(w, o);
    if (s != STEP_NEXT)
        return s;
    race_joined(w, w->mask);
    return done(w, before);
}

/* ---- nobody can run ---- */

static uint32_t member_of(const warp *w, const group *g)
{
    const uint32_t *members = unit_at(w, w->program->ops[g->pc].b);
    return members[__builtin_ctz(g->mask)];
}

/* Barriers of the warp at different places belong together when their masks are equal. */
static bool release_barriers(warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        const group *first = &w->groups[i];
        uint32_t come = 0;
        if (first->state != GROUP_SYNCS || w->program->ops[first->pc].step != step_warp_barrier)
            continue;
        const uint32_t members = member_of(w, first);
        for (uint32_t k = 0; k < w->group_count; k++) {
            const group *g = &w->groups[k];
            if (g->state == GROUP_SYNCS && w->program->ops[g->pc].step == step_warp_barrier &&
                member_of(w, g) == members)
                come |= g->mask;
        }
        if ((members & w->live & ~come) != 0)
            continue;
        race_joined(w, come);
        for (uint32_t k = 0; k < w->group_count; k++)
            if ((w->groups[k].mask & come) != 0) {
                w->groups[k].state = GROUP_RUNS;
                w->groups[k].pc++;
            }
        return true;
    }
    return false;
}

static step say_stuck(warp *w, const group *g)
{
    const op *o = &w->program->ops[g->pc];
    const uint32_t members = (o->flags & OP_WHOLE_WARP) != 0 ? w->live : member_of(w, g);
    const uint32_t missing = members & w->live & ~g->mask;
    const unsigned lane = (unsigned)__builtin_ctz(g->mask);
    uint32_t elsewhere = 0;
    for (uint32_t i = 0; i < w->group_count; i++)
        if ((w->groups[i].mask & missing) != 0)
            elsewhere = w->groups[i].pc;
    const char *file = NULL;
    const uint32_t line = program_line(w->program, elsewhere, &file);
    w->pc = g->pc + 1;
    if ((o->flags & OP_WHOLE_WARP) != 0)
        return finding_say(w, EMU_BARRIER, lane,
                           "comes to a barrier while other threads of its warp (lanes 0x%08x) wait "
                           "at line %u: all threads must execute the same __syncthreads()",
                           missing, line);
    return finding_say(
        w, EMU_SHUFFLE, lane,
        "waits for lanes 0x%08x, which its member mask 0x%08x names but which wait at "
        "line %u",
        missing, members, line);
}

step sync_stuck(warp *w)
{
    const group *parked = NULL;
    if (release_barriers(w))
        return STEP_SWITCH;
    for (uint32_t i = 0; i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_WAITS)
            return STEP_NEXT; /* the block may set it free, and these lanes then come */
        if (parked == NULL || w->groups[i].pc < parked->pc)
            parked = &w->groups[i];
    }
    return parked != NULL ? say_stuck(w, parked) : STEP_NEXT;
}

/* ---- shuffle ---- */

/* The lane a value comes from; *inside: it lies in the segment. */
static unsigned source_lane(uint8_t mode, unsigned lane, uint32_t b, uint32_t c, bool *inside)
{
    const uint32_t segment = c >> 8 & 31, clamp = c & 31;
    const int most = (int)((lane & segment) | (clamp & ~segment));
    const uint32_t least = lane & segment;
    const uint32_t distance = b & 31;
    int from = 0;
    switch (mode) {
    case SHUFFLE_UP:
        from = (int)lane - (int)distance;
        *inside = from >= most;
        break;
    case SHUFFLE_DOWN:
        from = (int)(lane + distance);
        *inside = from <= most;
        break;
    case SHUFFLE_BFLY:
        from = (int)(lane ^ distance);
        *inside = from <= most;
        break;
    default:
        from = (int)(least | (distance & ~segment));
        *inside = from <= most;
        break;
    }
    return *inside ? (unsigned)from : lane;
}

static void unset_lane(warp *w, const op *o, unsigned from, bool first)
{
    const uint32_t at = w->pc - 1;
    if (!first)
        return;
    unset_read *u = &w->unset[at % ORIGINS];
    u->op = at;
    u->shuffled = true;
    u->offset = from;
    w->origin[o->d] = at;
}

/* Values move between lanes; a value that comes from a lane which takes no part is nobody's. */
static void exchange(warp *w, const op *o)
{
    const uint32_t *members = unit_at(w, o->b);
    const uint32_t *b = unit_at(w, o->c), *c = unit_at(w, o->target);
    uint32_t values[LANES], *d = unit_at(w, o->d);
    uint32_t good = 0, inside = 0, lost = 0;
    memcpy(values, unit_at(w, o->a), sizeof values);
    const uint32_t valid = w->valid[o->a];
    const uint32_t settings = w->valid[o->c] & w->valid[o->target];
    for (unsigned i = 0; i < LANES; i++) {
        bool in = false;
        if (w->on[i] == 0)
            continue;
        const unsigned from = source_lane(o->mode, i, b[i], c[i], &in);
        inside |= in ? 1u << i : 0;
        d[i] = values[from];
        if ((w->mask & members[i] & 1u << from) == 0)
            unset_lane(w, o, from, lost++ == 0);
        else
            good |= (valid >> from & settings >> i & 1) << i;
    }
    w->valid[o->d] = (w->valid[o->d] & ~w->mask) | (good & w->mask);
    if ((w->mask & ~good & ~valid) != 0 && o->d != o->a)
        w->origin[o->d] = w->origin[o->a];
    if (o->e != 0) {
        predicate_set(w, o->e, inside);
        w->valid[o->e] |= w->mask & settings;
    }
}

step step_shuffle(warp *w, const op *o)
{
    const uint32_t before = w->mask;
    step s = gather(w, o);
    if (s != STEP_NEXT)
        return s;
    exchange(w, o);
    return done(w, before);
}

/* ---- votes, matches, reductions: over the lanes of each member mask ---- */

/* What the lanes `set` come to, and whether that is known. */
typedef uint32_t among_fn(const warp *w, const op *o, uint32_t set, unsigned lane);

static uint32_t vote(const warp *w, const op *o, uint32_t set, unsigned lane)
{
    const uint32_t p = predicate(w, o->a);
    const uint32_t truths = ((o->flags & OP_NOT_C) != 0 ? ~p : p) & set;
    (void)lane;
    switch (o->mode) {
    case VOTE_ALL:
        return truths == set;
    case VOTE_ANY:
        return truths != 0;
    case VOTE_UNI:
        return truths == set || truths == 0;
    default:
        return truths;
    }
}

static uint64_t value_of(const warp *w, const op *o, unsigned lane)
{
    if ((o->mode & MATCH_WIDE) != 0)
        return ((const uint64_t *)unit_at(w, o->a))[lane];
    return ((const uint32_t *)unit_at(w, o->a))[lane];
}

static uint32_t match(const warp *w, const op *o, uint32_t set, unsigned lane)
{
    const uint64_t mine = value_of(w, o, lane);
    uint32_t same = 0;
    for (uint32_t left = set; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        same |= value_of(w, o, i) == mine ? 1u << i : 0;
    }
    return (o->mode & MATCH_ALL) == 0 ? same : same == set ? set : 0;
}

static uint32_t reduced(uint8_t mode, uint32_t x, uint32_t y)
{
    const bool less = (mode & REDUCE_SIGNED) != 0 ? (int32_t)x < (int32_t)y : x < y;
    switch (mode & (REDUCE_SIGNED - 1)) {
    case REDUCE_ADD:
        return x + y;
    case REDUCE_MIN:
        return less ? x : y;
    case REDUCE_MAX:
        return less ? y : x;
    case REDUCE_AND:
        return x & y;
    case REDUCE_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static uint32_t reduce(const warp *w, const op *o, uint32_t set, unsigned lane)
{
    const uint32_t *a = unit_at(w, o->a);
    uint32_t r = a[__builtin_ctz(set)];
    (void)lane;
    for (uint32_t left = set & (set - 1); left != 0; left &= left - 1)
        r = reduced(o->mode, r, a[__builtin_ctz(left)]);
    return r;
}

/* among computes for every lane what its member mask's lanes come to. */
static void among(warp *w, const op *o, among_fn *fn, uint32_t out[LANES], uint32_t *good)
{
    const uint32_t *members = unit_at(w, o->b);
    *good = 0;
    for (unsigned i = 0; i < LANES; i++) {
        if (w->on[i] == 0)
            continue;
        const uint32_t set = members[i] & w->mask;
        out[i] = fn(w, o, set, i);
        *good |= (set & ~w->valid[o->a]) == 0 ? 1u << i : 0;
    }
}

static void put(warp *w, const op *o, uint32_t unit, const uint32_t values[LANES], uint32_t good)
{
    uint32_t *d = unit_at(w, unit);
    for (unsigned i = 0; i < LANES; i++)
        d[i] = w->on[i] != 0 ? values[i] : d[i];
    const op only = {.a = o->a};
    valid_put(w, &only, unit, good);
}

static void put_truth(warp *w, const op *o, uint32_t unit, const uint32_t values[LANES],
                      uint32_t good)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < LANES; i++)
        bits |= w->on[i] != 0 && values[i] != 0 ? 1u << i : 0;
    const op only = {.a = o->a};
    predicate_set(w, unit, bits);
    valid_put(w, &only, unit, good);
}

step step_vote(warp *w, const op *o)
{
    const uint32_t before = w->mask;
    uint32_t values[LANES], good = 0;
    step s = gather(w, o);
    if (s != STEP_NEXT)
        return s;
    among(w, o, vote, values, &good);
    if (o->mode == VOTE_BALLOT)
        put(w, o, o->d, values, good);
    else
        put_truth(w, o, o->d, values, good);
    return done(w, before);
}

step step_match(warp *w, const op *o)
{
    const uint32_t before = w->mask;
    uint32_t values[LANES], good = 0;
    step s = gather(w, o);
    if (s != STEP_NEXT)
        return s;
    among(w, o, match, values, &good);
    if (o->e != 0)
        put_truth(w, o, o->e, values, good);
    put(w, o, o->d, values, good);
    return done(w, before);
}

step step_reduce(warp *w, const op *o)
{
    const uint32_t before = w->mask;
    uint32_t values[LANES], good = 0;
    step s = gather(w, o);
    if (s != STEP_NEXT)
        return s;
    among(w, o, reduce, values, &good);
    put(w, o, o->d, values, good);
    return done(w, before);
}
