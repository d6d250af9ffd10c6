/* ce_timing - see ce_timing.h.
 *
 * Opening goes: the driver, two small kernels, instantiate the graphs, launch everything once unblocked
 * (with lazy loading a first launch may wait for the device, which would deadlock behind the spin
 * kernel), warm up, measure the event floor. A block is then any number of releases.
 *
 * A release: the spin kernel waits for flag >= ticket, the host queues samples behind it, stores the
 * ticket and waits once. Should the queue fill up before that, the host blocks, the spin kernel gives
 * up after its own time-out and marks the release void; the next one is half as long.
 *
 * A graph of thousands of launches may fill the queue by itself. When even one sample outruns the spin
 * kernel, releases are no longer held: an untimed call in front keeps the GPU busy while the host queues.
 *
 * A chain is built from child graphs between two event nodes; which events those record is set anew
 * before each launch. Calls of so many nodes that their chain would be too large are launched one after
 * another between two events of the stream.
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

#include "agent-node/runner/timing/calm.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "agent-node/runner/timing/distinct.h"
#include "agent-node/runner/timing/kernels_ptx.h"

enum {
    PAIRS_MAX = 100,   /* event pairs of one release; the floor measurement needs 100 */
    SPARE = PAIRS_MAX, /* the pair of an untimed chain */
    SETTLE_SAMPLES = 5,
    FLUSH_THREADS = 256,
    FLUSH_BLOCKS_PER_SM = 8,
    VOIDS_MAX = 12,
    CHAIN_NODES_MAX = 65536,
    WARMUP_MS = 200,
    WARMUP_CAP_MS = 3000,
    DEADLINE_MS = 60000
};

static const double clock_slack = 0.01; /* of the host's clock against the events' */

static const uint64_t spin_limit_ns = 2000000000ull;

/* K calls in one graph. */
typedef struct chain {
    CUgraph graph;
    CUgraphNode first, last; /* event nodes; NULL in the poison chain */
    CUgraphExec exec;
} chain;

struct ce_timing {
    ce_timing_job job;
    ce_timing_out *out; /* of the call under way */
    cuda_api api;
    CUstream stream;
    CUmodule module;
    CUfunction spin, flush;
    CUgraphExec graphs[CE_TIMING_SLOTS_MAX];
    CUgraphExec prepare[CE_TIMING_SLOTS_MAX];
    chain calls_chain, poison_chain; /* G-mode */
    CUevent begin[PAIRS_MAX + 1], end[PAIRS_MAX + 1];
    uint32_t *flag;       /* pinned: [0] released ticket, [1] ticket that timed out, [2] sink */
    CUdeviceptr flag_at;  /* its device address */
    CUdeviceptr clean;    /* read between calls; all zero */
    uint64_t clean_bytes; /* a multiple of 16 */
    CUdeviceptr dummy;    /* written between calls when the job has no prepare graphs */
    unsigned int flush_blocks;
    uint32_t ticket;
    uint32_t per_release; /* samples of the next release at most */
    bool unheld;          /* not even one sample fits behind the spin kernel */
    double released_ms;   /* when the flag was set */
    uint64_t calls;       /* made so far: the next one uses slot calls % K */
    int64_t deadline;     /* µs, monotonic */
    bool warm;            /* the block under way */
    bool stuck;           /* the stream never became idle: leave everything */
};

