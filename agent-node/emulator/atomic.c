/* atomic - atom and red
 *
 * Lanes go one after another; every one is a compare-and-swap on the host, so that workers meet as blocks
 * do. An operation on memory that nobody has written is a finding, except an exchange.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/access.h"

typedef struct change {
    const atomic *x;
    uint64_t b, c;
    uint64_t old, next;
} change;

#define SWAP(T, p, change)                                                             \
    do {                                                                               \
        T *at_ = (T *)(p);                                                             \
        T old_ = __atomic_load_n(at_, __ATOMIC_SEQ_CST), next_;                        \
        do                                                                             \
            next_ = (T)(change)->x->apply(old_, (change)->b, (change)->c);             \
        while (!__atomic_compare_exchange_n(at_, &old_, next_, true, __ATOMIC_SEQ_CST, \
                                            __ATOMIC_SEQ_CST));                        \
        (change)->old = old_;                                                          \
        (change)->next = next_;                                                        \
    } while (0)

static void swap(uint8_t *at, change *x)
{
    void *p = at;
    switch (x->x->at.bytes) {
    case 2:
        SWAP(uint16_t, p, x);
        break;
    case 4:
        SWAP(uint32_t, p, x);
        break;
    default:
        SWAP(uint64_t, p, x);
        break;
    }
}

static uint64_t operand(const warp *w, const atomic *x, uint32_t unit, unsigned lane)
{
    return x->wide ? ((const uint64_t *)unit_at(w, unit))[lane]
                   : ((const uint32_t *)unit_at(w, unit))[lane];
}

static void give(warp *w, const mem_access *a, unsigned lane, uint64_t old)
{
    if (a->units[0] == 0)
        return;
    if (a->wide[0])
        ((uint64_t *)unit_at(w, a->units[0]))[lane] = old;
    else
        ((uint32_t *)unit_at(w, a->units[0]))[lane] = (uint32_t)old;
}

static step check_operands(warp *w, const atomic *x)
{
    const uint32_t units[2] = {x->b, x->c};
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t unset = w->mask & ~w->valid[units[i]];
        if (unset != 0)
            return finding_unset(w, (unsigned)__builtin_ctz(unset), units[i],
                                 "is an operand of an atomic operation");
    }
    return STEP_NEXT;
}

/* What the memory holds matters to everything but an exchange. */
static step check_memory(warp *w, request *r, const atomic *x, ptx_space space, unsigned lane)
{
    if (access_is_set(r, lane, 0, r->bytes))
        return STEP_NEXT;
    r->unset |= 1u << lane;
    if (x->exchanges)
        return STEP_NEXT;
    const fault f = {.kind = EMU_UNINITIALISED,
                     .space = space,
                     .lane = lane,
                     .address = access_plain(r, space, lane),
                     .bytes = r->bytes,
                     .buffer = space == PTX_SPACE_GLOBAL ? r->buffer[lane] : NULL};
    return finding_access(w, &f);
}

static step lane_atomic(warp *w, request *r, const atomic *x, ptx_space space, unsigned lane)
{
    fault f = {.other = -2};
    change made = {.x = x, .b = operand(w, x, x->b, lane), .c = operand(w, x, x->c, lane)};

    step s = check_memory(w, r, x, space, lane);
    if (s != STEP_NEXT)
        return s;
    if (!access_race(w, r, lane, space, access_any, &f))
        return finding_access(w, &f);
    race_take(w, lane, access_generic(r, space, lane));
    race_publish(w, lane, access_generic(r, space, lane));
    swap(r->at[lane], &made);
    race_take(w, lane, access_generic(r, space, lane));
    access_set(r, lane, 0, r->bytes, true);
    give(w, r->a, lane, made.old);
    r->changed |= made.old != made.next;
    return STEP_NEXT;
}

static step atomic_in(warp *w, request *r, ptx_space space, uint32_t lanes)
{
    const atomic *x = &w->program->atomics[w->program->ops[w->pc - 1].target];
    if (space == PTX_SPACE_LOCAL)
        return finding_say(w, EMU_TRAP, (unsigned)__builtin_ctz(lanes),
                           "does an atomic operation on local memory");
    step s = access_locate(w, r, space, lanes);
    for (uint32_t left = lanes; left != 0 && s == STEP_NEXT; left &= left - 1)
        s = lane_atomic(w, r, x, space, (unsigned)__builtin_ctz(left));
    return s;
}

step step_atomic(warp *w, const op *o)
{
    const atomic *x = &w->program->atomics[o->target];
    request r;
    memset(r.set, 0, sizeof r.set);
    step s = access_begin(w, &x->at, &r);
    if (s == STEP_NEXT)
        s = check_operands(w, x);
    if (s != STEP_NEXT)
        return s;
    r.is_flag = true;
    r.is_store = true;
    const bool releases = x->at.order == ORDER_RELEASE || x->at.order == ORDER_ACQ_REL;
    if (releases)
        race_fence(w, true);
    s = access_by_space(w, &r, atomic_in);
    if (s != STEP_NEXT)
        return s;
    const uint32_t unit = x->at.units[0];
    if (unit != 0) {
        w->valid[unit] = (w->valid[unit] & ~w->mask) | (w->mask & ~r.unset);
        w->origin[unit] = NO_ORIGIN;
    }
    return access_flag(w, r.address[__builtin_ctz(w->mask)], r.changed);
}
