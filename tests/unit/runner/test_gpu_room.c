/* test_gpu_room - shared memory with opt-in and cooperative grids, on the mock driver
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/runner/gpu_room.h"
#include "mock_rig.h"

enum {
    MOST = 232448
}; /* of the mock device: 227 KiB, and 4 multiprocessors with 228 KiB and 2,048 threads */

typedef struct room_case {
    const char *entry; /* add_shared has 1 KiB of static shared memory */
    uint32_t grid[3], block, shared;
    bool cooperative;
    outcome want;
    const char *detail, *text;
} room_case;

static const room_case cases[] = {
    {"add", {9, 1, 1}, 256, 0, false, OUTCOME_OK, NULL, NULL},
    {"add", {9, 1, 1}, 256, MOST, false, OUTCOME_OK, NULL, NULL},
    {"add_shared", {9, 1, 1}, 256, MOST - 1024, false, OUTCOME_OK, NULL, NULL},
    {"add_shared",
     {9, 1, 1},
     256,
     MOST - 1023,
     false,
     OUTCOME_PLAN_INVALID,
     "/kernels/0/shared",
     "231425 bytes of dynamic and 1024 of static shared memory; a block has 232448"},
    {"add", {32, 1, 1}, 256, 0, true, OUTCOME_OK, NULL, NULL},
    {"add",
     {33, 1, 1},
     256,
     0,
     true,
     OUTCOME_PLAN_INVALID,
     "/kernels/0/grid",
     "33 blocks; the device holds 32 of kernel add at once (8 on each of 4"},
    {"add", {33, 1, 1}, 256, 0, false, OUTCOME_OK, NULL, NULL},
    {"add", {2, 2, 2}, 256, 100000, true, OUTCOME_OK, NULL, NULL},
    {"add", {3, 1, 3}, 256, 100000, true, OUTCOME_PLAN_INVALID, "/kernels/0/grid", "9 blocks"},
    {"add",
     {65535, 65535, 65535},
     1024,
     0,
     true,
     OUTCOME_PLAN_INVALID,
     "/kernels/0/grid",
     "281462092005375 blocks"},
};

static gpu *device;

static gpu_call call_of(const room_case *c, gpu_arg args[4])
{
    for (size_t i = 0; i < 4; i++)
        args[i] = (gpu_arg){{0}, i < 3 ? 8 : 4};
    return (gpu_call){.entry = c->entry,
                      .grid = {c->grid[0], c->grid[1], c->grid[2]},
                      .block = {c->block, 1, 1},
                      .shared = c->shared,
                      .cooperative = c->cooperative,
                      .args = args,
                      .arg_count = 4,
                      .pointer = "/kernels/0"};
}

static void what_does_not_fit_is_told_with_the_most_that_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const room_case *c = &cases[i];
        gpu_arg args[4];
        const gpu_call call = call_of(c, args);
        runner_verdict v;
        verdict_ok(&v);
        assert_int_equal(device->ops->examine(device, &call, &v, NULL), 0);
        if (v.result != c->want)
            fail_msg("case %zu: %s %s", i, outcome_name(v.result), v.text);
        if (c->want == OUTCOME_OK)
            continue;
        assert_string_equal(v.detail, c->detail);
        if (strstr(v.text, c->text) == NULL)
            fail_msg("case %zu: %s", i, v.text);
    }
}

/* What was examined can be launched: the mock driver refuses shared memory without opt-in and grids too large. */
static void what_fits_is_launched(void **state)
{
    (void)state;
    float data[4] = {1, 2, 3, 4};
    const uint64_t at = (uint64_t)(uintptr_t)data;
    const int32_t n = 4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpu_arg args[4];
        gpu_call call = call_of(&cases[i], args);
        runner_verdict v;
        verdict_ok(&v);
        for (size_t k = 0; k < 3; k++)
            memcpy(args[k].bytes, &at, sizeof at);
        memcpy(args[3].bytes, &n, sizeof n);
        if (cases[i].want != OUTCOME_OK)
            continue;
        assert_int_equal(device->ops->run(device, &call, 1, 60000, &v, NULL), 0);
        if (v.result != OUTCOME_OK)
            fail_msg("case %zu: %s", i, v.text);
    }
}

static void a_driver_that_does_not_answer_is_an_error(void **state)
{
    (void)state;
    static const char *const functions[] = {"cuFuncGetAttribute", "cuFuncSetAttribute",
                                            "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
    const mock_hooks mock = mock_rig_hooks();
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        err e = {0};
        gpu_arg args[4];
        const gpu_call call = call_of(&cases[7], args);
        runner_verdict v;
        verdict_ok(&v);
        mock.refuse(functions[i], 999);
        assert_int_equal(device->ops->examine(device, &call, &v, &e), -1);
        assert_int_equal(e.code, ERR_GPU);
        assert_int_equal(e.native, 999);
    }
}

static int set_up(void **state)
{
    runner_verdict v;
    (void)state;
    device = gpu_cuda_open(0, NULL);
    verdict_ok(&v);
    return device != NULL ? device->ops->load(device, "MOCK", 5, &v, NULL) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    gpu_close(&device);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_told_with_the_most_that_does),
        cmocka_unit_test(what_fits_is_launched),
        cmocka_unit_test(a_driver_that_does_not_answer_is_an_error),
    };
    return cmocka_run_group_tests_name("gpu_room", tests, set_up, tear_down);
}
