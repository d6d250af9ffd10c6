/* test_ce_timing - slots, and the order in which calls are queued
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/timing/ce_timing.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "common/clock.h"
#include "mock_rig.h"

/* Open, one block, close. */
static int run_once(const ce_timing_job *job, const ce_timing_ask *ask, ce_timing_out *out)
{
    ce_timing *r = ce_timing_open(job, out);
    if (r == NULL)
        return -1;
    int rc = ce_timing_block(r, ask, out);
    ce_timing_close(&r);
    return rc;
}

/* ---- K ---- */

typedef struct slots_case {
    uint64_t bytes, l2;
    double estimate_us;
    uint64_t memory;
    uint32_t want;
} slots_case;

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static const slots_case slots[] = {
    {60 * MIB, 60 * MIB, 100.0, 140 * GIB, 3}, /* floor(2·L2/B) + 1 */
    {32 * MIB, 60 * MIB, 100.0, 140 * GIB, 4},
    {2 * MIB, 60 * MIB, 100.0, 140 * GIB, 61},
    {1 * MIB, 60 * MIB, 100.0, 140 * GIB, 2}, /* 121 slots: the term is dropped */
    {1 * MIB, 60 * MIB, 10.0, 140 * GIB, 5},  /* 50 us in one chain */
    {4096, 60 * MIB, 0.1, 140 * GIB, 64},     /* never more than 64 */
    {4096, 60 * MIB, 0.0, 140 * GIB, 2},      /* no estimate yet */
    {0, 60 * MIB, 2.0, 140 * GIB, 25},
    {200 * MIB, 60 * MIB, 500.0, 140 * GIB, 2}, /* at least 2 … */
    {481 * MIB, 60 * MIB, 500.0, 140 * GIB, 1}, /* … but 1 above 8 × L2 */
    {100 * MIB, 60 * MIB, 1.0, 2 * GIB, 5},     /* a quarter of memory */
    {300 * MIB, 60 * MIB, 1.0, GIB, 1},         /* half of it for one slot */
    {600 * MIB, 60 * MIB, 1.0, GIB, 0},         /* does not fit */
};

static void slots_follow_the_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        uint32_t got =
            ce_timing_slots(slots[i].bytes, slots[i].l2, slots[i].estimate_us, slots[i].memory);
        if (got != slots[i].want)
            fail_msg("case %zu: %u slots, not %u", i, got, slots[i].want);
    }
}

/* ---- on the mock driver ---- */

enum { K = 5, ELEMENTS = 64 };

typedef struct rig {
    mock_hooks mock;
    cuda_api api;
    CUcontext context;
    CUstream stream;
    CUgraph graphs[K], prepare[K];
    float memory[K][3][ELEMENTS];
    double samples[1000];
    ce_timing_ask ask;
    uint32_t kept[16]; /* slots shown to `keep`, in order */
    size_t kept_count;
} rig;

