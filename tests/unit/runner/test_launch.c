/* test_launch - steps of a plan with addresses in place
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/runner/launch.h"
#include "common/scoped.h"
#include "mock_rig.h"

static const char plan_text[] =
    "{\"kernels\":[{\"entry\":\"add\",\"grid\":[\"ceil_div(n, "
    "4)\",2],\"block\":[4],\"shared\":\"8\",\"cooperative\":true,"
    "\"args\":[\"a\",\"part\",{\"view\":\"y\",\"offset\":\"n - 1\"},{\"i32\":\"n\"}]}],"
    "\"scratch\":[{\"name\":\"part\",\"dtype\":\"f32\",\"count\":\"n\",\"init\":\"zero\"}]}";

static void addresses_and_values_are_in_place(void **state)
{
    (void)state;
    err e = {0};
    plan_fault fault;
    contract_shape shape = {{10}};
    SCOPED(contract_destroy) contract *terms = mock_rig_terms();
    SCOPED(plan_destroy) plan *p = plan_parse(plan_text, strlen(plan_text), terms, &fault);
    if (p == NULL)
        fail_msg("%s: %s", fault.pointer, fault.text);
    gpu *device = gpu_cuda_open(0, &e);
    assert_non_null(device);
    const gpu_facts *f = &device->facts;
    plan_device limits = {.sm_count = f->sm_count,
                          .cc = f->cc,
                          .threads_per_block_max = f->threads_per_block,
                          .shared_per_block_max = f->shared_per_block,
                          .memory_bytes = f->memory_bytes,
                          .grid_max = {100, 100, 100},
                          .block_max = {100, 100, 100}};
    plan_steps steps = {0};
    assert_int_equal(plan_expand(p, terms, &shape, &limits, &steps, &fault), 0);
    buffers_spec spec = {terms, &shape, &steps, 1, false};
    buffers *memory = buffers_create(device, &spec, &e);
    assert_non_null(memory);

    launch calls = {0};
    launch_init(&calls, &steps, memory, true);
    assert_int_equal(calls.count, 2);
    uint64_t bytes = 0;
    uint64_t scratch = buffers_scratch(memory, 0, &bytes);
    assert_null(calls.calls[0].entry);
    assert_true(calls.calls[0].fill.at == scratch);
    assert_int_equal(calls.calls[0].fill.count, 40);
    assert_int_equal(calls.calls[0].fill.width, 1);
    assert_int_equal(calls.calls[0].fill.value, 0);
    const gpu_call *c = &calls.calls[1];
    assert_string_equal(c->entry, "add");
    assert_int_equal(c->grid[0], 3);
    assert_int_equal(c->grid[1], 2);
    assert_int_equal(c->grid[2], 1);
    assert_int_equal(c->block[0], 4);
    assert_int_equal(c->shared, 8);
    assert_true(c->cooperative);
    assert_string_equal(c->pointer, "/kernels/0");
    uint64_t wanted[3] = {buffers_tensor(memory, 0), scratch, buffers_tensor(memory, 2) + 36};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(c->args[i].size, 8);
        assert_memory_equal(c->args[i].bytes, &wanted[i], 8);
    }
    int32_t n = 10;
    assert_int_equal(c->args[3].size, 4);
    assert_memory_equal(c->args[3].bytes, &n, 4);

    launch_fini(&calls);
    buffers_destroy(&memory);
    plan_steps_fini(&steps);
    gpu_close(&device);
}

/* In a check a buffer that comes to another one's place is filled with sentinels first; a timed call has
 * the plan's own steps only. */
static void leftovers_are_covered_in_a_check(void **state)
{
    (void)state;
    static const char text[] =
        "{\"scratch\":[{\"name\":\"s\",\"dtype\":\"f32\",\"count\":\"n\"},"
        "{\"name\":\"u\",\"dtype\":\"f32\",\"count\":\"n\"}],\"kernels\":["
        "{\"entry\":\"add\",\"grid\":[1],\"block\":[1],\"args\":[\"s\"]},"
        "{\"repeat\":2,\"index\":\"t\",\"kernels\":["
        "{\"entry\":\"add\",\"grid\":[1],\"block\":[1],\"args\":[\"u\"]}]}]}";
    static const plan_device limits = {.threads_per_block_max = 1,
                                       .memory_bytes = 1 << 20,
                                       .grid_max = {1, 1, 1},
                                       .block_max = {1, 1, 1}};
    err e = {0};
    plan_fault fault;
    contract_shape shape = {{10}};
    SCOPED(contract_destroy) contract *terms = mock_rig_terms();
    SCOPED(plan_destroy) plan *p = plan_parse(text, strlen(text), terms, &fault);
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    assert_non_null(p);
    assert_int_equal(plan_expand(p, terms, &shape, &limits, &steps, &fault), 0);
    gpu *device = gpu_cuda_open(0, &e);
    assert_non_null(device);
    buffers_spec spec = {terms, &shape, &steps, 1, false};
    buffers *memory = buffers_create(device, &spec, &e);
    assert_non_null(memory);
    const uint64_t place = buffers_scratch(memory, 0, NULL);
    assert_true(place == buffers_scratch(memory, 1, NULL));

    SCOPED(launch_fini) launch checked = {0};
    SCOPED(launch_fini) launch timed = {0};
    launch_init(&checked, &steps, memory, true);
    launch_init(&timed, &steps, memory, false);
    assert_int_equal(timed.count, 3);
    assert_int_equal(checked.count, 4);
    const gpu_call *renewal = &checked.calls[1];
    assert_null(renewal->entry);
    assert_true(renewal->fill.at == place);
    assert_int_equal(renewal->fill.value, buffers_scratch_sentinel(1));
    assert_int_equal(renewal->fill.count * renewal->fill.width, 40);
    assert_non_null(checked.calls[0].entry);
    assert_non_null(checked.calls[2].entry);
    buffers_destroy(&memory);
    gpu_close(&device);
}

static void nothing_to_do_is_an_empty_list(void **state)
{
    (void)state;
    plan_steps none = {0};
    launch calls;
    runner_verdict v;
    verdict_ok(&v);
    launch_init(&calls, &none, NULL, true);
    assert_int_equal(calls.count, 0);
    assert_int_equal(launch_examine(&calls, NULL, &v, NULL), 0);
    launch_fini(&calls);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_and_values_are_in_place),
        cmocka_unit_test(leftovers_are_covered_in_a_check),
        cmocka_unit_test(nothing_to_do_is_an_empty_list),
    };
    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
