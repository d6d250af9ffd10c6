/* test_timer - what the timing library cannot do, in the runner's terms
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/runner/timer.h"
#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "mock_rig.h"

static const gpu_block ten = {.samples = 10, .keep = -1, .deadline_ms = 1000};

static int open_on(timer *t, const cuda_api *api, CUstream stream, runner_verdict *v, err *e)
{
    CUgraph graph = NULL;
    gpu_timing timing = {0};
    api->capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    api->capture_end(stream, &graph);
    void *const calls[] = {graph};
    const timer_graphs graphs = {calls, NULL, stream, 4096};
    const gpu_time_job job = {.slot_count = 1, .deadline_ms = 1000};
    verdict_ok(v);
    int rc = timer_open(t, &job, &graphs, &timing, v, e);
    api->graph_destroy(graph);
    return rc;
}

static void a_refusal_keeps_the_drivers_number(void **state)
{
    (void)state;
    mock_hooks mock = mock_rig_hooks();
    cuda_api api;
    CUcontext context = NULL;
    CUstream stream = NULL;
    char why[200];
    err e = {0};
    runner_verdict v;
    timer t = {0};
    assert_true(cuda_api_open(&api, why, sizeof why));
    assert_int_equal(api.ctx_create(&context, 0, 0), 0);
    assert_int_equal(api.stream_create(&stream, 0), 0);
    mock.refuse("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(open_on(&t, &api, stream, &v, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_int_equal(e.native, CUDA_ERROR_OUT_OF_MEMORY);
    mock.refuse("cuEventCreate", CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(open_on(&t, &api, stream, &v, &e), -1);
    assert_int_equal(e.code, ERR_GPU);
    mock.refuse("cuGraphLaunch", CUDA_ERROR_ILLEGAL_ADDRESS); /* a candidate's fault, told late */
    assert_int_equal(open_on(&t, &api, stream, &v, &e), 0);
    assert_int_equal(v.result, OUTCOME_OUT_OF_BOUNDS);
    assert_null(t.session);
    timer_close(&t);
    api.ctx_destroy(context);
    cuda_api_close(&api);
}

static void without_a_session_there_is_no_block(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    timer t = {0};
    double samples[10];
    gpu_timing timing = {.samples = samples};
    assert_int_equal(timer_block(&t, &ten, &timing, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    timer_close(&t);
    timer_close(&t);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_keeps_the_drivers_number),
        cmocka_unit_test(without_a_session_there_is_no_block),
    };
    return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