static CUgraph capture_add(rig *r, int k)
{
    CUmodule module = NULL;
    CUfunction add = NULL;
    CUgraph graph = NULL;
    CUdeviceptr a = (CUdeviceptr)(uintptr_t)r->memory[k][0];
    CUdeviceptr b = (CUdeviceptr)(uintptr_t)r->memory[k][1];
    CUdeviceptr y = (CUdeviceptr)(uintptr_t)r->memory[k][2];
    int n = ELEMENTS;
    void *args[] = {&a, &b, &y, &n};
    assert_int_equal(r->api.module_load(&module, "MOCK"), 0);
    assert_int_equal(r->api.module_function(&add, module, "add"), 0);
    assert_int_equal(r->api.capture_begin(r->stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    assert_int_equal(r->api.launch(add, 1, 1, 1, 64, 1, 1, 0, r->stream, args, NULL), 0);
    assert_int_equal(r->api.capture_end(r->stream, &graph), 0);
    return graph;
}

static CUgraph capture_poison(rig *r, int k)
{
    CUgraph graph = NULL;
    assert_int_equal(r->api.capture_begin(r->stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    assert_int_equal(
        r->api.memset32((CUdeviceptr)(uintptr_t)r->memory[k][2], 0x7FC00001, ELEMENTS, r->stream),
        0);
    assert_int_equal(r->api.capture_end(r->stream, &graph), 0);
    return graph;
}

static int set_up(void **state)
{
    char why[200];
    rig *r = calloc(1, sizeof *r);
    r->mock = mock_rig_hooks();
    if (!cuda_api_open(&r->api, why, sizeof why) || r->api.ctx_create(&r->context, 0, 0) != 0 ||
        r->api.stream_create(&r->stream, 0) != 0)
        return -1;
    for (int k = 0; k < K; k++) {
        r->graphs[k] = capture_add(r, k);
        r->prepare[k] = capture_poison(r, k);
    }
    r->mock.trace_clear();
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    rig *r = *state;
    for (int k = 0; k < K; k++) {
        r->api.graph_destroy(r->graphs[k]);
        r->api.graph_destroy(r->prepare[k]);
    }
    r->api.ctx_destroy(r->context);
    cuda_api_close(&r->api);
    free(r);
    return 0;
}

static ce_timing_job job_of(rig *r, uint32_t samples)
{
    r->ask = (ce_timing_ask){
        .size = sizeof(ce_timing_ask), .samples = samples, .keep = -1, .deadline_ms = 10000};
    return (ce_timing_job){.size = sizeof(ce_timing_job),
                           .slots = K,
                           .graphs = (void *const *)r->graphs,
                           .prepare = (void *const *)r->prepare,
                           .stream = r->stream,
                           .l2_bytes = 4096,
                           .warmup_ms = 1,
                           .deadline_ms = 10000};
}

static ce_timing_out out_of(rig *r)
{
    return (ce_timing_out){.size = sizeof(ce_timing_out), .samples = r->samples};
}

static bool is_kernel(const mock_trace *t, const char *name)
{
    return t->kind == MOCK_KERNEL && strcmp(t->kernel, name) == 0;
}

/* nth_spin: number 0 is the unblocked touch, 1 the floor measurement, from 2 on come the blocks. */
static size_t nth_spin(const mock_trace *t, size_t count, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (is_kernel(&t[i], "ce_spin") && n-- == 0)
            return i;
    return count;
}

static void a_call_is_poison_flush_event_graph_event(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 120);
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    const mock_trace *t = r->mock.trace(&count);
    size_t at = nth_spin(t, count, 2);
    size_t calls = 0;
    for (uint64_t slot = (uint64_t)out.warmup_calls; at < count; slot++) {
        at += is_kernel(&t[at], "ce_spin");
        assert_ptr_equal(t[at].graph, r->prepare[slot % K]);
        assert_true(is_kernel(&t[at + 1], "ce_flush"));
        assert_int_equal(t[at + 2].kind, MOCK_EVENT);
        assert_ptr_equal(t[at + 3].graph, r->graphs[slot % K]);
        assert_int_equal(t[at + 4].kind, MOCK_EVENT);
        at += 5;
        calls++;
    }
    assert_int_equal(calls, 120);
    assert_int_equal(out.sample_count, 120);
}

static void a_warm_call_follows_the_same_call(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 30);
    ce_timing_out out = out_of(r);
    r->ask.warm = 1;
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    const mock_trace *t = r->mock.trace(&count);
    size_t at = nth_spin(t, count, 2);
    size_t since = 0;
    for (uint64_t slot = (uint64_t)out.warmup_calls; at < count; slot++) {
        since = is_kernel(&t[at], "ce_spin") ? 1 : since;
        at += is_kernel(&t[at], "ce_spin");
        assert_ptr_equal(t[at].graph, r->graphs[slot % K]); /* nobody times it */
        assert_ptr_equal(t[at + 1].graph, r->prepare[slot % K]);
        assert_int_equal(t[at + 2].kind, MOCK_EVENT);
        assert_ptr_equal(t[at + 3].graph, r->graphs[slot % K]);
        assert_int_equal(t[at + 4].kind, MOCK_EVENT);
        at += 5;
        assert_true((since += 5) <= CE_TIMING_OPS_MAX);
    }
    assert_int_equal(out.sample_count, 30);
}

static void a_chain_cannot_be_warm(void **state)
{
    rig *r = *state;
    ce_timing_job job = job_of(r, 2);
    ce_timing_out out = out_of(r);
    job.chained = 1;
    r->ask.warm = 1;
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
}

static void no_release_holds_more_than_256_operations(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 300);
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    const mock_trace *t = r->mock.trace(&count);
    size_t since = 0;
    for (size_t i = nth_spin(t, count, 1); i < count; i++) {
        since = is_kernel(&t[i], "ce_spin") ? 1 : since + 1;
        assert_true(since <= CE_TIMING_OPS_MAX);
    }
    assert_int_equal(out.blocks, 6); /* 51 calls of 5 operations fit */
    assert_int_equal(out.voided, 0);
}

static void samples_and_floor_are_times(void **state)
{
    rig *r = *state;
    ce_timing_job job = job_of(r, 1000);
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    assert_int_equal(out.code, CE_TIMING_OK);
    assert_true(out.warmup_calls >= 2 * K + 3);
    assert_true(out.event_floor_ms > 0 && out.event_floor_ms < 10);
    for (int i = 0; i < 1000; i++)
        assert_true(r->samples[i] > 0 && r->samples[i] < 1000);
}

static void without_poison_a_block_uses_each_slot_once(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 23);
    job.prepare = NULL;
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    assert_int_equal(out.blocks, 5); /* 5 + 5 + 5 + 5 + 3 */
    const mock_trace *t = r->mock.trace(&count);
    size_t fills = 0;
    for (size_t i = 0; i < count; i++)
        fills += t[i].kind == MOCK_FILL;
    assert_int_equal(fills, 1); /* the flush buffer, cleared once */
}

