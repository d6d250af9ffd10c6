/* test_phases - load, check and time on the mock driver, and the protocol around them
 *
 * The mock shares memory between processes by /proc/PID/fd, which also serves within one.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/buffers.h"
#include "agent-node/runner/phases.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "mock_rig.h"
#include "wire/message.h"

enum { ELEMENTS = 777, SLOTS = 3, SALT = 5 };

/* What phases told about whose turn it is: 'c' candidate, 'h' harness. */
typedef struct turns {
    char text[32];
    size_t count;
} turns;

typedef struct rig {
    gpu *device;
    cuda_api api;
    phases *phases;
    turns turns;
    CUdeviceptr staging;
    CUipcMemHandle handle;
    struct row_dim dims[1];
    struct row_span inputs[2 * SLOTS], outputs[1];
} rig;

static rig r;

static int note_turn(void *arg, bool candidate, int64_t deadline_ms, err *e)
{
    turns *t = arg;
    (void)e;
    assert_true(deadline_ms >= 1 && deadline_ms <= 3600000);
    t->text[t->count++] = candidate ? 'c' : 'h';
    t->text[t->count] = '\0';
    return 0;
}

static float *host(int64_t offset)
{
    return (float *)(uintptr_t)(r.staging + (uint64_t)offset);
}

static int set_up(void **state)
{
    (void)state;
    err e = {0};
    char why[200];
    static char name[] = "n";
    memset(&r, 0, sizeof r);
    r.device = gpu_cuda_open(0, &e);
    if (r.device == NULL || !cuda_api_open(&r.api, why, sizeof why))
        return -1;
    r.phases = phases_create(r.device, note_turn, &r.turns);
    if (r.api.mem_alloc(&r.staging, 65536) != 0 || r.api.ipc_get(&r.handle, r.staging) != 0)
        return -1;
    r.dims[0] = (struct row_dim){.name = name, .value = ELEMENTS};
    for (size_t i = 0; i < 2 * SLOTS; i++) {
        r.inputs[i] = (struct row_span){.offset = (int64_t)i * 4096, .bytes = ELEMENTS * 4};
        for (size_t k = 0; k < ELEMENTS; k++)
            host((int64_t)i * 4096)[k] = (float)(100 * i + k);
    }
    r.outputs[0] = (struct row_span){.offset = 32768, .bytes = ELEMENTS * 4};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    phases_destroy(&r.phases);
    r.api.mem_free(r.staging);
    gpu_close(&r.device);
    cuda_api_close(&r.api);
    return 0;
}

static int load(const char *image, const char *plan_text, runner_verdict *v, err *e)
{
    struct msg_runner_load m = {.contract = (char *)(uintptr_t)mock_rig_contract,
                                .plan = (char *)(uintptr_t)plan_text,
                                .cubin = {(uint8_t *)(uintptr_t)image, strlen(image)}};
    return phases_load(r.phases, &m, v, e);
}

static void load_entry(const char *entry)
{
    runner_verdict v;
    SCOPED(scoped_free) char *text = mock_rig_plan(entry);
    assert_int_equal(load("MOCK", text, &v, NULL), 0);
    assert_int_equal(v.result, OUTCOME_OK);
}

static struct msg_runner_check check_request(void)
{
    return (struct msg_runner_check){.dims = r.dims,
                                     .dims_count = 1,
                                     .salt = SALT,
                                     .handle = {(uint8_t *)&r.handle, sizeof r.handle},
                                     .inputs = r.inputs,
                                     .inputs_count = 2,
                                     .outputs = r.outputs,
                                     .outputs_count = 1,
                                     .deadline_ms = 5000};
}

static runner_verdict check(void)
{
    runner_verdict v;
    err e = {0};
    struct msg_runner_check m = check_request();
    if (phases_check(r.phases, &m, &v, &e) < 0)
        fail_msg("check: %s", e.text);
    return v;
}

static void a_right_candidate_fills_staging(void **state)
{
    (void)state;
    load_entry("add");
    assert_int_equal(check().result, OUTCOME_OK);
    for (size_t k = 0; k < ELEMENTS; k++)
        assert_true(host(32768)[k] == (float)(100 + 2 * k));
    assert_string_equal(r.turns.text, "ccch"); /* load; load again, launch; over */
}

