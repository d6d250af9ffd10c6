/* bench_emulator - thread instructions a second with all checks on: the two gold kernels of the target
 * (100 million a second a core), on one worker and on all cores, and what the emulator itself needs of memory
 *
 * Rates are by processor time, so that a busy host does not count; the scaling is by the clock.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/unit/emulator/emu_rig.h"

enum { ROWS = 1024, COLS = 4096, ROUNDS = 3, SKIPPED = 77 };

typedef struct spent {
    double wall, cpu, instructions;
} spent;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double all_instructions(const emu_counters *c)
{
    double sum = 0;
    for (int i = 0; i < EMU_CLASS_COUNT; i++)
        sum += (double)c->thread_instructions[i];
    return sum;
}

static double peak_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024.0;
}

static void fill_halves(uint16_t *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (uint16_t)(0x3000 + (rig_random((uint32_t)i, 1) & 0x8fff));
}

static spent measure(emu_module *m, const char *entry, bool has_weight, unsigned workers)
{
    spent best = {.wall = 1e9, .cpu = 1e9};
    emu_rig rig;
    emu_rig_init(&rig);
    rig.workers = workers;
    fill_halves(rig_buffer(&rig, "x", RIG_INPUT, 2, (size_t)ROWS * COLS), (size_t)ROWS * COLS);
    if (has_weight)
        fill_halves(rig_buffer(&rig, "weight", RIG_INPUT, 2, COLS), COLS);
    rig_buffer(&rig, "y", RIG_OUTPUT, 2, (size_t)ROWS * COLS);
    rig_i32(&rig, COLS);
    if (has_weight)
        rig_f32(&rig, 1e-5f);
    for (int i = 0; i < ROUNDS; i++) {
        const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        rig_launch(&rig, m, entry, ROWS, 256);
        rig_expect_clean(&rig);
        const double wall_now = seconds(CLOCK_MONOTONIC) - wall;
        const double cpu_now = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        best.wall = wall_now < best.wall ? wall_now : best.wall;
        best.cpu = cpu_now < best.cpu ? cpu_now : best.cpu;
        best.instructions = all_instructions(&rig.report.counters);
    }
    emu_rig_fini(&rig);
    return best;
}

static void bench(const char *problem, const char *entry, bool has_weight)
{
    SCOPED(scoped_free) char *path = xasprintf("suites/internal/%s/gold.cu", problem);
    SCOPED(scoped_free) char *source = rig_source(path);
    SCOPED(emu_module_destroy) emu_module *m = rig_module(source);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const spent one = measure(m, entry, has_weight, 1);
    const spent all = measure(m, entry, has_weight, 0);
    printf("%-14s %6.1f M thread instructions: %6.1f M/s a core on one, %6.1f on %ld; "
           "%.2f times as fast by the clock\n",
           entry, one.instructions * 1e-6, one.instructions / one.cpu * 1e-6,
           all.instructions / all.cpu * 1e-6, cores, one.wall / all.wall);
}

int main(void)
{
    if (!rig_have_nvrtc())
        return SKIPPED;
    bench("rms_norm_fp16", "rms_norm_4096", true);
    bench("softmax_lastdim_fp16", "softmax_4096", false);
    printf("peak memory %.0f MiB, %.0f of them buffers\n", peak_mib(),
           2.0 * ROWS * COLS * 2 / 1048576.0);
    return 0;
}
