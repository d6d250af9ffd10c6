/* test_gpu_cuda - the CUDA back end on the mock driver
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cuda.h>
#include <string.h>

#include "agent-node/runner/gpu.h"
#include "mock_rig.h"

typedef struct rig {
    mock_hooks mock;
    gpu *device;
} rig;

static rig r;

static int set_up(void **state)
{
    (void)state;
    err e = {0};
    r.mock = mock_rig_hooks();
    r.device = gpu_cuda_open(0, &e);
    return r.device != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    gpu_close(&r.device);
    return 0;
}

static void facts_come_from_the_device(void **state)
{
    (void)state;
    const gpu_facts *f = &r.device->facts;
    assert_string_equal(f->kind, "cuda");
    assert_string_equal(f->name, "mock GPU");
    assert_string_equal(f->arch, "sm_90a");
    assert_string_equal(f->uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    assert_int_equal(f->cc, 90);
    assert_int_equal(f->driver, 13000);
    assert_int_equal(f->l2_bytes, 1048576);
    assert_int_equal(f->block_max[2], 64);
    assert_true(f->grid_max[0] == 2147483647);
}

static void an_absent_ordinal_is_unavailable(void **state)
{
    (void)state;
    err e = {0};
    gpu_facts f;
    assert_int_equal(gpu_cuda_count(&e), 1);
    assert_null(gpu_cuda_open(1, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "cuda:1"));
    assert_int_equal(gpu_cuda_facts(7, &f, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
}

typedef struct refusal {
    const char *function;
    int result;
    err_code code;
} refusal;

static const refusal open_refusals[] = {
    {"cuInit", CUDA_ERROR_NO_DEVICE, ERR_UNAVAILABLE},
    {"cuInit", CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ERR_UNAVAILABLE},
    {"cuDeviceGetCount", CUDA_ERROR_UNKNOWN, ERR_GPU},
    {"cuCtxCreate_v2", CUDA_ERROR_OUT_OF_MEMORY, ERR_LIMIT},
    {"cuCtxCreate_v2", CUDA_ERROR_DEVICE_UNAVAILABLE, ERR_GPU},
    {"cuStreamCreate", CUDA_ERROR_UNKNOWN, ERR_GPU},
    {"cuModuleLoadData", CUDA_ERROR_JIT_COMPILER_NOT_FOUND, ERR_GPU},
    {"cuModuleGetFunction", CUDA_ERROR_NOT_FOUND, ERR_GPU},
    {"cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY, ERR_LIMIT},
};

static void every_failure_to_open_is_an_error_with_its_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof open_refusals / sizeof *open_refusals; i++) {
        err e = {0};
        r.mock.refuse(open_refusals[i].function, open_refusals[i].result);
        assert_null(gpu_cuda_open(0, &e));
        assert_int_equal(e.code, open_refusals[i].code);
        assert_int_equal(e.domain, ERR_DOMAIN_CUDA);
        assert_int_equal(e.native, open_refusals[i].result);
    }
}

static const refusal map_refusals[] = {
    {"cuMemAddressReserve", CUDA_ERROR_OUT_OF_MEMORY, ERR_LIMIT},
    {"cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY, ERR_LIMIT},
    {"cuMemMap", CUDA_ERROR_UNKNOWN, ERR_GPU},
    {"cuMemSetAccess", CUDA_ERROR_UNKNOWN, ERR_GPU},
};

static void a_failed_mapping_leaves_nothing_behind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof map_refusals / sizeof *map_refusals; i++) {
        err e = {0};
        gpu_mem mem = {0};
        r.mock.refuse(map_refusals[i].function, map_refusals[i].result);
        assert_int_equal(r.device->ops->map(r.device, 100, &mem, &e), -1);
        assert_int_equal(e.code, map_refusals[i].code);
        assert_true(mem.base == 0 && mem.range == 0);
    }
    err e = {0};
    gpu_mem mem = {0};
    assert_int_equal(r.device->ops->map(r.device, (uint64_t)1 << 40, &mem, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

static void mappings_round_up_and_fills_read_back(void **state)
{
    (void)state;
    gpu *g = r.device;
    gpu_mem mem = {0};
    uint16_t got[4];
    assert_int_equal(g->ops->map(g, 2097153, &mem, NULL), 0);
    assert_int_equal(mem.bytes, 2 * 2097152);
    assert_true(mem.base - mem.range >= 2097152);
    gpu_fill wide = {mem.base, 0xAABBCCDD, 4, 2};
    gpu_fill half = {mem.base + 2, 0x1234, 2, 1};
    gpu_fill none = {1, 0, 4, 0};
    assert_int_equal(g->ops->fill(g, &wide, NULL), 0);
    assert_int_equal(g->ops->fill(g, &half, NULL), 0);
    assert_int_equal(g->ops->fill(g, &none, NULL), 0);
    assert_int_equal(g->ops->read(g, got, mem.base, sizeof got, NULL), 0);
    assert_int_equal(got[0], 0xCCDD);
    assert_int_equal(got[1], 0x1234);
    assert_int_equal(got[3], 0xAABB);
    g->ops->unmap(g, &mem);
    assert_true(mem.base == 0);
    g->ops->unmap(g, &mem);
}

static void sums_depend_on_every_byte_and_on_the_salt(void **state)
{
    (void)state;
    gpu *g = r.device;
    gpu_mem mem = {0};
    uint64_t sums[4];
    assert_int_equal(g->ops->map(g, 4096, &mem, NULL), 0);
    gpu_fill fill = {mem.base, 0, 1, 4096};
    g->ops->fill(g, &fill, NULL);
    assert_int_equal(g->ops->sum(g, mem.base, 1001, 5, &sums[0], NULL), 0);
    assert_int_equal(g->ops->sum(g, mem.base, 1001, 5, &sums[1], NULL), 0);
    assert_int_equal(g->ops->sum(g, mem.base, 1001, 6, &sums[2], NULL), 0);
    fill = (gpu_fill){mem.base + 1000, 1, 1, 1};
    g->ops->fill(g, &fill, NULL);
    assert_int_equal(g->ops->sum(g, mem.base, 1001, 5, &sums[3], NULL), 0);
    assert_true(sums[0] == sums[1]);
    assert_true(sums[0] != sums[2]);
    assert_true(sums[0] != sums[3]);
    g->ops->unmap(g, &mem);
}

static gpu_call add_call(gpu_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        args[i] = (gpu_arg){{0}, i < 3 ? 8 : 4};
    return (gpu_call){.entry = "add",
                      .grid = {1, 1, 1},
                      .block = {1, 1, 1},
                      .args = args,
                      .arg_count = count,
                      .pointer = "/kernels/0"};
}

static runner_verdict examine(const gpu_call *call)
{
    runner_verdict v;
    verdict_ok(&v);
    assert_int_equal(r.device->ops->examine(r.device, call, &v, NULL), 0);
    return v;
}

static void arguments_are_compared_with_the_kernels_parameters(void **state)
{
    (void)state;
    gpu_arg args[8];
    runner_verdict v;
    verdict_ok(&v);
    assert_int_equal(r.device->ops->load(r.device, "MOCK", 5, &v, NULL), 0);
    gpu_call call = add_call(args, 4);
    assert_int_equal(examine(&call).result, OUTCOME_OK);
    args[3].size = 8;
    assert_int_equal(examine(&call).result, OUTCOME_PLAN_INVALID);
    assert_string_equal(examine(&call).detail, "/kernels/0/args/3");
    call = add_call(args, 5);
    assert_string_equal(examine(&call).detail, "/kernels/0/args");
    call = add_call(args, 0);
    assert_string_equal(examine(&call).detail, "/kernels/0/args");
    call.entry = "absent";
    assert_int_equal(examine(&call).result, OUTCOME_LAUNCH_FAILED);
    assert_string_equal(examine(&call).detail, "entry");
}

static void a_refused_launch_is_an_outcome_and_no_memory_an_error(void **state)
{
    (void)state;
    err e = {0};
    gpu_arg args[4];
    runner_verdict v;
    verdict_ok(&v);
    gpu_call call = add_call(args, 4);
    assert_int_equal(r.device->ops->load(r.device, "MOCK", 5, &v, NULL), 0);
    r.mock.refuse("cuLaunchKernel", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(r.device->ops->run(r.device, &call, 1, 1000, &v, &e), 0);
    assert_int_equal(v.result, OUTCOME_LAUNCH_FAILED);
    assert_string_equal(v.detail, "resources");
    verdict_ok(&v);
    r.mock.refuse("cuLaunchKernel", CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(r.device->ops->run(r.device, &call, 1, 1000, &v, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

static void a_bad_image_is_an_outcome_and_no_memory_an_error(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    verdict_ok(&v);
    assert_int_equal(r.device->ops->load(r.device, "BAD", 4, &v, &e), 0);
    assert_int_equal(v.result, OUTCOME_LAUNCH_FAILED);
    verdict_ok(&v);
    r.mock.refuse("cuModuleLoadData", CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(r.device->ops->load(r.device, "MOCK", 5, &v, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

static void staging_must_be_a_handle(void **state)
{
    (void)state;
    err e = {0};
    uint64_t base = 0;
    gpu_staging shm = {NULL, "/somewhere"};
    assert_int_equal(r.device->ops->attach(r.device, &shm, &base, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(facts_come_from_the_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_absent_ordinal_is_unavailable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_failure_to_open_is_an_error_with_its_number, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_failed_mapping_leaves_nothing_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mappings_round_up_and_fills_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sums_depend_on_every_byte_and_on_the_salt, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(arguments_are_compared_with_the_kernels_parameters, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_refused_launch_is_an_outcome_and_no_memory_an_error,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_bad_image_is_an_outcome_and_no_memory_an_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(staging_must_be_a_handle, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("gpu_cuda", tests, NULL, NULL);
}