static double raw_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((format(printf, 3, 4))) static int fail(ce_timing *r, int code, const char *format,
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
static int check(ce_timing *r, CUresult code, const char *what)
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

static int check_job(ce_timing *r)
{
    const ce_timing_job *j = &r->job;
    if (j->size != sizeof *j || r->out->size != sizeof *r->out)
        return fail(r, CE_TIMING_ARGUMENT,
                    "struct sizes differ: job %u, out %u; this library has %zu and %zu",
                    (unsigned)j->size, (unsigned)r->out->size, sizeof *j, sizeof *r->out);
    if (j->slots == 0 || j->slots > CE_TIMING_SLOTS_MAX)
        return fail(r, CE_TIMING_ARGUMENT, "slots is %u, not 1 to %d", (unsigned)j->slots,
                    CE_TIMING_SLOTS_MAX);
    if (j->graphs == NULL)
        return fail(r, CE_TIMING_ARGUMENT, "graphs is NULL");
    return 0;
}

static int open_driver(ce_timing *r, CUdevice *device)
{
    char why[160];
    if (!cuda_api_open(&r->api, why, sizeof why))
        return fail(r, CE_TIMING_UNAVAILABLE, "%s", why);
    CUresult code = r->api.ctx_device(device);
    if (code == CUDA_ERROR_INVALID_CONTEXT || code == CUDA_ERROR_NOT_INITIALIZED)
        return fail(r, CE_TIMING_UNAVAILABLE, "the calling thread has no CUDA context");
    return check(r, code, "current device");
}

static int check_distinct(ce_timing *r)
{
    uint32_t one = 0;
    uint32_t other = 0;
    if (distinct_slots(&r->api, r->job.graphs, r->job.slots, &one, &other))
        return 0;
    return fail(r, CE_TIMING_ARGUMENT, "slots %u and %u hand their kernels the same pointers",
                (unsigned)one, (unsigned)other);
}

static int load_kernels(ce_timing *r)
{
    static const char image[] = TIMING_PTX;
    if (check(r, r->api.module_load(&r->module, image), "load the timing kernels") < 0 ||
        check(r, r->api.module_function(&r->spin, r->module, "ce_spin"), "find ce_spin") < 0)
        return -1;
    return check(r, r->api.module_function(&r->flush, r->module, CE_FLUSH_KERNEL), "find ce_flush");
}

static int attribute(ce_timing *r, CUdevice device, CUdevice_attribute name, int *out)
{
    return check(r, r->api.device_attribute(out, name, device), "device attribute");
}

/* The other side poisons every slot before a chain. */
static uint64_t dummy_bytes(const ce_timing *r)
{
    return r->job.dummy_bytes * (r->job.chained ? r->job.slots : 1);
}

static int allocate(ce_timing *r, CUdevice device)
{
    int l2 = 0;
    int sms = 0;
    if (attribute(r, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2) < 0 ||
        attribute(r, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms) < 0)
        return -1;
    uint64_t bytes = 2 * (r->job.l2_bytes != 0 ? r->job.l2_bytes : (uint64_t)l2);
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
    if (r->job.prepare != NULL || r->job.dummy_bytes == 0)
        return 0;
    return check(r, r->api.mem_alloc(&r->dummy, dummy_bytes(r)), "dummy buffer");
}

static int make_events(ce_timing *r)
{
    for (int i = 0; i <= PAIRS_MAX; i++)
        if (check(r, r->api.event_create(&r->begin[i], CU_EVENT_DEFAULT), "event") < 0 ||
            check(r, r->api.event_create(&r->end[i], CU_EVENT_DEFAULT), "event") < 0)
            return -1;
    return 0;
}

/* instantiate also counts the graph's nodes into *most, the largest so far. */
static int instantiate(ce_timing *r, void *graph, CUgraphExec *out, size_t *most)
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

/* link_chain puts the K graphs one after another, between event nodes when `timed`. */
static int link_chain(ce_timing *r, void *const *graphs, bool timed, chain *out)
{
    CUgraphNode before = NULL;
    if (check(r, r->api.graph_create(&out->graph, 0), "create a chain") < 0)
        return -1;
    if (timed) {
        if (check(r, r->api.graph_add_event(&out->first, out->graph, NULL, 0, r->begin[SPARE]),
                  "first event of the chain") < 0)
            return -1;
        before = out->first;
    }
    for (uint32_t k = 0; k < r->job.slots; k++) {
        CUgraphNode node = NULL;
        if (check(r,
                  r->api.graph_add_child(&node, out->graph, before != NULL ? &before : NULL,
                                         before != NULL, graphs[k]),
                  "add a call to the chain") < 0)
            return -1;
        before = node;
    }
    return !timed
               ? 0
               : check(r, r->api.graph_add_event(&out->last, out->graph, &before, 1, r->end[SPARE]),
                       "last event of the chain");
}

static int make_chain(ce_timing *r, void *const *graphs, bool timed, chain *out)
{
    size_t nodes = 0;
    return link_chain(r, graphs, timed, out) < 0 ? -1
                                                 : instantiate(r, out->graph, &out->exec, &nodes);
}

/* instantiate_all also decides how many samples fit into a release. */
static int instantiate_all(ce_timing *r)
{
    const ce_timing_job *j = &r->job;
    size_t call = 1;
    size_t before = 1;
    for (uint32_t k = 0; k < j->slots; k++)
        if (instantiate(r, j->graphs[k], &r->graphs[k], &call) < 0 ||
            (j->prepare != NULL && instantiate(r, j->prepare[k], &r->prepare[k], &before) < 0))
            return -1;
    if (j->chained &&
        ((call * j->slots <= CHAIN_NODES_MAX &&
          make_chain(r, j->graphs, true, &r->calls_chain) < 0) ||
         (j->prepare != NULL && make_chain(r, j->prepare, false, &r->poison_chain) < 0)))
        return -1;
    size_t times = j->chained ? j->slots : 1;
    size_t fit = (CE_TIMING_OPS_MAX - 1) / (3 + (call + before) * times); /* flush, two events */
    r->per_release = fit < 1 ? 1 : fit > PAIRS_MAX ? PAIRS_MAX : (uint32_t)fit;
    size_t holding = j->chained ? 1 : j->slots;
    if (j->prepare == NULL && j->dummy_bytes == 0 && r->per_release > holding)
        r->per_release = (uint32_t)holding;
    return 0;
}

/* ---- queueing ---- */

static int launch_spin(ce_timing *r, uint32_t ticket)
{
    uint64_t limit = spin_limit_ns;
    void *args[] = {&r->flag_at, &ticket, &limit};
    return check(r, r->api.launch(r->spin, 1, 1, 1, 1, 1, 1, 0, r->stream, args, NULL),
                 "launch the spin kernel");
}

static int launch_flush(ce_timing *r)
{
    uint64_t vectors = r->clean_bytes / 16;
    CUdeviceptr sink = r->flag_at + 8;
    void *args[] = {&r->clean, &vectors, &sink};
    return check(r,
                 r->api.launch(r->flush, r->flush_blocks, 1, 1, FLUSH_THREADS, 1, 1, 0, r->stream,
                               args, NULL),
                 "launch the flush kernel");
}

static int poison(ce_timing *r, CUgraphExec prepare)
{
    if (prepare != NULL)
        return check(r, r->api.graph_launch(prepare, r->stream), "launch a prepare graph");
    if (r->dummy == 0)
        return 0;
    return check(r, r->api.memset8(r->dummy, 0xA5, dummy_bytes(r), r->stream), "dummy write");
}

/* queue_call queues one call on the next slot; pair < 0: no events. */
static int queue_call(ce_timing *r, int pair)
{
    uint32_t slot = (uint32_t)(r->calls % r->job.slots);
    if (r->warm &&
        check(r, r->api.graph_launch(r->graphs[slot], r->stream), "launch a graph ahead") < 0)
        return -1;
    if (poison(r, r->prepare[slot]) < 0 || (!r->warm && launch_flush(r) < 0))
        return -1;
    if (pair >= 0 && check(r, r->api.event_record(r->begin[pair], r->stream), "event") < 0)
        return -1;
    if (check(r, r->api.graph_launch(r->graphs[slot], r->stream), "launch a graph") < 0)
        return -1;
    r->calls++;
    return pair < 0 ? 0 : check(r, r->api.event_record(r->end[pair], r->stream), "event");
}

/* queue_row: for calls of thousands of nodes, beside which the gaps between graphs are nothing. */
static int queue_row(ce_timing *r, int events)
{
    if (check(r, r->api.event_record(r->begin[events], r->stream), "event") < 0)
        return -1;
    for (uint32_t k = 0; k < r->job.slots; k++)
        if (check(r, r->api.graph_launch(r->graphs[k], r->stream), "launch a graph") < 0)
            return -1;
    r->calls += r->job.slots;
    return check(r, r->api.event_record(r->end[events], r->stream), "event");
}

/* queue_chain queues a call on every slot; the events of the spare pair are nobody's. */
static int queue_chain(ce_timing *r, int pair)
{
    const chain *c = &r->calls_chain;
    int events = pair < 0 ? SPARE : pair;
    if (poison(r, r->poison_chain.exec) < 0 || launch_flush(r) < 0)
        return -1;
    if (c->exec == NULL)
        return queue_row(r, events);
    if (check(r, r->api.exec_set_event(c->exec, c->first, r->begin[events]), "chain event") < 0 ||
        check(r, r->api.exec_set_event(c->exec, c->last, r->end[events]), "chain event") < 0)
        return -1;
    if (check(r, r->api.graph_launch(c->exec, r->stream), "launch a chain") < 0)
        return -1;
    r->calls += r->job.slots;
    return 0;
}

static int queue_sample(ce_timing *r, int pair)
{
    return r->job.chained ? queue_chain(r, pair) : queue_call(r, pair);
}

/* wait_idle polls, so that a kernel that never ends cannot hold us. */
static int wait_idle(ce_timing *r)
{
    const struct timespec nap = {0, 20000};
    for (;;) {
        CUresult code = r->api.stream_query(r->stream);
        if (code != CUDA_ERROR_NOT_READY)
            return check(r, code, "wait for the GPU");
        if (now_us() > r->deadline) {
            r->stuck = true;
            return fail(r, CE_TIMING_TIMEOUT, "the GPU did not finish before the deadline");
        }
        nanosleep(&nap, NULL);
    }
}

/* drain waits for what was queued before a failure, at most a little longer than a spin kernel lives, so
 * that nothing is freed under it. The failure stays what it was. */
static void drain(ce_timing *r)
{
    const struct timespec nap = {0, 100000};
    int64_t end = now_us() + 2 * (int64_t)(spin_limit_ns / 1000);
    while (r->api.stream_query(r->stream) == CUDA_ERROR_NOT_READY && now_us() < end)
        nanosleep(&nap, NULL);
}

/* What came of one release. */
typedef struct release {
    bool valid;
    double host_ms; /* from the flag to the end */
} release;

static void release_flag(ce_timing *r)
{
    r->released_ms = raw_ms();
    __atomic_store_n(&r->flag[0], r->ticket, __ATOMIC_SEQ_CST);
}

static int release_begin(ce_timing *r)
{
    r->ticket++;
    if (r->unheld)
        release_flag(r);
    return launch_spin(r, r->ticket);
}

/* release_end lets the stream run even when queueing failed, and tells whether the release counts. */
static int release_end(ce_timing *r, int queued, release *what)
{
    if (!r->unheld)
        release_flag(r);
    if (queued < 0) {
        drain(r);
        return -1;
    }
    if (wait_idle(r) < 0)
        return -1;
    what->host_ms = raw_ms() - r->released_ms;
    what->valid = __atomic_load_n(&r->flag[1], __ATOMIC_SEQ_CST) != r->ticket;
    r->out->voided += !what->valid;
    return 0;
}

static int elapsed(ce_timing *r, int pair, double *ms)
{
    float value = 0;
    if (check(r, r->api.event_elapsed(&value, r->begin[pair], r->end[pair]), "elapsed time") < 0)
        return -1;
    *ms = (double)value;
    return 0;
}

/* ---- phases ---- */

/* touch launches both kernels unblocked: with lazy loading a first launch may synchronise. */
static int touch(ce_timing *r)
{
    if (launch_spin(r, 0) < 0 || launch_flush(r) < 0)
        return -1;
    return wait_idle(r);
}

/* timed_release takes `count` samples in one go, after `untimed` that nobody times. */
static int timed_release(ce_timing *r, uint32_t count, uint32_t untimed, double *ms, release *what)
{
    int rc = release_begin(r);
    if (r->unheld && untimed == 0)
        untimed = 1; /* what the GPU does while the host queues */
    for (uint32_t i = 0; rc == 0 && i < untimed; i++)
        rc = queue_sample(r, -1);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = queue_sample(r, (int)i);
    if (release_end(r, rc, what) < 0)
        return -1;
    for (uint32_t i = 0; what->valid && i < count; i++)
        if (elapsed(r, (int)i, &ms[i]) < 0)
            return -1;
    return 0;
}

/* work_through makes calls for at least so many and so long, but no longer than the cap. */
static int work_through(ce_timing *r, int64_t cap)
{
    const ce_timing_job *j = &r->job;
    uint64_t need = j->warmup_calls != 0 ? j->warmup_calls : 2ull * j->slots + 3;
    int64_t busy = 1000 * (int64_t)(j->warmup_ms != 0 ? j->warmup_ms : WARMUP_MS);
    int64_t start = now_us();
    int64_t spent = 0;
    for (uint32_t batch = 1; (r->calls < need || spent < busy) && spent < cap;) {
        int64_t before = now_us();
        for (uint32_t i = 0; i < batch; i++)
            if (queue_sample(r, -1) < 0)
                return -1;
        if (wait_idle(r) < 0)
            return -1;
        int64_t each = (now_us() - before) / batch + 1;
        int64_t fit = 10000 / each; /* batches of about 10 ms */
        batch = fit < 1 ? 1 : fit > j->slots ? j->slots : (uint32_t)fit;
        spent = now_us() - start;
    }
    return 0;
}

/* shorten makes the next release fit after one that did not. */
static void shorten(ce_timing *r)
{
    if (r->per_release > 1)
        r->per_release /= 2;
    else
        r->unheld = true;
}

/* few_samples takes SETTLE_SAMPLES, in as many releases as that needs; void ones shorten the next. */
static int few_samples(ce_timing *r, int64_t until, double *ms)
{
    uint32_t count = 0;
    while (count < SETTLE_SAMPLES && now_us() < until) {
        uint32_t left = SETTLE_SAMPLES - count;
        release what = {0};
        if (timed_release(r, left < r->per_release ? left : r->per_release, 0, ms + count, &what) <
            0)
            return -1;
        if (what.valid)
            count += left < r->per_release ? left : r->per_release;
        else
            shorten(r);
    }
    return count == SETTLE_SAMPLES ? 0 : 1;
}

/* settle goes on with timed samples until their medians are calm. */
static int settle(ce_timing *r, int64_t until)
{
    double medians[CALM_MEDIANS];
    for (int count = 0; now_us() < until && !calm_reached(medians, count); count++) {
        double ms[SETTLE_SAMPLES];
        int rc = few_samples(r, until, ms);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
        medians[count % CALM_MEDIANS] = calm_middle(ms, SETTLE_SAMPLES);
    }
    return 0;
}

static int warm_up(ce_timing *r)
{
    const ce_timing_job *j = &r->job;
    int64_t cap = 1000 * (int64_t)(j->warmup_cap_ms != 0 ? j->warmup_cap_ms : WARMUP_CAP_MS);
    int64_t start = now_us();
    if (work_through(r, cap) < 0 || (j->settle && settle(r, start + cap) < 0))
        return -1;
    r->out->warmup_calls = (int64_t)r->calls;
    return 0;
}

static int measure_floor(ce_timing *r)
{
    double ms[PAIRS_MAX];
    release what = {0};
    int rc = release_begin(r);
    for (int i = 0; rc == 0 && i < PAIRS_MAX; i++) {
        rc = check(r, r->api.event_record(r->begin[i], r->stream), "event");
        if (rc == 0)
            rc = check(r, r->api.event_record(r->end[i], r->stream), "event");
    }
    if (release_end(r, rc, &what) < 0)
        return -1;
    if (!what.valid)
        return fail(r, CE_TIMING_VOID, "100 empty event pairs outran the spin kernel");
    for (int i = 0; i < PAIRS_MAX; i++)
        if (elapsed(r, i, &ms[i]) < 0)
            return -1;
    r->out->event_floor_ms = calm_middle(ms, PAIRS_MAX);
    return 0;
}

/* ---- a block ---- */

/* count_in books a valid release; the values become those of one call. */
static void count_in(ce_timing *r, uint32_t count, const release *what)
{
    ce_timing_out *out = r->out;
    double *ms = out->samples + out->sample_count;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += ms[i];
        if (r->job.chained)
            ms[i] /= r->job.slots;
    }
    out->host_ms += what->host_ms;
    out->event_ms += sum;
    out->suspect += sum > what->host_ms * (1 + clock_slack);
    out->sample_count += count;
    out->blocks++;
}

