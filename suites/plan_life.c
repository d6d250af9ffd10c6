/* plan_life - which scratch buffers of a plan share memory
 *
 * Largest first: each buffer goes to the first place where nothing lives at its time, else it opens one.
 * A buffer that no step uses has no life and fits everywhere.
 *
 * SPDX-License-Identifier: MIT */
#include "suites/plan_life.h"

#include <stdlib.h>

typedef struct sized {
    int64_t bytes;
    size_t number;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static bool is_alive(const plan_life *life)
{
    return life->first <= life->last;
}

static bool overlap(const plan_life *a, const plan_life *b)
{
    return is_alive(a) && is_alive(b) && a->first <= b->last && b->first <= a->last;
}

/* is_free: does nothing of the `placed` buffers live in this place at that time? */
static bool is_free(const plan_steps *steps, const sized *order, size_t placed, size_t place,
                    const plan_life *life)
{
    for (size_t i = 0; i < placed; i++) {
        const plan_life *other = &steps->scratch[order[i].number];
        if (other->place == place && overlap(other, life))
            return false;
    }
    return true;
}

static bool inherits(const plan_steps *steps, size_t number)
{
    const plan_life *life = &steps->scratch[number];
    for (size_t i = 0; i < steps->scratch_count; i++) {
        const plan_life *other = &steps->scratch[i];
        if (i != number && other->place == life->place && is_alive(other) &&
            other->last < life->first)
            return true;
    }
    return false;
}

void plan_life_place(plan_steps *steps)
{
    sized order[PLAN_SCRATCH_MAX];
    for (size_t i = 0; i < steps->scratch_count; i++)
        order[i] = (sized){steps->scratch[i].bytes, i};
    qsort(order, steps->scratch_count, sizeof *order, by_size);
    steps->place_count = 0;
    for (size_t i = 0; i < steps->scratch_count; i++) {
        plan_life *life = &steps->scratch[order[i].number];
        size_t place = 0;
        while (place < steps->place_count && !is_free(steps, order, i, place, life))
            place++;
        if (place == steps->place_count)
            steps->place_bytes[steps->place_count++] = life->bytes;
        life->place = place;
    }
    for (size_t i = 0; i < steps->scratch_count; i++)
        steps->scratch[i].inherits = is_alive(&steps->scratch[i]) && inherits(steps, i);
}
