/* ce_timing - see ce_timing.h.
 *
 * A run goes: open the driver, load two small kernels, instantiate the graphs, launch everything once
 * unblocked (with lazy loading a first launch may wait for the device, which would deadlock behind the
 * spin kernel), warm up, measure the event floor, then blocks until there are enough samples.
 *
 * A block: the spin kernel waits for flag >= ticket, the host queues calls behind it, stores the ticket
 * and waits once. Should the queue fill up before the release, the host blocks, the spin kernel gives
 * up after its own time-out and marks the block void; the next one is half as long.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/ce_timing.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent-node/runner/timing/cuda_api.h"
#include "agent-node/runner/timing/kernels_ptx.h"

enum {
    PAIRS_MAX = 100, /* event pairs of one block; the floor measurement needs 100 */
    FLUSH_THREADS = 256,
    FLUSH_BLOCKS_PER_SM = 8,
    VOIDS_MAX = 12,
    WARMUP_MS = 200,
    WARMUP_CAP_MS = 3000,
    DEADLINE_MS = 60000
};

static const uint64_t spin_limit_ns = 2000000000ull;

typedef struct timing_run {
    const ce_timing_job *job;
    ce_timing_out *out;
    cuda_api api;
    CUstream stream;
    CUmodule module;
    CUfunction spin, flush;
    CUgraphExec graphs[CE_TIMING_SLOTS_MAX];
    CUgraphExec prepare[CE_TIMING_SLOTS_MAX];
    CUevent begin[PAIRS_MAX], end[PAIRS_MAX];
    uint32_t *flag;       /* pinned: [0] released ticket, [1] ticket that timed out, [2] sink */
    CUdeviceptr flag_at;  /* its device address */
    CUdeviceptr clean;    /* read between calls; all zero */
    uint64_t clean_bytes; /* a multiple of 16 */
    CUdeviceptr dummy;    /* written between calls when the job has no prepare graphs */
    unsigned int flush_blocks;
    uint32_t ticket;
    uint32_t per_block; /* calls of the next block at most */
    uint64_t calls;     /* made so far: the next one uses slot calls % K */
    int64_t deadline;   /* µs, monotonic */
} timing_run;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((format(printf, 3, 4))) static int fail(timing_run *r, int code, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->out->text, sizeof r->out->text, format, args);
    va_end(args);
    r->out->code = code;
    return -1;
}

/* check turns a CUresult into 0 or a failure that names what was tried. */
static int check(timing_run *r, CUresult code, const char *what)
{
    if (code == CUDA_SUCCESS)
        return 0;
    char text[160];
    cuda_api_explain(&r->api, code, text, sizeof text);
    r->out->native = (int32_t)code;
    return fail(r, code == CUDA_ERROR_OUT_OF_MEMORY ? CE_TIMING_MEMORY : CE_TIMING_CUDA, "%s: %s",
                what, text);
}

/* ---- set-up ---- */

static int check_job(timing_run *r)
{
    const ce_timing_job *j = r->job;
    if (j->size != sizeof *j || r->out->size != sizeof *r->out)
        return fail(r, CE_TIMING_ARGUMENT,
                    "struct sizes differ: job %u, out %u; this library has %zu and %zu",
                    (unsigned)j->size, (unsigned)r->out->size, sizeof *j, sizeof *r->out);
    if (j->slots == 0 || j->slots > CE_TIMING_SLOTS_MAX)
        return fail(r, CE_TIMING_ARGUMENT, "slots is %u, not 1 to %d", (unsigned)j->slots,
                    CE_TIMING_SLOTS_MAX);
    if (j->samples == 0 || j->samples > CE_TIMING_SAMPLES_MAX)
        return fail(r, CE_TIMING_ARGUMENT, "samples is %u, not 1 to %d", (unsigned)j->samples,
                    CE_TIMING_SAMPLES_MAX);
    if (j->graphs == NULL || r->out->samples == NULL)
        return fail(r, CE_TIMING_ARGUMENT, "graphs or samples is NULL");
    return 0;
}

static int open_driver(timing_run *r, CUdevice *device)
{
    char why[160];
    if (!cuda_api_open(&r->api, why, sizeof why))
        return fail(r, CE_TIMING_UNAVAILABLE, "%s", why);
    CUresult code = r->api.ctx_device(device);
    if (code == CUDA_ERROR_INVALID_CONTEXT || code == CUDA_ERROR_NOT_INITIALIZED)
        return fail(r, CE_TIMING_UNAVAILABLE, "the calling thread has no CUDA context");
    return check(r, code, "current device");
}