/* keep_sample shows the job what the last sample left behind. */
static int keep_sample(ce_timing *r)
{
    const ce_timing_job *j = &r->job;
    uint32_t first = j->chained ? 0 : (uint32_t)((r->calls - 1) % j->slots);
    uint32_t last = j->chained ? j->slots - 1 : first;
    for (uint32_t k = first; k <= last; k++)
        if (j->keep(j->keep_arg, k) != 0)
            return fail(r, CE_TIMING_KEEP, "slot %u could not be kept", (unsigned)k);
    return 0;
}

/* next_release: as many samples as fit, but none after the one to keep. */
static uint32_t next_release(const ce_timing *r, const ce_timing_ask *ask)
{
    uint32_t done = r->out->sample_count;
    uint32_t left = ask->samples - done;
    if (r->job.keep != NULL && ask->keep >= 0 && (uint32_t)ask->keep >= done &&
        (uint32_t)ask->keep < ask->samples)
        left = (uint32_t)ask->keep + 1 - done;
    uint32_t most = r->warm && r->per_release > 1 ? r->per_release / 2 : r->per_release;
    return left < most ? left : most;
}

static bool is_kept(const ce_timing *r, const ce_timing_ask *ask)
{
    return r->job.keep != NULL && ask->keep >= 0 && r->out->sample_count == (uint32_t)ask->keep + 1;
}