static void a_dummy_is_written_in_place_of_poison(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 40);
    job.prepare = NULL;
    job.dummy_bytes = 512;
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    assert_int_equal(out.blocks, 1);
    const mock_trace *t = r->mock.trace(&count);
    size_t at = nth_spin(t, count, 2);
    assert_int_equal(t[at + 1].kind, MOCK_FILL);
    assert_true(is_kernel(&t[at + 2], "ce_flush"));
}

static int32_t note_slot(void *arg, uint32_t slot)
{
    rig *r = arg;
    for (int i = 0; i < ELEMENTS; i++) /* the result is there, not the poison */
        assert_true(r->memory[slot][2][i] == r->memory[slot][0][i] + r->memory[slot][1][i]);
    r->kept[r->kept_count++] = slot;
    return 0;
}

static void a_chain_is_poison_of_all_flush_and_one_graph_of_all(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 30);
    job.chained = 1;
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    const mock_trace *t = r->mock.trace(&count);
    size_t at = nth_spin(t, count, 2);
    size_t samples = 0;
    for (; at < count; at += 3, samples++) {
        at += is_kernel(&t[at], "ce_spin");
        assert_int_equal(t[at].kind, MOCK_GRAPH);
        assert_true(is_kernel(&t[at + 1], "ce_flush"));
        assert_int_equal(t[at + 2].kind, MOCK_GRAPH);
        assert_ptr_not_equal(t[at].graph, t[at + 2].graph);
    }
    assert_int_equal(samples, 30);
    double sum = 0;
    for (int i = 0; i < 30; i++) {
        assert_true(r->samples[i] > 0);
        sum += r->samples[i] * K; /* a value is the time of one call */
    }
    assert_true(sum > out.event_ms * 0.999 && sum < out.event_ms * 1.001);
    assert_true(out.event_ms <= out.host_ms * 1.01);
}

