/* The tricky but right kernels of tests/data/emu/honest.cu: no finding, and the right results.
 *
 * Modules: race sync barrier grid flow warp counters
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "tests/unit/emulator/emu_rig.h"

enum { N_MAX = 8192, ZEROED = 256 };

typedef struct shot {
    const float *in;
    const float *out;
    const int *work;
    int n;
    uint32_t grid, block;
} shot;

/* What element i of `out` must be; NAN: anything. */
typedef double expect_fn(const shot *s, size_t i);

static double sum(const float *x, size_t from, size_t count)
{
    double r = 0;
    for (size_t i = 0; i < count; i++)
        r += (double)x[from + i];
    return r;
}

static double sum_of_warp(const shot *s, size_t i)
{
    return sum(s->in, 32 * i, 32);
}

static double running_sum(const shot *s, size_t i)
{
    return sum(s->in, 0, i + 1);
}

static double whole_sum(const shot *s, size_t i)
{
    return i == 0 ? sum(s->in, 0, (size_t)s->n) : (double)NAN;
}

static double reversed(const shot *s, size_t i)
{
    return (double)s->in[(size_t)s->n - 1 - i];
}

static double with_neighbour(const shot *s, size_t i)
{
    return (double)(s->in[i] + s->in[i ^ 1]);
}

static double with_counts(const shot *s, size_t i)
{
    return (double)(s->in[i] + (float)(i + 1));
}

static double sum_of_tile(const shot *s, size_t i)
{
    return sum(s->in, i / 8 * 8, 8);
}

static double cub_sums(const shot *s, size_t i)
{
    return i < s->grid ? sum(s->in, 128 * i, 128)
           : i >= 16   ? sum(s->in, 32 * (i - 16), 32)
                       : (double)NAN;
}

static double scan_of_block(const shot *s, size_t i)
{
    return sum(s->in, i / 512 * 512, i % 512 + 1);
}

static double anything(const shot *s, size_t i)
{
    (void)s;
    (void)i;
    return (double)NAN;
}

static double last_of_block(const shot *s, size_t i)
{
    const size_t last = i / s->block * s->block + s->block - 1;
    return (double)s->in[last < (size_t)s->n ? last : (size_t)s->n - 1];
}

static double doubled(const shot *s, size_t i)
{
    return 2.0 * (double)s->in[i];
}

static double same_keys(const shot *s, size_t i)
{
    int count = 0;
    for (size_t k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
        count += (int)(s->in[k] * 4.0f) == (int)(s->in[i] * 4.0f);
    return count;
}

static double with_next(const shot *s, size_t i)
{
    return (double)(s->in[i] + (i < 19 ? s->in[i + 1] : 0.0f));
}

static double threads_of_block(const shot *s, size_t i)
{
    (void)i;
    return s->block;
}

static double one(const shot *s, size_t i)
{
    (void)s;
    return i == 0 ? 1.0 : (double)NAN;
}

static double transposed(const shot *s, size_t i)
{
    return (double)s->in[i % 31 * 32 + i / 31];
}

static double positives(const shot *s, size_t i)
{
    int count = 0;
    for (size_t k = 0; k < s->block; k++)
        count += s->in[i * s->block + k] > 0.0f;
    return count;
}

static double called(const shot *s, size_t i)
{
    const float v = s->in[i ^ 1];
    return (double)((i ^ 1) % s->block % 3 == 0 ? v * v + 1.0f : 0.5f * v + 1.0f);
}

static double times_index(const shot *s, size_t i)
{
    return (double)(s->in[i] * (float)i);
}

typedef struct honest {
    const char *kernel;
    uint32_t grid, block, shared;
    int n;
    size_t outputs;
    expect_fn *expect;
} honest;

static const honest kernels[] = {
    {"warp_synchronous_reduction", 4, 256, 0, 1024, 32, sum_of_warp},
    {"volatile_warp_reduction", 4, 256, 0, 1024, 32, sum_of_warp},
    {"look_back_scan", 20, 256, 0, 5000, 5000, running_sum},
    {"chain_by_acquire_and_release", 40, 32, 0, 64, 40, running_sum},
    {"chain_by_packed_words", 40, 32, 0, 64, 40, running_sum},
    {"last_block_adds", 20, 256, 0, 5000, 1, whole_sum},
    {"barrier_across_the_grid", 16, 256, 0, 4000, 4000, reversed},
    {"double_buffered_tiles", 1, 64, 0, 640, 640, with_neighbour},
    {"shared_memory_union", 1, 64, 0, 64, 64, with_counts},
    {"tiles_of_a_cooperative_group", 2, 64, 0, 128, 128, sum_of_tile},
    {"coalesced_group_counts", 4, 256, 0, 1000, 0, anything},
    {"cub_block_reduce", 4, 128, 0, 512, 32, cub_sums},
    {"cub_block_scan", 2, 128, 0, 1024, 1024, scan_of_block},
    {"histogram", 4, 128, 0, 3000, 0, anything},
    {"early_return", 4, 64, 0, 243, 243, last_of_block},
    {"producer_and_consumer", 1, 64, 0, 128, 128, doubled},
    {"lock_in_a_warp", 2, 64, 0, 128, 0, anything},
    {"matching_lanes", 2, 64, 0, 128, 128, same_keys},
    {"undefined_but_unused", 1, 32, 0, 32, 20, with_next},
    {"padding_in_a_struct", 1, 64, 0, 64, 64, reversed},
    {"one_flag_for_all", 1, 256, 0, 256, 1, one},
    {"transposed_tile", 1, 256, 0, 1024, 992, transposed},
    {"counting_barrier", 3, 128, 0, 384, 3, positives},
    {"calls_from_both_sides", 2, 96, 0, 192, 192, called},
    {"sums_by_compare_and_swap", 8, 64, 0, 512, 1, whole_sum},
    {"sums_of_bf16", 3, 128, 0, 384, 3, threads_of_block},
    {"dynamic_parts", 1, 64, 64 * 7, 64, 64, times_index},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static emu_module *module;

static int compile_all(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *source = rig_source("tests/data/emu/honest.cu");
    module = rig_module(source);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    emu_module_destroy(&module);
    return 0;
}

static shot launch(emu_rig *rig, const honest *h, unsigned workers)
{
    emu_rig_init(rig);
    rig->workers = workers;
    float *in = rig_buffer(rig, "in", RIG_INPUT, 4, (size_t)h->n);
    const float *out = rig_buffer(rig, "out", RIG_OUTPUT, 4, N_MAX);
    const int *work = rig_buffer(rig, "work", RIG_OUTPUT, 4, N_MAX);
    emu_memory_mark(rig->memory, (uint64_t)(uintptr_t)work, ZEROED * sizeof *work, true);
    for (int i = 0; i < h->n; i++)
        in[i] = rig_uniform((uint32_t)i, 77);
    rig_i32(rig, h->n);
    rig->shared = h->shared;
    rig_launch(rig, module, h->kernel, h->grid, h->block);
    return (shot){in, out, work, h->n, h->grid, h->block};
}

/* What the first finding or the first wrong element is; true: all is well. */
static bool judge(const honest *h, const emu_rig *rig, const shot *s)
{
    if (rig->report.finding_count != 0) {
        print_error("%s\n", rig->report.findings[0].text);
        return false;
    }
    for (size_t i = 0; i < h->outputs; i++) {
        const double should = h->expect(s, i);
        if (!isnan(should) && !(fabs((double)s->out[i] - should) <= 2e-4 * (1 + fabs(should)))) {
            print_error("%s: out[%zu] is %g, should be %g\n", h->kernel, i, (double)s->out[i],
                        should);
            return false;
        }
    }
    return true;
}

static void expect_all_fine(unsigned workers)
{
    size_t wrong = 0;
    for (size_t i = 0; i < KERNELS; i++) {
        SCOPED(emu_rig_fini) emu_rig rig;
        const shot s = launch(&rig, &kernels[i], workers);
        wrong += !judge(&kernels[i], &rig, &s);
    }
    assert_int_equal(wrong, 0);
}

static void honest_kernels_have_no_finding(void **state)
{
    (void)state;
    expect_all_fine(1);
}

static void nor_on_two_workers(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        expect_all_fine(2);
}

static const honest *find(const char *kernel)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strcmp(kernels[i].kernel, kernel) == 0)
            return &kernels[i];
    fail();
    return NULL;
}

