/* load - loads and stores
 *
 * Data that nobody has written moves along without complaint into registers, shared and local memory;
 * a store of it to global memory is a finding.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/access.h"

/* ---- between registers and bytes ---- */

static uint64_t extended(uint64_t v, const mem_access *a)
{
    const unsigned cut = 64 - 8u * a->bytes;
    return a->is_signed ? (uint64_t)((int64_t)(v << cut) >> cut) : v;
}

static uint64_t bytes_at(const uint8_t *at, const mem_access *a)
{
    uint64_t v = 0;
    memcpy(&v, at, a->bytes);
    return extended(v, a);
}

/* Flags are read and written by other workers at the same time. */
static uint64_t flag_at(const uint8_t *at, const mem_access *a)
{
    const void *p = at;
    switch (a->bytes) {
    case 1:
        return extended(__atomic_load_n((const uint8_t *)p, __ATOMIC_SEQ_CST), a);
    case 2:
        return extended(__atomic_load_n((const uint16_t *)p, __ATOMIC_SEQ_CST), a);
    case 4:
        return extended(__atomic_load_n((const uint32_t *)p, __ATOMIC_SEQ_CST), a);
    default:
        return __atomic_load_n((const uint64_t *)p, __ATOMIC_SEQ_CST);
    }
}

static void put_flag(uint8_t *at, const mem_access *a, uint64_t v)
{
    void *p = at;
    switch (a->bytes) {
    case 1:
        __atomic_store_n((uint8_t *)p, (uint8_t)v, __ATOMIC_SEQ_CST);
        break;
    case 2:
        __atomic_store_n((uint16_t *)p, (uint16_t)v, __ATOMIC_SEQ_CST);
        break;
    case 4:
        __atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_SEQ_CST);
        break;
    default:
        __atomic_store_n((uint64_t *)p, v, __ATOMIC_SEQ_CST);
        break;
    }
}

/* One element k of all lanes into its register. */
static void load_element(warp *w, const request *r, unsigned k, uint32_t lanes)
{
    const mem_access *a = r->a;
    const uint32_t from = k * a->bytes;
    uint32_t *narrow = unit_at(w, a->units[k]);
    uint64_t *wide = unit_at(w, a->units[k]);
    if (!r->is_flag && a->bytes == 4 && !a->wide[k]) {
        for (uint32_t left = lanes; left != 0; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctz(left);
            memcpy(&narrow[i], r->at[i] + from, sizeof *narrow);
        }
        return;
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const uint8_t *at = r->at[i] + from;
        const uint64_t v = r->is_flag ? flag_at(at, a) : bytes_at(at, a);
        if (a->wide[k])
            wide[i] = v;
        else
            narrow[i] = (uint32_t)v & a->keep[k];
    }
}

/* ---- loads ---- */

static void remember(warp *w, const request *r, ptx_space space, uint32_t lanes)
{
    const unsigned lane = (unsigned)__builtin_ctz(lanes);
    const uint32_t at = w->pc - 1;
    uint32_t k = 0;
    while (k + 1 < r->a->count && access_is_set(r, lane, k * r->a->bytes, r->a->bytes))
        k++;
    unset_read *u = &w->unset[at % ORIGINS];
    u->op = at;
    u->space = space;
    u->address = access_plain(r, space, lane) + (uint64_t)k * r->a->bytes;
    u->buffer = space == PTX_SPACE_GLOBAL ? r->buffer[lane] : NULL;
    u->shuffled = false;
}

static void remember_bytes(warp *w, const request *r, unsigned k, uint32_t lanes)
{
    uint8_t *bytes = w->unset[(w->pc - 1) % ORIGINS].bytes[k];
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        bytes[i] = 0;
        for (uint32_t b = 0; b < r->a->bytes; b++)
            if (access_is_set(r, i, k * r->a->bytes + b, 1))
                bytes[i] |= (uint8_t)(1u << b);
    }
}

/* Which bytes of a lane's register hold data: all, none, or those that it was loaded with. */
static uint8_t register_bytes(const warp *w, uint32_t unit, unsigned lane)
{
    const uint32_t origin = w->origin[unit];
    const unset_read *u = &w->unset[origin % ORIGINS];
    if ((w->valid[unit] >> lane & 1) != 0)
        return 0xff;
    if (origin == NO_ORIGIN || u->op != origin || u->shuffled)
        return 0;
    const mem_access *from = &w->program->accesses[w->program->ops[origin].target];
    for (unsigned k = 0; k < from->count; k++)
        if (from->units[k] == unit)
            return u->bytes[k][lane];
    return 0;
}

/* Which lanes' element k holds data. */
static uint32_t set_lanes(const request *r, unsigned k, uint32_t lanes)
{
    const mem_access *a = r->a;
    uint32_t good = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        good |= (uint32_t)access_is_set(r, i, k * a->bytes, a->bytes) << i;
    }
    return good;
}

static bool all_set(const request *r, ptx_space space, uint32_t lanes)
{
    if (space != PTX_SPACE_GLOBAL)
        return false;
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        if (r->buffer[__builtin_ctz(left)]->bits != NULL)
            return false;
    return true;
}

static void note_unset(warp *w, const request *r, ptx_space space, uint32_t lanes)
{
    const bool known = all_set(r, space, lanes);
    for (unsigned k = 0; k < r->a->count; k++) {
        const uint32_t unit = r->a->units[k];
        const uint32_t good = known ? lanes : set_lanes(r, k, lanes);
        if (unit == 0)
            continue;
        w->valid[unit] = (w->valid[unit] & ~lanes) | good;
        if (good != lanes) {
            w->origin[unit] = w->pc - 1;
            remember(w, r, space, lanes & ~good);
            remember_bytes(w, r, k, lanes);
        }
    }
}

