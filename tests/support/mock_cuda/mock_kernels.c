/* mock_kernels - the kernels that the mock driver knows, as host functions
 *
 * ce_* are those of the runner and of the timing library; the others have the names and parameters of
 * tests/gpu/kernels.cu, so that the GPU test runs on the mock too.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>

#include "mock_cuda.h"

static uint64_t u64_param(const mock_launch *l, size_t i)
{
    uint64_t value;
    memcpy(&value, l->params[i], sizeof value);
    return value;
}

static uint32_t u32_param(const mock_launch *l, size_t i)
{
    uint32_t value;
    memcpy(&value, l->params[i], sizeof value);
    return value;
}

static void *pointer_param(const mock_launch *l, size_t i)
{
    return (void *)(uintptr_t)u64_param(l, i);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- ours ---- */

static void ce_spin(const mock_launch *l)
{
    uint32_t *flag = pointer_param(l, 0);
    uint32_t ticket = u32_param(l, 1);
    uint64_t limit = u64_param(l, 2);
    uint64_t start = now_ns();
    while (__atomic_load_n(&flag[0], __ATOMIC_SEQ_CST) < ticket)
        if (now_ns() - start > limit) {
            __atomic_store_n(&flag[1], ticket, __ATOMIC_SEQ_CST);
            return;
        }
}

static void ce_flush(const mock_launch *l)
{
    const uint64_t *words = pointer_param(l, 0);
    uint64_t count = u64_param(l, 1) * 2;
    uint64_t any = 0;
    for (uint64_t i = 0; i < count; i++)
        any |= words[i];
    if (any != 0)
        *(uint32_t *)pointer_param(l, 2) = (uint32_t)any;
}

static void ce_sum(const mock_launch *l)
{
    const uint32_t *words = pointer_param(l, 0);
    uint64_t count = u64_param(l, 1);
    uint64_t salt = u64_param(l, 2);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t z = words[i] + salt + (i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        sum += z ^ (z >> 31);
    }
    *(uint64_t *)pointer_param(l, 3) += sum;
}

/* What ce_dirty left for a kernel that reads shared memory too early. */
static uint32_t junk;

static void ce_dirty(const mock_launch *l)
{
    junk = u32_param(l, 1);
}

/* ---- as in tests/gpu/kernels.cu: (const float *a, const float *b, float *y, int n) ---- */

typedef struct add_args {
    float *a, *b, *y;
    uint32_t n;
} add_args;

static add_args args_of(const mock_launch *l)
{
    return (add_args){pointer_param(l, 0), pointer_param(l, 1), pointer_param(l, 2),
                      u32_param(l, 3)};
}

static void add_first(const add_args *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        x->y[i] = x->a[i] + x->b[i];
}

static void add(const mock_launch *l)
{
    add_args x = args_of(l);
    add_first(&x, x.n);
}

static void add_all_but_last(const mock_launch *l)
{
    add_args x = args_of(l);
    add_first(&x, x.n - 1);
}

static void add_junk(const mock_launch *l)
{
    add_args x = args_of(l);
    add_first(&x, x.n);
    x.y[0] += (float)(junk % 997);
}

/* Looks whether an answer stands there already. */
static void add_unless_there(const mock_launch *l)
{
    add_args x = args_of(l);
    if (x.y[0] != x.y[0])
        add_first(&x, x.n);
}

static void add_calls(const mock_launch *l)
{
    static int calls;
    add_args x = args_of(l);
    add_first(&x, x.n);
    x.y[x.n - 1] += (float)calls++;
}

static void add_one_past(const mock_launch *l)
{
    add_args x = args_of(l);
    add_first(&x, x.n);
    x.y[x.n] = 1.0f;
}

static void add_one_before(const mock_launch *l)
{
    add_args x = args_of(l);
    add_first(&x, x.n);
    x.y[-1] = 1.0f;
}

static void add_far_past(const mock_launch *l)
{
    add_args x = args_of(l);
    x.y[x.n + 1048576] = 1.0f;
}

static void add_to_input(const mock_launch *l)
{
    add_args x = args_of(l);
    add_first(&x, x.n);
    x.a[0] = 12345.0f;
}

static void copy_f32(const mock_launch *l)
{
    add_args x = args_of(l);
    memcpy(x.y, x.a, (size_t)x.n * sizeof *x.y);
}

static void never_ends(const mock_launch *l)
{
    (void)l;
    const struct timespec nap = {0, 1000000};
    for (;;)
        nanosleep(&nap, NULL);
}

static void traps(const mock_launch *l)
{
    (void)l;
    mock_fault(719);
}

static void misaligned(const mock_launch *l)
{
    (void)l;
    mock_fault(716);
}

/* With a barrier between two halves, and through shared memory: on the host the same sum. */
static void add_in_turns(const mock_launch *l)
{
    add(l);
}

static void add_shared(const mock_launch *l)
{
    add(l);
}

#define ADD_PARAMS \
    4,             \
    {              \
        8, 8, 8, 4 \
    }

static const mock_kernel kernels[] = {
    {"ce_spin", 3, {8, 4, 8}, ce_spin, 0},
    {"ce_flush", 3, {8, 8, 8}, ce_flush, 0},
    {"ce_sum", 4, {8, 8, 8, 8}, ce_sum, 0},
    {"add", ADD_PARAMS, add, 0},
    {"ce_dirty", 2, {4, 4}, ce_dirty, 0},
    {"add_junk", ADD_PARAMS, add_junk, 0},
    {"add_unless_there", ADD_PARAMS, add_unless_there, 0},
    {"add_calls", ADD_PARAMS, add_calls, 0},
    {"add_all_but_last", ADD_PARAMS, add_all_but_last, 0},
    {"add_one_past", ADD_PARAMS, add_one_past, 0},
    {"add_one_before", ADD_PARAMS, add_one_before, 0},
    {"add_far_past", ADD_PARAMS, add_far_past, 0},
    {"add_to_input", ADD_PARAMS, add_to_input, 0},
    {"copy_f32", ADD_PARAMS, copy_f32, 0},
    {"never_ends", ADD_PARAMS, never_ends, 0},
    {"add_in_turns", ADD_PARAMS, add_in_turns, 0},
    {.name = "add_shared",
     .param_count = 4,
     .param_size = {8, 8, 8, 4},
     .run = add_shared,
     .shared = 1024},
    {"traps", ADD_PARAMS, traps, 0},
    {"misaligned", ADD_PARAMS, misaligned, 0},
};

const mock_kernel *mock_kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}