static int load_kernels(timing_run *r)
{
    static const char image[] = TIMING_PTX;
    if (check(r, r->api.module_load(&r->module, image), "load the timing kernels") < 0 ||
        check(r, r->api.module_function(&r->spin, r->module, "ce_spin"), "find ce_spin") < 0)
        return -1;
    return check(r, r->api.module_function(&r->flush, r->module, "ce_flush"), "find ce_flush");
}

static int attribute(timing_run *r, CUdevice device, CUdevice_attribute name, int *out)
{
    return check(r, r->api.device_attribute(out, name, device), "device attribute");
}

static int allocate(timing_run *r, CUdevice device)
{
    int l2 = 0;
    int sms = 0;
    if (attribute(r, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2) < 0 ||
        attribute(r, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms) < 0)
        return -1;
    uint64_t bytes = 2 * (r->job->l2_bytes != 0 ? r->job->l2_bytes : (uint64_t)l2);
    r->clean_bytes = (bytes < 16 ? 16 : bytes) / 16 * 16;
    r->flush_blocks = (unsigned)sms * FLUSH_BLOCKS_PER_SM;
    void *host = NULL;
    if (check(r, r->api.host_alloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP), "pinned flag") < 0)
        return -1;
    r->flag = host;
    memset(r->flag, 0, 64);
    if (check(r, r->api.host_device_pointer(&r->flag_at, host, 0), "address of the flag") < 0 ||
        check(r, r->api.mem_alloc(&r->clean, r->clean_bytes), "flush buffer") < 0 ||
        check(r, r->api.memset8(r->clean, 0, r->clean_bytes, r->stream), "clear it") < 0)
        return -1;
    if (r->job->prepare != NULL || r->job->dummy_bytes == 0)
        return 0;
    return check(r, r->api.mem_alloc(&r->dummy, r->job->dummy_bytes), "dummy buffer");
}

static int make_events(timing_run *r)
{
    for (int i = 0; i < PAIRS_MAX; i++)
        if (check(r, r->api.event_create(&r->begin[i], CU_EVENT_DEFAULT), "event") < 0 ||
            check(r, r->api.event_create(&r->end[i], CU_EVENT_DEFAULT), "event") < 0)
            return -1;
    return 0;
}

/* instantiate also counts the graph's nodes into *most, the largest so far. */
static int instantiate(timing_run *r, void *graph, CUgraphExec *out, size_t *most)
{
    size_t nodes = 0;
    if (check(r, r->api.graph_nodes(graph, NULL, &nodes), "count graph nodes") < 0 ||
        check(r, r->api.graph_instantiate(out, graph, 0), "instantiate a graph") < 0 ||
        check(r, r->api.graph_upload(*out, r->stream), "upload a graph") < 0)
        return -1;
    if (nodes > *most)
        *most = nodes;
    return 0;
}

/* instantiate_all also decides how many calls fit into a block. */
static int instantiate_all(timing_run *r)
{
    const ce_timing_job *j = r->job;
    size_t call = 1;
    size_t before = 1;
    for (uint32_t k = 0; k < j->slots; k++)
        if (instantiate(r, j->graphs[k], &r->graphs[k], &call) < 0 ||
            (j->prepare != NULL && instantiate(r, j->prepare[k], &r->prepare[k], &before) < 0))
            return -1;
    size_t fit = (CE_TIMING_OPS_MAX - 1) / (3 + call + before); /* 3: flush and two events */
    r->per_block = fit < 1 ? 1 : (uint32_t)fit;
    if (j->prepare == NULL && j->dummy_bytes == 0 && r->per_block > j->slots)
        r->per_block = j->slots;
    return 0;
}

/* ---- queueing ---- */

static int launch_spin(timing_run *r, uint32_t ticket)
{
    uint64_t limit = spin_limit_ns;
    void *args[] = {&r->flag_at, &ticket, &limit};
    return check(r, r->api.launch(r->spin, 1, 1, 1, 1, 1, 1, 0, r->stream, args, NULL),
                 "launch the spin kernel");
}

static int launch_flush(timing_run *r)
{
    uint64_t vectors = r->clean_bytes / 16;
    CUdeviceptr sink = r->flag_at + 8;
    void *args[] = {&r->clean, &vectors, &sink};
    return check(r,
                 r->api.launch(r->flush, r->flush_blocks, 1, 1, FLUSH_THREADS, 1, 1, 0, r->stream,
                               args, NULL),
                 "launch the flush kernel");
}

static int poison(timing_run *r, uint32_t slot)
{
    if (r->job->prepare != NULL)
        return check(r, r->api.graph_launch(r->prepare[slot], r->stream), "launch a prepare graph");
    if (r->dummy == 0)
        return 0;
    return check(r, r->api.memset8(r->dummy, 0xA5, r->job->dummy_bytes, r->stream), "dummy write");
}

