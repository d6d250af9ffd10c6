/* Blocks that wait for each other in a cooperative launch, and shared memory beyond 48 KiB.
 *
 * Modules: grid block race
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "tests/unit/emulator/emu_rig.h"

enum { N = 6000, BLOCKS = 24, THREADS = 96 };

static const char source[] =
    "#include <cooperative_groups.h>\n"
    "extern \"C\" __global__ void by_groups(const float *x, float *part, float *y, int n)\n"
    "{\n"
    "    __shared__ float sums[96];\n"
    "    float sum = 0;\n"
    "    for (int i = blockIdx.x * 96 + threadIdx.x; i < n; i += gridDim.x * 96) sum += x[i];\n"
    "    sums[threadIdx.x] = sum;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        float all = 0;\n"
    "        for (int i = 0; i < 96; i++) all += sums[i];\n"
    "        part[blockIdx.x] = all;\n"
    "    }\n"
    "    cooperative_groups::this_grid().sync();\n"
    "    float total = 0;\n"
    "    for (int b = 0; b < gridDim.x; b++) total += part[b];\n"
    "    cooperative_groups::this_grid().sync();\n"
    "    for (int i = blockIdx.x * 96 + threadIdx.x; i < n; i += gridDim.x * 96) y[i] = total;\n"
    "}\n"
    /* Rounds of a recurrence, each reads what the neighbour wrote in the one before. */
    "extern \"C\" __global__ void by_counter(float *a, float *b, unsigned *arrived, int rounds)\n"
    "{\n"
    "    float *from = a, *to = b;\n"
    "    for (int t = 1; t <= rounds; t++) {\n"
    "        if (threadIdx.x == 0) {\n"
    "            to[blockIdx.x] = from[(blockIdx.x + 1) % gridDim.x] + 1;\n"
    "            __threadfence();\n"
    "            atomicAdd(arrived, 1u);\n"
    "            while (*(volatile unsigned *)arrived < t * gridDim.x) ;\n"
    "            __threadfence();\n"
    "        }\n"
    "        __syncthreads();\n"
    "        float *other = from; from = to; to = other;\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void no_barrier(const float *x, float *part, float *y, int n)\n"
    "{\n"
    "    if (threadIdx.x == 0) part[blockIdx.x] = x[blockIdx.x];\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 1) y[blockIdx.x] = part[(blockIdx.x + 1) % gridDim.x];\n"
    "}\n"
    "extern \"C\" __global__ void tile(const float *x, float *y, int n)\n"
    "{\n"
    "    extern __shared__ float held[];\n"
    "    for (int i = threadIdx.x; i < n; i += blockDim.x) held[i] = x[i];\n"
    "    __syncthreads();\n"
    "    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = held[n - 1 - i];\n"
    "}\n";

typedef struct scene {
    emu_module *module;
    emu_rig rig;
    float *x, *part, *y;
} scene;

static void scene_init(scene *s)
{
    s->module = rig_module(source);
    emu_rig_init(&s->rig);
    s->rig.cooperative = true;
    s->x = rig_buffer(&s->rig, "x", RIG_INPUT, 4, N);
    s->part = rig_buffer(&s->rig, "part", RIG_OUTPUT, 4, 600);
    s->y = rig_buffer(&s->rig, "y", RIG_OUTPUT, 4, N);
    rig_i32(&s->rig, N);
    for (int i = 0; i < N; i++)
        s->x[i] = (float)(i % 7);
}

static void scene_fini(scene *s)
{
    emu_rig_fini(&s->rig);
    emu_module_destroy(&s->module);
}

static void a_grid_barrier_lets_blocks_read_what_others_wrote(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers++) {
        SCOPED(scene_fini) scene s;
        scene_init(&s);
        s.rig.workers = workers;
        rig_launch(&s.rig, s.module, "by_groups", BLOCKS, THREADS);
        rig_expect_clean(&s.rig);
        float sum = 0;
        for (int i = 0; i < N; i++)
            sum += s.x[i];
        for (int i = 0; i < N; i++)
            assert_true(s.y[i] == sum);
    }
}