static void a_kept_sample_is_seen_before_its_slot_is_poisoned(void **state)
{
    rig *r = *state;
    ce_timing_job job = job_of(r, 20);
    ce_timing_out out = out_of(r);
    job.keep = note_slot;
    job.keep_arg = r;
    for (int i = 0; i < K; i++)
        for (int k = 0; k < ELEMENTS; k++)
            r->memory[i][0][k] = (float)(k + 100 * i);
    r->ask.keep = 6;
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    assert_int_equal(r->kept_count, 1);
    assert_int_equal(r->kept[0], (out.warmup_calls + 6) % K);
    assert_int_equal(out.blocks, 2); /* the release ends with the kept sample */
    job.chained = 1;
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    assert_int_equal(r->kept_count, 1 + K);
    for (uint32_t k = 0; k < K; k++)
        assert_int_equal(r->kept[1 + k], k);
}

static void a_session_gives_block_after_block(void **state)
{
    rig *r = *state;
    size_t count = 0;
    ce_timing_job job = job_of(r, 20);
    ce_timing_out out = out_of(r);
    job.settle = 1;
    job.warmup_cap_ms = 50;
    ce_timing *session = ce_timing_open(&job, &out);
    assert_non_null(session);
    double event_floor = out.event_floor_ms;
    assert_true(event_floor > 0 && out.warmup_calls >= 2 * K + 3);
    r->mock.trace_clear();
    r->ask.untimed = 3;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ce_timing_block(session, &r->ask, &out), 0);
        assert_int_equal(out.sample_count, 20);
        assert_true(out.event_floor_ms == event_floor);
    }
    const mock_trace *t = r->mock.trace(&count);
    size_t events = 0, flushes = 0;
    for (size_t i = 0; i < count; i++) {
        events += t[i].kind == MOCK_EVENT;
        flushes += is_kernel(&t[i], "ce_flush");
    }
    assert_int_equal(events, 3 * 2 * 20);
    assert_int_equal(flushes, 3 * 23);
    ce_timing_close(&session);
    assert_null(session);
    ce_timing_close(&session);
}