static bool may_race(const request *r, ptx_space space, uint32_t lanes)
{
    return space == PTX_SPACE_SHARED ||
           (space == PTX_SPACE_GLOBAL && !r->buffer[__builtin_ctz(lanes)]->is_input) ||
           (space == PTX_SPACE_GLOBAL && (lanes & (lanes - 1)) != 0);
}

static step load_from(warp *w, request *r, ptx_space space, uint32_t lanes)
{
    fault f = {.other = -2};
    step s = access_locate(w, r, space, lanes);
    if (s != STEP_NEXT)
        return s;
    if (may_race(r, space, lanes))
        for (uint32_t left = lanes; left != 0; left &= left - 1)
            if (!access_race(w, r, (unsigned)__builtin_ctz(left), space, NULL, &f))
                return finding_access(w, &f);
    note_unset(w, r, space, lanes);
    for (unsigned k = 0; k < r->a->count; k++)
        if (r->a->units[k] != 0)
            load_element(w, r, k, lanes);
    for (uint32_t left = r->is_flag ? lanes : 0; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        race_take(w, i, access_generic(r, space, i));
    }
    return STEP_NEXT;
}

step step_load(warp *w, const op *o)
{
    const mem_access *a = &w->program->accesses[o->target];
    request r;
    memset(r.set, 0, sizeof r.set);
    step s = access_begin(w, a, &r);
    if (s == STEP_NEXT)
        s = access_by_space(w, &r, load_from);
    if (s != STEP_NEXT || !r.is_flag)
        return s;

    return access_flag(w, r.address[__builtin_ctz(w->mask)], false);
}

/* A parameter of the kernel is the same for all lanes. */
step step_load_param(warp *w, const op *o)
{
    const mem_access *a = &w->program->accesses[o->target];
    const uint8_t *from = w->block->grid->params + a->offset;
    for (unsigned k = 0; k < a->count; k++, from += a->bytes) {
        const uint64_t v = bytes_at(from, a);
        uint32_t *narrow = unit_at(w, a->units[k]);
        uint64_t *wide = unit_at(w, a->units[k]);
        if (a->units[k] == 0)
            continue;
        for (unsigned i = 0; i < LANES; i++) {
            if (a->wide[k])
                wide[i] = w->on[i] != 0 ? v : wide[i];
            else
                narrow[i] = w->on[i] != 0 ? (uint32_t)v & a->keep[k] : narrow[i];
        }
        w->valid[a->units[k]] |= w->mask;
    }
    return STEP_NEXT;
}

/* ---- stores ---- */

/* The bytes that a lane stores. */
static void gather_bytes(const warp *w, const mem_access *a, unsigned lane, uint8_t *out)
{
    for (unsigned k = 0; k < a->count; k++, out += a->bytes) {
        const uint64_t v = a->wide[k] ? ((const uint64_t *)unit_at(w, a->units[k]))[lane]
                                      : ((const uint32_t *)unit_at(w, a->units[k]))[lane];
        memcpy(out, &v, a->bytes);
    }
}

static step check_values(warp *w, const mem_access *a, uint32_t lanes)
{
    for (unsigned k = 0; k < a->count; k++) {
        for (uint32_t left = lanes & ~w->valid[a->units[k]]; left != 0; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctz(left);
            if (register_bytes(w, a->units[k], i) == 0)
                return finding_unset(w, i, a->units[k], "is stored");
        }
    }
    return STEP_NEXT;
}

/* Marks what the lane has stored: data, or the lack of it. */
static void mark_stored(const warp *w, const request *r, unsigned lane)
{
    const mem_access *a = r->a;
    for (unsigned k = 0; k < a->count; k++) {
        const uint8_t good = register_bytes(w, a->units[k], lane);
        for (uint32_t b = 0; good != 0xff && b < a->bytes; b++)
            access_set(r, lane, k * a->bytes + b, 1, (good >> b & 1) != 0);
        if (good == 0xff)
            access_set(r, lane, k * a->bytes, a->bytes, true);
    }
}

static void write_lane(warp *w, const request *r, unsigned lane, ptx_space space,
                       const uint8_t *values)
{
    const mem_access *a = r->a;
    if (!r->is_flag) {
        memcpy(r->at[lane], values, r->bytes);
        return;
    }
    race_publish(w, lane, access_generic(r, space, lane));
    for (size_t k = 0; k < a->count; k++)
        put_flag(r->at[lane] + k * a->bytes, a, bytes_at(values + k * a->bytes, a));
}

static step store_to(warp *w, request *r, ptx_space space, uint32_t lanes)
{
    fault f = {.other = -2};
    uint8_t values[VECTOR_MAX * 8];
    step s = access_locate(w, r, space, lanes);
    if (s == STEP_NEXT && space == PTX_SPACE_GLOBAL)
        s = check_values(w, r->a, lanes);
    if (s != STEP_NEXT)
        return s;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        gather_bytes(w, r->a, i, values);
        if (!access_race(w, r, i, space, values, &f))
            return finding_access(w, &f);
        write_lane(w, r, i, space, values);
        mark_stored(w, r, i);
    }
    return STEP_NEXT;
}

step step_store(warp *w, const op *o)
{
    const mem_access *a = &w->program->accesses[o->target];
    request r;
    memset(r.set, 0, sizeof r.set);
    step s = access_begin(w, a, &r);
    if (s != STEP_NEXT)
        return s;
    if (a->order == ORDER_RELEASE)
        race_fence(w, true);
    return access_by_space(w, &r, store_to);
}