/* queue_call queues one call on the next slot; pair < 0: no events. */
static int queue_call(timing_run *r, int pair)
{
    uint32_t slot = (uint32_t)(r->calls % r->job->slots);
    if (poison(r, slot) < 0 || launch_flush(r) < 0)
        return -1;
    if (pair >= 0 && check(r, r->api.event_record(r->begin[pair], r->stream), "event") < 0)
        return -1;
    if (check(r, r->api.graph_launch(r->graphs[slot], r->stream), "launch a graph") < 0)
        return -1;
    r->calls++;
    return pair < 0 ? 0 : check(r, r->api.event_record(r->end[pair], r->stream), "event");
}

/* wait_idle polls, so that a kernel that never ends cannot hold us. */
static int wait_idle(timing_run *r)
{
    const struct timespec nap = {0, 20000};
    for (;;) {
        CUresult code = r->api.stream_query(r->stream);
        if (code != CUDA_ERROR_NOT_READY)
            return check(r, code, "wait for the GPU");
        if (now_us() > r->deadline)
            return fail(r, CE_TIMING_TIMEOUT, "the GPU did not finish before the deadline");
        nanosleep(&nap, NULL);
    }
}

/* drain waits for what was queued before a failure, at most a little longer than a spin kernel lives, so
 * that nothing is freed under it. The failure stays what it was. */
static void drain(timing_run *r)
{
    const struct timespec nap = {0, 100000};
    int64_t end = now_us() + 2 * (int64_t)(spin_limit_ns / 1000);
    while (r->api.stream_query(r->stream) == CUDA_ERROR_NOT_READY && now_us() < end)
        nanosleep(&nap, NULL);
}

static int block_begin(timing_run *r)
{
    return launch_spin(r, ++r->ticket);
}

/* block_end releases the stream even when queueing failed, and tells whether the block counts. */
static int block_end(timing_run *r, int queued, bool *valid)
{
    __atomic_store_n(&r->flag[0], r->ticket, __ATOMIC_SEQ_CST);
    if (queued < 0) {
        drain(r);
        return -1;
    }
    if (wait_idle(r) < 0)
        return -1;
    *valid = __atomic_load_n(&r->flag[1], __ATOMIC_SEQ_CST) != r->ticket;
    r->out->voided += !*valid;
    return 0;
}

static int elapsed(timing_run *r, int pair, double *ms)
{
    float value = 0;
    if (check(r, r->api.event_elapsed(&value, r->begin[pair], r->end[pair]), "elapsed time") < 0)
        return -1;
    *ms = (double)value;
    return 0;
}

/* ---- phases ---- */

/* touch launches both kernels unblocked: with lazy loading a first launch may synchronise. */
static int touch(timing_run *r)
{
    if (launch_spin(r, 0) < 0 || launch_flush(r) < 0)
        return -1;
    return wait_idle(r);
}