/* capture_large: poison, so many times over that it is a graph of thousands of nodes; then the sum. */
static CUgraph capture_large(rig *r, int k, int nodes)
{
    CUgraph graph = NULL;
    CUgraph add = r->graphs[k];
    assert_int_equal(r->api.capture_begin(r->stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    for (int i = 0; i < nodes; i++)
        assert_int_equal(r->api.memset32((CUdeviceptr)(uintptr_t)r->memory[k][2], 0, 1, r->stream),
                         0);
    assert_int_equal(r->api.capture_end(r->stream, &graph), 0);
    r->graphs[k] = graph;
    return add;
}

static void give_back(rig *r, CUgraph kept[K])
{
    for (int k = 0; k < K; k++) {
        r->api.graph_destroy(r->graphs[k]);
        r->graphs[k] = kept[k];
    }
}

/* Where one graph fills the queue, the spin kernel times out once; from then on the GPU is kept busy by an
 * untimed call while the timed one is queued. */
static void a_graph_that_fills_the_queue_is_timed_behind_an_untimed_call(void **state)
{
    rig *r = *state;
    CUgraph kept[K];
    for (int k = 0; k < K; k++)
        kept[k] = capture_large(r, k, 500);
    size_t count = 0;
    ce_timing_job job = job_of(r, 8);
    ce_timing_out out = out_of(r);
    r->mock.queue_room(400);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    r->mock.queue_room(0);
    assert_int_equal(out.sample_count, 8);
    assert_int_equal(out.voided, 1);
    assert_int_equal(out.blocks, 8);
    assert_int_equal(out.suspect, 0);
    const mock_trace *t = r->mock.trace(&count);
    for (size_t i = 3; i < 11; i++) { /* after touch, floor and the void one */
        const size_t at = nth_spin(t, count, i);
        assert_true(is_kernel(&t[at + 2], "ce_flush") && is_kernel(&t[at + 5], "ce_flush"));
        assert_int_equal(t[at + 3].kind, MOCK_GRAPH);
        assert_int_equal(t[at + 6].kind, MOCK_EVENT);
        assert_int_equal(t[at + 7].kind, MOCK_GRAPH);
        assert_int_equal(t[at + 8].kind, MOCK_EVENT);
    }
    give_back(r, kept);
}

static void a_chain_of_too_many_nodes_is_a_row_of_graphs(void **state)
{
    rig *r = *state;
    CUgraph kept[K];
    for (int k = 0; k < K; k++)
        kept[k] = capture_large(r, k, 14000);
    size_t count = 0;
    ce_timing_job job = job_of(r, 2);
    job.chained = 1;
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), 0);
    const mock_trace *t = r->mock.trace(&count);
    size_t at = nth_spin(t, count, 2) + 1;
    assert_int_equal(t[at].kind, MOCK_GRAPH); /* the poison of all */
    assert_true(is_kernel(&t[at + 1], "ce_flush"));
    assert_int_equal(t[at + 2].kind, MOCK_EVENT);
    for (int k = 0; k < K; k++)
        assert_ptr_equal(t[at + 3 + (size_t)k].graph, r->graphs[k]);
    assert_int_equal(t[at + 3 + K].kind, MOCK_EVENT);
    assert_true(r->samples[0] > 0 && r->samples[1] > 0);
    give_back(r, kept);
}

static void slots_that_share_memory_are_refused(void **state)
{
    rig *r = *state;
    ce_timing_job job = job_of(r, 10);
    ce_timing_out out = out_of(r);
    CUgraph graphs[K];
    memcpy(graphs, r->graphs, sizeof graphs);
    graphs[3] = graphs[1];
    job.graphs = (void *const *)graphs;
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    assert_non_null(strstr(out.text, "slots 1 and 3"));
}

static void a_malformed_job_is_refused(void **state)
{
    rig *r = *state;
    ce_timing_out out = out_of(r);
    ce_timing_job job = job_of(r, 10);
    job.size--;
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    assert_non_null(strstr(out.text, "sizes differ"));
    job = job_of(r, 0);
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    job = job_of(r, 10);
    r->ask.size++;
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    job = job_of(r, 10);
    job.slots = CE_TIMING_SLOTS_MAX + 1;
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    job = job_of(r, 10);
    job.graphs = NULL;
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    assert_int_equal(out.sample_count, 0);
}

static void without_a_context_there_is_no_timing(void **state)
{
    rig *r = *state;
    r->api.ctx_destroy(r->context);
    ce_timing_job job = job_of(r, 10);
    ce_timing_out out = out_of(r);
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_UNAVAILABLE);
    assert_int_equal(r->api.ctx_create(&r->context, 0, 0), 0);
}

typedef struct refusal {
    const char *function;
    int result, code;
} refusal;

