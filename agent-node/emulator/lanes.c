/* lanes - see lanes.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes.h"

#include <pthread.h>

#include "common/xalloc.h"

enum { SLOTS = 4096 }; /* of the hash table of keys, a power of two above their number */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const lane_row **slots;

#define SET(isa)                                                                                  \
    extern const lane_table lanes_integer_##isa, lanes_bits_##isa, lanes_compare_##isa,           \
        lanes_f32_##isa, lanes_f64_##isa, lanes_half_##isa, lanes_approx_##isa, lanes_move_##isa; \
    lane_fn lanes_convert_##isa, lanes_convert_pair_##isa;                                        \
    static const lane_set set_##isa = {                                                           \
        {&lanes_integer_##isa, &lanes_bits_##isa, &lanes_compare_##isa, &lanes_f32_##isa,         \
         &lanes_f64_##isa, &lanes_half_##isa, &lanes_approx_##isa, &lanes_move_##isa},            \
        lanes_convert_##isa,                                                                      \
        lanes_convert_pair_##isa};
SET(base)
#if defined(CE_EMU_AVX2)
SET(avx2)
#endif

const lane_set *lanes_set(void)
{
#if defined(CE_EMU_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &set_avx2;
#endif
    return &set_base;
}

static uint32_t hash_of(const char *key)
{
    uint32_t h = 2166136261u;
    for (; *key != '\0'; key++)
        h = (h ^ (uint8_t)*key) * 16777619u;
    return h;
}

void lanes_each(void (*fn)(const lane_row *row, void *arg), void *arg)
{
    const lane_set *s = lanes_set();
    for (size_t t = 0; t < sizeof s->tables / sizeof *s->tables; t++)
        for (size_t i = 0; i < s->tables[t]->count; i++)
            fn(&s->tables[t]->rows[i], arg);
}

static void enter(const lane_row *row, void *arg)
{
    (void)arg;
    uint32_t at = hash_of(row->key) % SLOTS;
    while (slots[at] != NULL)
        at = (at + 1) % SLOTS;
    slots[at] = row;
}

static void build(void)
{
    slots = xcalloc(SLOTS, sizeof *slots);
    lanes_each(enter, NULL);
}

const lane_row *lanes_find(const char *key)
{
    pthread_once(&once, build);
    for (uint32_t at = hash_of(key) % SLOTS; slots[at] != NULL; at = (at + 1) % SLOTS)
        if (strcmp(slots[at]->key, key) == 0)
            return slots[at];
    return NULL;
}