static int warm_up(timing_run *r)
{
    const ce_timing_job *j = r->job;
    uint64_t need = j->warmup_calls != 0 ? j->warmup_calls : 2ull * j->slots + 3;
    int64_t busy = 1000 * (int64_t)(j->warmup_ms != 0 ? j->warmup_ms : WARMUP_MS);
    int64_t cap = 1000 * (int64_t)(j->warmup_cap_ms != 0 ? j->warmup_cap_ms : WARMUP_CAP_MS);
    int64_t start = now_us();
    int64_t spent = 0;
    for (uint32_t batch = 1; (r->calls < need || spent < busy) && spent < cap;) {
        int64_t before = now_us();
        for (uint32_t i = 0; i < batch; i++)
            if (queue_call(r, -1) < 0)
                return -1;
        if (wait_idle(r) < 0)
            return -1;
        int64_t each = (now_us() - before) / batch + 1;
        int64_t fit = 10000 / each; /* batches of about 10 ms */
        batch = fit < 1 ? 1 : fit > j->slots ? j->slots : (uint32_t)fit;
        spent = now_us() - start;
    }
    r->out->warmup_calls = (int64_t)r->calls;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure_floor(timing_run *r)
{
    double ms[PAIRS_MAX];
    int rc = block_begin(r);
    for (int i = 0; rc == 0 && i < PAIRS_MAX; i++) {
        rc = check(r, r->api.event_record(r->begin[i], r->stream), "event");
        if (rc == 0)
            rc = check(r, r->api.event_record(r->end[i], r->stream), "event");
    }
    bool valid = false;
    if (block_end(r, rc, &valid) < 0)
        return -1;
    if (!valid)
        return fail(r, CE_TIMING_VOID, "100 empty event pairs outran the spin kernel");
    for (int i = 0; i < PAIRS_MAX; i++)
        if (elapsed(r, i, &ms[i]) < 0)
            return -1;
    qsort(ms, PAIRS_MAX, sizeof *ms, by_value);
    r->out->event_floor_ms = (ms[PAIRS_MAX / 2 - 1] + ms[PAIRS_MAX / 2]) / 2;
    return 0;
}

static int take_block(timing_run *r, uint32_t count, bool *valid)
{
    int rc = block_begin(r);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = queue_call(r, (int)i);
    if (block_end(r, rc, valid) < 0)
        return -1;
    for (uint32_t i = 0; *valid && i < count; i++)
        if (elapsed(r, (int)i, &r->out->samples[r->out->sample_count + i]) < 0)
            return -1;
    return 0;
}

static int take_samples(timing_run *r)
{
    while (r->out->sample_count < r->job->samples) {
        uint32_t left = r->job->samples - r->out->sample_count;
        uint32_t count = left < r->per_block ? left : r->per_block;
        bool valid = false;
        if (take_block(r, count, &valid) < 0)
            return -1;
        if (valid) {
            r->out->sample_count += count;
            r->out->blocks++;
        } else if (r->out->voided > VOIDS_MAX) {
            return fail(r, CE_TIMING_VOID,
                        "%lld blocks outran the spin kernel: the host cannot queue %u calls in 2 s",
                        (long long)r->out->voided, (unsigned)r->per_block);
        } else if (r->per_block > 1) {
            r->per_block /= 2;
        }
    }
    return 0;
}

static int run_phases(timing_run *r)
{
    CUdevice device = 0;
    if (check_job(r) < 0 || open_driver(r, &device) < 0)
        return -1;
    r->stream = r->job->stream;
    r->deadline =
        now_us() + 1000 * (int64_t)(r->job->deadline_ms != 0 ? r->job->deadline_ms : DEADLINE_MS);
    if (load_kernels(r) < 0 || allocate(r, device) < 0 || make_events(r) < 0 ||
        instantiate_all(r) < 0)
        return -1;
    if (touch(r) < 0 || warm_up(r) < 0 || measure_floor(r) < 0)
        return -1;
    return take_samples(r);
}

/* release gives everything back. After a time-out the stream still runs and every call here would wait
 * for it, so nothing is touched. */
static void release(timing_run *r)
{
    if (r->api.library == NULL || r->out->code == CE_TIMING_TIMEOUT)
        return;
    for (uint32_t k = 0; k < CE_TIMING_SLOTS_MAX; k++) {
        if (r->graphs[k] != NULL)
            r->api.exec_destroy(r->graphs[k]);
        if (r->prepare[k] != NULL)
            r->api.exec_destroy(r->prepare[k]);
    }
    for (int i = 0; i < PAIRS_MAX; i++) {
        if (r->begin[i] != NULL)
            r->api.event_destroy(r->begin[i]);
        if (r->end[i] != NULL)
            r->api.event_destroy(r->end[i]);
    }
    if (r->dummy != 0)
        r->api.mem_free(r->dummy);
    if (r->clean != 0)
        r->api.mem_free(r->clean);
    if (r->flag != NULL)
        r->api.host_free(r->flag);
    if (r->module != NULL)
        r->api.module_unload(r->module);
    cuda_api_close(&r->api);
}

int ce_timing_run(const ce_timing_job *job, ce_timing_out *out)
{
    timing_run *r = calloc(1, sizeof *r);
    double *samples = out->samples;
    uint32_t size = out->size;
    *out = (ce_timing_out){.size = size, .samples = samples};
    if (r == NULL) {
        out->code = CE_TIMING_MEMORY;
        snprintf(out->text, sizeof out->text, "out of host memory");
        return -1;
    }
    r->job = job;
    r->out = out;
    int rc = run_phases(r);
    release(r);
    free(r);
    return rc;
}

uint32_t ce_timing_abi(void)
{
    return CE_TIMING_ABI;
}

uint32_t ce_timing_slots(uint64_t bytes_per_call, uint64_t l2_bytes, double estimate_us,
                         uint64_t memory_bytes)
{
    enum { MOST = 64 };
    uint64_t bytes = bytes_per_call != 0 ? bytes_per_call : 1;
    if (bytes > memory_bytes / 2)
        return 0;
    if (bytes / 8 > l2_bytes || bytes > memory_bytes / 4) /* nothing of it stays in L2 anyhow */
        return 1;
    uint64_t k = 2;
    uint64_t rotate = 2 * l2_bytes / bytes;
    if (rotate <= MOST && rotate + 1 > k)
        k = rotate + 1;
    if (estimate_us > 0) {
        double fill = ceil(50.0 / estimate_us);
        if (fill > (double)k)
            k = fill > MOST ? MOST : (uint64_t)fill;
    }
    if (k > MOST)
        k = MOST;
    uint64_t fit = memory_bytes / 4 / bytes;
    if (k > fit)
        k = fit;
    return (uint32_t)k;
}
