/* test_distinct - slots that share their memory are found
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent-node/runner/timing/distinct.h"
#include "mock_rig.h"

enum { SLOTS = 3 };

typedef struct rig {
    cuda_api api;
    CUcontext context;
    CUstream stream;
    CUfunction add;
} rig;

static rig r;

static int set_up(void **state)
{
    char why[200];
    CUmodule module = NULL;
    (void)state;
    if (!cuda_api_open(&r.api, why, sizeof why) || r.api.ctx_create(&r.context, 0, 0) != 0 ||
        r.api.stream_create(&r.stream, 0) != 0 || r.api.module_load(&module, "MOCK") != 0)
        return -1;
    return r.api.module_function(&r.add, module, "add") == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    r.api.ctx_destroy(r.context);
    cuda_api_close(&r.api);
    return 0;
}

/* A graph whose kernel is handed these addresses; n < 0: memory is set and no kernel launched. */
static CUgraph graph_of(CUdeviceptr a, CUdeviceptr b, CUdeviceptr y, int n)
{
    CUgraph graph = NULL;
    void *args[] = {&a, &b, &y, &n};
    r.api.capture_begin(r.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (n < 0)
        r.api.memset8(y, 0, 1, r.stream);
    else
        r.api.launch(r.add, 1, 1, 1, 1, 1, 1, 0, r.stream, args, NULL);
    r.api.capture_end(r.stream, &graph);
    return graph;
}

static bool judge(CUgraph graphs[SLOTS], uint32_t *one, uint32_t *other)
{
    bool distinct = distinct_slots(&r.api, (void *const *)graphs, SLOTS, one, other);
    for (int i = 0; i < SLOTS; i++)
        r.api.graph_destroy(graphs[i]);
    return distinct;
}

static void different_pointers_are_distinct(void **state)
{
    (void)state;
    uint32_t one = 9, other = 9;
    CUgraph graphs[SLOTS] = {graph_of(1, 2, 3, 4), graph_of(1, 2, 5, 4), graph_of(7, 2, 5, 4)};
    assert_true(judge(graphs, &one, &other));
}

static void equal_pointers_are_named(void **state)
{
    (void)state;
    uint32_t one = 9, other = 9;
    CUgraph graphs[SLOTS] = {graph_of(1, 2, 3, 4), graph_of(1, 2, 5, 4), graph_of(1, 2, 3, 4)};
    assert_false(judge(graphs, &one, &other));
    assert_int_equal(one, 0);
    assert_int_equal(other, 2);
}

static void what_cannot_be_seen_is_not_judged(void **state)
{
    (void)state;
    uint32_t one = 9, other = 9;
    CUgraph graphs[SLOTS] = {graph_of(1, 2, 3, -1), graph_of(1, 2, 3, -1), graph_of(1, 2, 3, -1)};
    assert_true(judge(graphs, &one, &other));
    CUgraph same[SLOTS] = {graph_of(1, 2, 3, 4), graph_of(1, 2, 3, 4), graph_of(1, 2, 3, 4)};
    r.api.func_param_info = NULL; /* a driver of CUDA 12.3 */
    assert_true(judge(same, &one, &other));
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(different_pointers_are_distinct, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_pointers_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_seen_is_not_judged, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("distinct", tests, NULL, NULL);
}