static int take_samples(ce_timing *r, const ce_timing_ask *ask)
{
    ce_timing_out *out = r->out;
    uint32_t per_launch = r->job.chained ? r->job.slots : 1;
    uint32_t untimed = (ask->untimed + per_launch - 1) / per_launch;
    while (out->sample_count < ask->samples) {
        uint32_t count = next_release(r, ask);
        release what = {0};
        if (timed_release(r, count, untimed, out->samples + out->sample_count, &what) < 0)
            return -1;
        untimed = 0;
        if (what.valid) {
            count_in(r, count, &what);
            if (is_kept(r, ask) && keep_sample(r) < 0)
                return -1;
        } else if (out->voided > VOIDS_MAX) {
            return fail(r, CE_TIMING_VOID,
                        "%lld releases outran the spin kernel: the host cannot queue %u samples "
                        "in 2 s",
                        (long long)out->voided, (unsigned)r->per_release);
        } else {
            shorten(r);
        }
    }
    return 0;
}

/* ---- life ---- */

static void set_deadline(ce_timing *r, uint32_t ms)
{
    r->deadline = now_us() + 1000 * (int64_t)(ms != 0 ? ms : DEADLINE_MS);
}

static int open_all(ce_timing *r)
{
    CUdevice device = 0;
    if (check_job(r) < 0 || open_driver(r, &device) < 0)
        return -1;
    r->stream = r->job.stream;
    set_deadline(r, r->job.deadline_ms);
    if (check_distinct(r) < 0 || load_kernels(r) < 0 || allocate(r, device) < 0 ||
        make_events(r) < 0 || instantiate_all(r) < 0)
        return -1;
    return touch(r) < 0 || warm_up(r) < 0 ? -1 : measure_floor(r);
}