static void a_barrier_of_ones_own_works_round_after_round(void **state)
{
    (void)state;
    enum { ROUNDS = 10 };
    SCOPED(emu_module_destroy) emu_module *m = rig_module(source);
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    rig.cooperative = true;
    float *a = rig_buffer(&rig, "a", RIG_READY, 4, BLOCKS);
    float *b = rig_buffer(&rig, "b", RIG_READY, 4, BLOCKS);
    memset(rig_buffer(&rig, "arrived", RIG_READY, 4, 1), 0, 4);
    rig_i32(&rig, ROUNDS);
    for (int i = 0; i < BLOCKS; i++) {
        a[i] = (float)i;
        b[i] = 0;
    }
    rig_launch(&rig, m, "by_counter", BLOCKS, 32);
    rig_expect_clean(&rig);
    for (int i = 0; i < BLOCKS; i++)
        assert_true(a[i] == (float)((i + ROUNDS) % BLOCKS + ROUNDS));
}

static void expect(const scene *s, emu_kind kind, const char *text)
{
    if (s->rig.report.finding_count == 0)
        fail_msg("nothing was found, \"%s\" was expected", text);
    const emu_finding *f = &s->rig.report.findings[0];
    if (f->kind != kind || strstr(f->text, text) == NULL)
        fail_msg("kind %d: %s", (int)f->kind, f->text);
}

static void without_a_barrier_it_is_a_race(void **state)
{
    (void)state;
    SCOPED(scene_fini) scene s;
    scene_init(&s);
    s.rig.workers = 1;
    rig_launch(&s.rig, s.module, "no_barrier", BLOCKS, 32);
    assert_int_not_equal(s.rig.report.finding_count, 0);
    const emu_kind kind = s.rig.report.findings[0].kind;
    assert_true(kind == EMU_RACE_GLOBAL || kind == EMU_UNINITIALISED);
}

static void a_plain_launch_has_no_grid_barrier(void **state)
{
    (void)state;
    SCOPED(scene_fini) scene s;
    scene_init(&s);
    s.rig.cooperative = false;
    rig_launch(&s.rig, s.module, "by_groups", BLOCKS, THREADS);
    expect(&s, EMU_TRAP, "trap");
}

static void more_blocks_than_the_emulator_holds_are_refused(void **state)
{
    (void)state;
    SCOPED(scene_fini) scene s;
    scene_init(&s);
    s.rig.shared = 160 * 1024;
    rig_launch(&s.rig, s.module, "by_groups", 500, THREADS);
    expect(&s, EMU_UNSUPPORTED, "a cooperative launch of 500 blocks");
}

static void a_tile_of_100_kib_fits_and_is_checked_to_the_byte(void **state)
{
    (void)state;
    enum { TILE = 25 * 1024 };
    SCOPED(emu_module_destroy) emu_module *m = rig_module(source);
    for (int missing = 0; missing < 2; missing++) {
        SCOPED(emu_rig_fini) emu_rig rig;
        emu_rig_init(&rig);
        float *x = rig_buffer(&rig, "x", RIG_INPUT, 4, TILE);
        float *y = rig_buffer(&rig, "y", RIG_OUTPUT, 4, TILE);
        rig_i32(&rig, TILE);
        for (int i = 0; i < TILE; i++)
            x[i] = (float)i;
        rig.shared = TILE * 4 - (uint32_t)missing;
        rig_launch(&rig, m, "tile", 1, 256);
        if (missing == 0) {
            rig_expect_clean(&rig);
            for (int i = 0; i < TILE; i++)
                assert_true(y[i] == x[TILE - 1 - i]);
            continue;
        }
        assert_int_not_equal(rig.report.finding_count, 0);
        assert_int_equal(rig.report.findings[0].kind, EMU_WRITE);
    }
}

int main(void)
{
    if (!rig_have_nvrtc())
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_barrier_lets_blocks_read_what_others_wrote),
        cmocka_unit_test(a_barrier_of_ones_own_works_round_after_round),
        cmocka_unit_test(without_a_barrier_it_is_a_race),
        cmocka_unit_test(a_plain_launch_has_no_grid_barrier),
        cmocka_unit_test(more_blocks_than_the_emulator_holds_are_refused),
        cmocka_unit_test(a_tile_of_100_kib_fits_and_is_checked_to_the_byte),
    };
    return cmocka_run_group_tests_name("blocks together", tests, NULL, NULL);
}