static const refusal refusals[] = {
    {"cuModuleLoadData", CUDA_ERROR_INVALID_PTX, CE_TIMING_CUDA},
    {"cuModuleGetFunction", CUDA_ERROR_NOT_FOUND, CE_TIMING_CUDA},
    {"cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY, CE_TIMING_MEMORY},
    {"cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY, CE_TIMING_MEMORY},
    {"cuEventCreate", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA},
    {"cuGraphInstantiateWithFlags", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA},
    {"cuLaunchKernel", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA},
    {"cuGraphLaunch", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA},
    {"cuEventRecord", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA}, /* with the stream blocked */
    {"cuEventElapsedTime", CUDA_ERROR_NOT_READY, CE_TIMING_CUDA},
};

/* With a chain. */
static const refusal chain_refusals[] = {
    {"cuGraphCreate", CUDA_ERROR_OUT_OF_MEMORY, CE_TIMING_MEMORY},
    {"cuGraphAddChildGraphNode", CUDA_ERROR_NOT_SUPPORTED, CE_TIMING_CUDA},
    {"cuGraphAddEventRecordNode", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA},
    {"cuGraphExecEventRecordNodeSetEvent", CUDA_ERROR_INVALID_VALUE, CE_TIMING_CUDA},
};

static void refuse_each(rig *r, const refusal *rows, size_t count, uint32_t chained)
{
    for (size_t i = 0; i < count; i++) {
        ce_timing_job job = job_of(r, 10);
        ce_timing_out out = out_of(r);
        int64_t start = clock_mono_ms();
        job.chained = chained;
        r->mock.refuse(rows[i].function, rows[i].result);
        assert_int_equal(run_once(&job, &r->ask, &out), -1);
        assert_int_equal(out.code, rows[i].code);
        assert_int_equal(out.native, rows[i].result);
        assert_true(*out.text != '\0');
        assert_true(clock_mono_ms() - start <
                    1500); /* the spin kernel was released, not timed out */
        out = out_of(r);
        if (run_once(&job, &r->ask, &out) != 0)
            fail_msg("after %s: %s", rows[i].function, out.text);
    }
}

static void every_refused_call_ends_the_run_with_its_number(void **state)
{
    rig *r = *state;
    refuse_each(r, refusals, sizeof refusals / sizeof *refusals, 0);
    refuse_each(r, chain_refusals, sizeof chain_refusals / sizeof *chain_refusals, 1);
}

/* Last: the mock's queue never becomes idle again. */
static void a_graph_that_never_ends_meets_the_deadline(void **state)
{
    rig *r = *state;
    CUmodule module = NULL;
    CUfunction hang = NULL;
    CUgraph graph = NULL;
    uint64_t zero = 0;
    void *args[] = {&zero, &zero, &zero, &zero};
    r->api.module_load(&module, "MOCK");
    r->api.module_function(&hang, module, "never_ends");
    r->api.capture_begin(r->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    r->api.launch(hang, 1, 1, 1, 1, 1, 1, 0, r->stream, args, NULL);
    assert_int_equal(r->api.capture_end(r->stream, &graph), 0);
    ce_timing_job job = job_of(r, 10);
    void *const one[] = {graph};
    job.graphs = one;
    job.prepare = NULL;
    job.slots = 1;
    job.deadline_ms = 200;
    ce_timing_out out = out_of(r);
    int64_t start = clock_mono_ms();
    assert_int_equal(run_once(&job, &r->ask, &out), -1);
    assert_int_equal(out.code, CE_TIMING_TIMEOUT);
    assert_true(clock_mono_ms() - start >= 200);
    assert_true(clock_mono_ms() - start < 5000);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_follow_the_rule),
        cmocka_unit_test_setup_teardown(a_call_is_poison_flush_event_graph_event, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_warm_call_follows_the_same_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chain_cannot_be_warm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_release_holds_more_than_256_operations, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(samples_and_floor_are_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_poison_a_block_uses_each_slot_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_dummy_is_written_in_place_of_poison, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chain_is_poison_of_all_flush_and_one_graph_of_all, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_kept_sample_is_seen_before_its_slot_is_poisoned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_session_gives_block_after_block, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_graph_that_fills_the_queue_is_timed_behind_an_untimed_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chain_of_too_many_nodes_is_a_row_of_graphs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(slots_that_share_memory_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_malformed_job_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_context_there_is_no_timing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_refused_call_ends_the_run_with_its_number, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_graph_that_never_ends_meets_the_deadline, set_up, NULL),
    };
    return cmocka_run_group_tests_name("ce_timing", tests, NULL, NULL);
}