static void atomics_count_right(void **state)
{
    (void)state;
    SCOPED(emu_rig_fini) emu_rig groups;
    shot s = launch(&groups, find("coalesced_group_counts"), 2);
    int positive = 0;
    for (int i = 0; i < 1000; i++)
        positive += s.in[i] > 0.0f;
    assert_int_equal(s.work[3], positive);
    SCOPED(emu_rig_fini) emu_rig bins;
    s = launch(&bins, find("histogram"), 2);
    int counts[16] = {0};
    for (int i = 0; i < 3000; i++)
        counts[(int)((s.in[i] + 1.0f) * 8.0f) & 15]++;
    assert_memory_equal(counts, s.work + 32, sizeof counts);
    SCOPED(emu_rig_fini) emu_rig lock;
    s = launch(&lock, find("lock_in_a_warp"), 2);
    assert_int_equal(s.work[5], 128);
    SCOPED(emu_rig_fini) emu_rig votes;
    s = launch(&votes, find("counting_barrier"), 2);
    assert_int_equal(s.work[64], (int)s.out[0]);
}

static void counters_tell_coalescing_and_conflicts(void **state)
{
    (void)state;
    SCOPED(emu_rig_fini) emu_rig rig;
    launch(&rig, find("double_buffered_tiles"), 1);
    const emu_counters *c = &rig.report.counters;
    assert_int_equal(c->global_sectors, 4 * c->global_requests);
    assert_int_equal(c->shared_wavefronts, c->shared_requests);
    assert_int_equal(c->blocks, 1);
    assert_int_equal(c->threads, 64);
    assert_int_equal(c->barriers, 10);
    assert_true(c->divergent_branches == 0);
}

static void counters_tell_conflicts_and_divergence(void **state)
{
    (void)state;
    SCOPED(emu_rig_fini) emu_rig padded;
    launch(&padded, find("transposed_tile"), 1);
    const emu_counters *c = &padded.report.counters;
    assert_int_equal(c->shared_wavefronts,
                     c->shared_requests); /* that is what the 33rd column is for */
    SCOPED(emu_rig_fini) emu_rig lock;
    launch(&lock, find("lock_in_a_warp"), 1);
    assert_true(lock.report.counters.divergent_branches > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_kernels_have_no_finding),
        cmocka_unit_test(nor_on_two_workers),
        cmocka_unit_test(atomics_count_right),
        cmocka_unit_test(counters_tell_coalescing_and_conflicts),
        cmocka_unit_test(counters_tell_conflicts_and_divergence),
    };
    if (!rig_have_nvrtc())
        return 77;
    return cmocka_run_group_tests_name("honest kernels on the emulator", tests, compile_all,
                                       free_all);
}