/* Under a tool: memory of exact sizes, nothing filled or summed, and nothing comes back. */
static void on_an_exact_device_only_the_candidate_runs(void **state)
{
    (void)state;
    size_t count = 0, kernels = 0, copies = 0;
    mock_hooks hooks = mock_rig_hooks();
    r.device->exact = true;
    load_entry("add");
    host(32768)[0] = -1.0f;
    hooks.trace_clear();
    assert_int_equal(check().result, OUTCOME_OK);
    const mock_trace *trace = hooks.trace(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(trace[i].kind == MOCK_KERNEL || trace[i].kind == MOCK_COPY);
        kernels += trace[i].kind == MOCK_KERNEL;
        copies += trace[i].kind == MOCK_COPY;
    }
    assert_true(kernels == 1 && copies == 2);
    assert_true(host(32768)[0] == -1.0f);
    hooks.refuse("cuMemAlloc_v2", 2);
    err e = {0};
    runner_verdict v;
    struct msg_runner_check m = check_request();
    assert_int_equal(phases_check(r.phases, &m, &v, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

/* ---- the pair ---- */

static runner_verdict check_paired(void)
{
    runner_verdict v;
    err e = {0};
    struct msg_runner_check m = check_request();
    m.pair_salt = SALT + 1000;
    if (phases_check(r.phases, &m, &v, &e) < 0)
        fail_msg("check: %s", e.text);
    return v;
}

static void an_honest_candidate_passes_three_runs(void **state)
{
    (void)state;
    load_entry("add");
    assert_int_equal(check_paired().result, OUTCOME_OK);
    assert_string_equal(r.turns.text, "ccchcchcch");
    for (size_t k = 0; k < ELEMENTS; k++)
        assert_true(host(32768)[k] == (float)(100 + 2 * k));
    assert_int_equal(check_paired().result, OUTCOME_OK);
}

static void what_depends_on_leftovers_is_uninitialised(void **state)
{
    (void)state;
    load_entry("add_junk");
    assert_int_equal(check().result, OUTCOME_OK); /* one run cannot tell */
    runner_verdict v = check_paired();
    assert_int_equal(v.result, OUTCOME_UNINITIALISED);
    assert_string_equal(v.detail, VERDICT_LEFTOVERS);
    assert_true(host(32768)[1] == 102.0f); /* the first run's outputs are there to be judged */
}

static void who_looks_whether_the_work_is_done_is_misled(void **state)
{
    (void)state;
    load_entry("add_unless_there");
    assert_int_equal(check().result, OUTCOME_OK); /* sentinels look like no answer */
    runner_verdict v = check_paired();
    assert_int_equal(v.result, OUTCOME_UNINITIALISED);
    assert_string_equal(v.detail, VERDICT_LEFTOVERS);
}

static void what_is_not_written_is_told_by_the_pair_and_still_exported(void **state)
{
    (void)state;
    uint32_t width = 0;
    uint32_t want = buffers_sentinel(DTYPE_F32, SALT, &width);
    load_entry("add_all_but_last");
    runner_verdict v = check_paired();
    assert_int_equal(v.result, OUTCOME_UNINITIALISED);
    assert_string_equal(v.detail, VERDICT_LEFTOVERS);
    assert_memory_equal(&host(32768)[ELEMENTS - 1], &want, 4);
}

static void what_changes_from_run_to_run_is_nondeterministic(void **state)
{
    (void)state;
    load_entry("add_calls");
    assert_int_equal(check_paired().result, OUTCOME_NONDETERMINISTIC);
}

static void what_is_not_written_keeps_the_sentinel_of_the_salt(void **state)
{
    (void)state;
    uint32_t width = 0;
    uint32_t want = buffers_sentinel(DTYPE_F32, SALT, &width);
    load_entry("add_all_but_last");
    assert_int_equal(check().result, OUTCOME_OK);
    assert_memory_equal(&host(32768)[ELEMENTS - 1], &want, 4);
}

static void the_first_check_names_the_input_that_changed(void **state)
{
    (void)state;
    load_entry("add_to_input");
    assert_string_equal(check().detail, "input");
    assert_true(host(0)[0] == 0.0f); /* staging itself is out of reach */
}

static void empty_outputs_launch_nothing(void **state)
{
    (void)state;
    load_entry("traps");
    r.dims[0].value = 0;
    r.inputs[0].bytes = r.inputs[1].bytes = r.outputs[0].bytes = 0;
    assert_int_equal(check().result, OUTCOME_OK);
    assert_string_equal(r.turns.text, "c");
}

static void a_plan_that_does_not_parse_is_plan_invalid_at_load(void **state)
{
    (void)state;
    runner_verdict v;
    assert_int_equal(load("MOCK", "{\"kernels\":[]}", &v, NULL), 0);
    assert_int_equal(v.result, OUTCOME_PLAN_INVALID);
    assert_string_equal(r.turns.text, ""); /* never met the driver */
}

static void a_second_candidate_is_refused(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    SCOPED(scoped_free) char *text = mock_rig_plan("add");
    load_entry("add");
    assert_int_equal(load("MOCK", text, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void check_before_load_is_refused(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    struct msg_runner_check m = check_request();
    assert_int_equal(phases_check(r.phases, &m, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void expect_refusal(const struct msg_runner_check *m)
{
    err e = {0};
    runner_verdict v;
    assert_int_equal(phases_check(r.phases, m, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void requests_that_do_not_fit_the_contract_are_refused(void **state)
{
    (void)state;
    static char other[] = "m";
    load_entry("add");
    struct row_dim twice[2] = {r.dims[0], r.dims[0]};
    struct row_dim unknown[1] = {{.name = other, .value = 4}};
    struct msg_runner_check m = check_request();
    m.dims_count = 0;
    expect_refusal(&m);
    m.dims = twice;
    m.dims_count = 2;
    expect_refusal(&m);
    m.dims = unknown;
    m.dims_count = 1;
    expect_refusal(&m);
    m = check_request();
    m.inputs_count = 1;
    expect_refusal(&m);
    m = check_request();
    m.outputs_count = 0;
    expect_refusal(&m);
    m = check_request();
    m.handle.size = 0;
    expect_refusal(&m);
    r.inputs[1].bytes += 4;
    m = check_request();
    expect_refusal(&m);
    r.inputs[1].bytes -= 4;
    assert_int_equal(check().result, OUTCOME_OK);
}

static struct msg_runner_arm arm_request(void)
{
    return (struct msg_runner_arm){.dims = r.dims,
                                   .dims_count = 1,
                                   .salt = SALT,
                                   .handle = {(uint8_t *)&r.handle, sizeof r.handle},
                                   .slots = SLOTS,
                                   .inputs = r.inputs,
                                   .inputs_count = 2 * SLOTS,
                                   .keeps = 1,
                                   .deadline_ms = 20000};
}

static runner_verdict arm(const struct msg_runner_arm *m)
{
    err e = {0};
    runner_verdict v;
    gpu_timing t = {0};
    if (phases_arm(r.phases, m, &t, &v, &e) < 0)
        fail_msg("arm: %s", e.text);
    if (verdict_is_ok(&v))
        assert_true(t.event_floor_ms > 0 && t.warmup_calls >= 2 * SLOTS + 3);
    return v;
}

/* take_block takes 20 samples and keeps what number 7 leaves behind. */
static void take_block(void)
{
    err e = {0};
    runner_verdict v;
    double samples[20] = {0};
    gpu_timing t = {.samples = samples};
    const struct msg_runner_block m = {
        .samples = 20, .untimed = 3, .keep = 7, .deadline_ms = 20000};
    if (phases_block(r.phases, &m, &t, &v, &e) < 0)
        fail_msg("block: %s", e.text);
    assert_int_equal(v.result, OUTCOME_OK);
    assert_int_equal(t.sample_count, 20);
    for (size_t i = 0; i < 20; i++)
        assert_true(samples[i] > 0);
    assert_true(t.event_ms <= t.host_ms * 1.01 && t.suspect == 0);
}

static void export_kept(int64_t index)
{
    err e = {0};
    runner_verdict v;
    const struct msg_runner_kept m = {.index = index,
                                      .handle = {(uint8_t *)&r.handle, sizeof r.handle},
                                      .outputs = r.outputs,
                                      .outputs_count = 1};
    memset(host(32768), 0, ELEMENTS * 4);
    if (phases_kept(r.phases, &m, &v, &e) < 0)
        fail_msg("kept: %s", e.text);
    assert_int_equal(v.result, OUTCOME_OK);
}

static void expect_sums_of(size_t slot)
{
    for (size_t k = 0; k < ELEMENTS; k++)
        assert_true(host(32768)[k] == (float)(200 * slot + 200 * slot + 100 + 2 * k));
}

static runner_verdict disarm(int64_t samples)
{
    err e = {0};
    runner_verdict v;
    const struct msg_runner_disarm m = {.samples = samples};
    if (phases_disarm(r.phases, &m, &v, &e) < 0)
        fail_msg("disarm: %s", e.text);
    return v;
}

static void a_timed_calls_outputs_are_kept(void **state)
{
    (void)state;
    size_t count = 0;
    struct msg_runner_arm m = arm_request();
    load_entry("add");
    assert_int_equal(arm(&m).result, OUTCOME_OK);
    take_block();
    const size_t *slots = phases_kept_slots(r.phases, &count);
    assert_int_equal(count, 1);
    export_kept(0);
    expect_sums_of(slots[0]);
    assert_int_equal(disarm(20).result, OUTCOME_OK);
    assert_string_equal(r.turns.text, "cccchch");
}

static void in_a_chain_every_slots_outputs_are_kept(void **state)
{
    (void)state;
    size_t count = 0;
    struct msg_runner_arm m = arm_request();
    m.chained = true;
    load_entry("add");
    assert_int_equal(arm(&m).result, OUTCOME_OK);
    take_block();
    const size_t *slots = phases_kept_slots(r.phases, &count);
    assert_int_equal(count, SLOTS);
    for (size_t i = 0; i < SLOTS; i++) {
        assert_int_equal(slots[i], i);
        export_kept((int64_t)i);
        expect_sums_of(i);
    }
    assert_int_equal(disarm(20).result, OUTCOME_OK);
}

static void timing_sees_a_write_past_the_end(void **state)
{
    (void)state;
    struct msg_runner_arm m = arm_request();
    load_entry("add_one_past");
    assert_int_equal(arm(&m).result, OUTCOME_OK);
    take_block();
    runner_verdict v = disarm(20);
    assert_int_equal(v.result, OUTCOME_OUT_OF_BOUNDS);
    assert_string_equal(v.detail, "write");
}

static void timing_requests_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    double samples[20] = {0};
    gpu_timing t = {.samples = samples};
    struct msg_runner_arm m = arm_request();
    const struct msg_runner_block block = {.samples = 20, .keep = -1, .deadline_ms = 20000};
    const struct msg_runner_disarm miscounted = {.samples = 21};
    const struct msg_runner_kept kept = {.outputs = r.outputs, .outputs_count = 1};
    load_entry("add");
    assert_int_equal(phases_block(r.phases, &block, &t, &v, &e), -1); /* not armed */
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(phases_disarm(r.phases, &miscounted, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(arm(&m).result, OUTCOME_OK);
    assert_int_equal(phases_arm(r.phases, &m, &t, &v, &e), -1); /* twice */
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(phases_kept(r.phases, &kept, &v, &e), -1); /* nothing is kept yet */
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(phases_block(r.phases, &block, &t, &v, &e), 0);
    assert_int_equal(phases_disarm(r.phases, &miscounted, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(disarm(20).result, OUTCOME_OK);
}

static void arming_refuses_wrong_spans(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    gpu_timing t = {0};
    struct msg_runner_arm m = arm_request();
    load_entry("add");
    m.inputs_count = 2;
    assert_int_equal(phases_arm(r.phases, &m, &t, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void nothing_is_timed_at_an_empty_shape(void **state)
{
    (void)state;
    err e = {0};
    runner_verdict v;
    gpu_timing t = {0};
    struct msg_runner_arm m = arm_request();
    load_entry("add");
    r.dims[0].value = 0;
    assert_int_equal(phases_arm(r.phases, &m, &t, &v, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

/* Last: the fault is sticky in the mock library too. */
static void timing_maps_inputs_read_only(void **state)
{
    (void)state;
    struct msg_runner_arm m = arm_request();
    load_entry("add_to_input");
    runner_verdict v = arm(&m);
    assert_int_equal(v.result, OUTCOME_OUT_OF_BOUNDS);
    assert_string_equal(v.detail, "access");
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_right_candidate_fills_staging),
        CASE(on_an_exact_device_only_the_candidate_runs),
        CASE(an_honest_candidate_passes_three_runs),
        CASE(what_depends_on_leftovers_is_uninitialised),
        CASE(who_looks_whether_the_work_is_done_is_misled),
        CASE(what_is_not_written_is_told_by_the_pair_and_still_exported),
        CASE(what_changes_from_run_to_run_is_nondeterministic),
        CASE(what_is_not_written_keeps_the_sentinel_of_the_salt),
        CASE(the_first_check_names_the_input_that_changed),
        CASE(empty_outputs_launch_nothing),
        CASE(a_plan_that_does_not_parse_is_plan_invalid_at_load),
        CASE(a_second_candidate_is_refused),
        CASE(check_before_load_is_refused),
        CASE(requests_that_do_not_fit_the_contract_are_refused),
        CASE(a_timed_calls_outputs_are_kept),
        CASE(in_a_chain_every_slots_outputs_are_kept),
        CASE(timing_sees_a_write_past_the_end),
        CASE(timing_requests_that_make_no_sense_are_refused),
        CASE(arming_refuses_wrong_spans),
        CASE(nothing_is_timed_at_an_empty_shape),
        CASE(timing_maps_inputs_read_only),
    };
    return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