static void chain_fini(ce_timing *r, chain *c)
{
    if (c->exec != NULL)
        r->api.exec_destroy(c->exec);
    if (c->graph != NULL)
        r->api.graph_destroy(c->graph);
}

static void free_graphs(ce_timing *r)
{
    for (uint32_t k = 0; k < CE_TIMING_SLOTS_MAX; k++) {
        if (r->graphs[k] != NULL)
            r->api.exec_destroy(r->graphs[k]);
        if (r->prepare[k] != NULL)
            r->api.exec_destroy(r->prepare[k]);
    }
    chain_fini(r, &r->calls_chain);
    chain_fini(r, &r->poison_chain);
}

static void free_events(ce_timing *r)
{
    for (int i = 0; i <= PAIRS_MAX; i++) {
        if (r->begin[i] != NULL)
            r->api.event_destroy(r->begin[i]);
        if (r->end[i] != NULL)
            r->api.event_destroy(r->end[i]);
    }
}

/* free_all gives everything back. After a time-out the stream still runs and every call here would wait
 * for it, so nothing is touched. */
static void free_all(ce_timing *r)
{
    if (r->api.library == NULL || r->stuck)
        return;
    drain(r);
    free_graphs(r);
    free_events(r);
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

static void clear_out(ce_timing_out *out)
{
    *out = (ce_timing_out){.size = out->size,
                           .samples = out->samples,
                           .event_floor_ms = out->event_floor_ms,
                           .warmup_calls = out->warmup_calls};
}

ce_timing *ce_timing_open(const ce_timing_job *job, ce_timing_out *out)
{
    ce_timing *r = calloc(1, sizeof *r);
    clear_out(out);
    if (r == NULL) {
        out->code = CE_TIMING_MEMORY;
        snprintf(out->text, sizeof out->text, "out of host memory");
        return NULL;
    }
    r->job = *job;
    r->out = out;
    if (open_all(r) < 0)
        ce_timing_close(&r);
    return r;
}

int ce_timing_block(ce_timing *self, const ce_timing_ask *ask, ce_timing_out *out)
{
    self->out = out;
    clear_out(out);
    if (ask->size != sizeof *ask || out->size != sizeof *out)
        return fail(self, CE_TIMING_ARGUMENT,
                    "struct sizes differ: ask %u, out %u; this library has %zu and %zu",
                    (unsigned)ask->size, (unsigned)out->size, sizeof *ask, sizeof *out);
    if (ask->samples == 0 || ask->samples > CE_TIMING_SAMPLES_MAX || out->samples == NULL)
        return fail(self, CE_TIMING_ARGUMENT, "%u samples (1 to %d), or no room for them",
                    (unsigned)ask->samples, CE_TIMING_SAMPLES_MAX);
    if (ask->warm && self->job.chained)
        return fail(self, CE_TIMING_ARGUMENT, "warm samples are of single calls, not of chains");
    set_deadline(self, ask->deadline_ms);
    self->warm = ask->warm != 0;
    return take_samples(self, ask);
}

void ce_timing_close(ce_timing **self)
{
    ce_timing *r = *self;
    *self = NULL;
    if (r == NULL)
        return;
    free_all(r);
    free(r);
}

int ce_timing_prepare(ce_timing *self, uint32_t slot, ce_timing_out *out)
{
    self->out = out;
    clear_out(out);
    if (out->size != sizeof *out || slot >= self->job.slots)
        return fail(self, CE_TIMING_ARGUMENT, "slot %u of %u, or another size of out",
                    (unsigned)slot, (unsigned)self->job.slots);
    set_deadline(self, 0);
    return poison(self, self->prepare[slot]) < 0 || launch_flush(self) < 0 ? -1 : wait_idle(self);
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
