/* ce_timing - time CUDA graphs on the GPU, the same way for both sides of a comparison
 *
 * Purpose:   protocol ce-timing-1. A job has K slots; a slot is a graph that makes one call on buffers of
 *            its own. E-mode, a sample is one call: the slot's `prepare` graph (poison), a read of 2×L2
 *            clean bytes, event, graph, event. G-mode (`chained`), a sample is one graph of all K
 *            calls in a row with event nodes around them, after the poison of all slots and the same
 *            read; its value is the time of the chain divided by K. Samples are queued behind a kernel
 *            that spins on a flag, so the host's speed is not measured. The runner links this library;
 *            the judge loads libce_timing.so by ctypes.
 * Ownership: everything in the job is borrowed until ce_timing_close; samples go into the caller's
 *            array. Graphs are instantiated by the library and stay the caller's.
 * Threads:   no state outside the session. The CUDA context that is current on the calling thread is
 *            used; the stream belongs to it and has no other work.
 * Errors:    a code below and one sentence. After CE_TIMING_TIMEOUT or a sticky CUDA error the context
 *            is useless and the library's memory in it is given up: end the process.
 *
 * Structs hold fixed-width members only and start with their own size, for callers by ctypes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_CE_TIMING_H
#define CE_AGENT_NODE_RUNNER_TIMING_CE_TIMING_H

#include <stdint.h>

#define CE_TIMING_API      __attribute__((visibility("default")))
#define CE_TIMING_PROTOCOL "ce-timing-1"

enum {
    CE_TIMING_ABI = 3,
    CE_TIMING_TEXT = 240,
    CE_TIMING_SLOTS_MAX = 65,
    CE_TIMING_SAMPLES_MAX = 100000,
    CE_TIMING_OPS_MAX = 256 /* stream operations per release of the spin kernel */
};

/* Values of ce_timing_out.code. */
enum {
    CE_TIMING_OK = 0,
    CE_TIMING_ARGUMENT = 1,    /* the job is malformed */
    CE_TIMING_UNAVAILABLE = 2, /* no driver, no current context */
    CE_TIMING_MEMORY = 3,      /* not enough device memory for the flush buffer */
    CE_TIMING_CUDA = 4,        /* the driver said `native`, a CUresult */
    CE_TIMING_TIMEOUT = 5,     /* the deadline passed */
    CE_TIMING_VOID = 6,        /* blocks kept outrunning the spin kernel's time-out */
    CE_TIMING_KEEP = 7         /* the job's `keep` failed */
};

/* ce_timing_keep_fn looks at a slot whose last call is over and not yet poisoned; non-zero: failed. */
typedef int32_t ce_timing_keep_fn(void *arg, uint32_t slot);

typedef struct ce_timing_job {
    uint32_t size;           /* sizeof(ce_timing_job) */
    uint32_t slots;          /* K, 1 … CE_TIMING_SLOTS_MAX */
    void *const *graphs;     /* K CUgraph */
    void *const *prepare;    /* K CUgraph that poison the slot's outputs; NULL: none */
    void *stream;            /* CUstream */
    uint64_t l2_bytes;       /* 0: ask the device */
    uint64_t dummy_bytes;    /* without `prepare`: bytes written instead, for one call */
    uint32_t chained;        /* 0: E-mode, 1: G-mode */
    uint32_t settle;         /* 1: warm up until the time no longer moves, too */
    uint32_t warmup_calls;   /* at least; 0: 2K + 3 */
    uint32_t warmup_ms;      /* at least; 0: 200 */
    uint32_t warmup_cap_ms;  /* at most (one call is always made); 0: 3000 */
    uint32_t deadline_ms;    /* of ce_timing_open; 0: 60000 */
    ce_timing_keep_fn *keep; /* NULL: none */
    void *keep_arg;
} ce_timing_job;

typedef struct ce_timing_ask {
    uint32_t size;        /* sizeof(ce_timing_ask) */
    uint32_t samples;     /* timed samples wanted, 1 … CE_TIMING_SAMPLES_MAX */
    uint32_t untimed;     /* calls before the first of them, at least */
    int32_t keep;         /* after this sample call the job's `keep`: E-mode for the slot it used,
                             G-mode for each slot; -1: never */
    uint32_t deadline_ms; /* of this block; 0: 60000 */
    uint32_t warm;        /* 1: the L2 as the same call leaves it; a second number, see below */
} ce_timing_ask;

typedef struct ce_timing_out {
    uint32_t size;         /* sizeof(ce_timing_out) */
    int32_t code;          /* CE_TIMING_… */
    int32_t native;        /* CUresult, or 0 */
    uint32_t sample_count; /* samples taken: all or, after a failure, fewer */
    double *samples;       /* caller's array of ask.samples; ms of one call, in the order taken */
    double event_floor_ms; /* median of 100 empty event pairs */
    double host_ms;        /* CLOCK_MONOTONIC_RAW, all releases of this block */
    double event_ms;       /* all event pairs of this block */
    int64_t warmup_calls;  /* calls made before the first sample */
    int64_t blocks;        /* releases of the spin kernel that gave samples */
    int64_t voided;        /* releases thrown away because the spin kernel timed out */
    int64_t suspect;       /* releases whose events add up to more than the host saw (1 %) */
    char text[CE_TIMING_TEXT];
} ce_timing_out;

typedef struct ce_timing ce_timing;

/* ce_timing_open instantiates, warms up and measures the floor; NULL and out->code, native, text on
 * failure. Slots whose kernels are handed equal pointers are refused. */
CE_TIMING_API ce_timing *ce_timing_open(const ce_timing_job *job, ce_timing_out *out);
/* A warm sample, E-mode only: one untimed call on the slot, its poison, then the timed call; nothing else
 * is read between. Inputs, and what else of the slot fits, are in L2. It is never compared with a cold one. */
/* ce_timing_block gives 0 and out->sample_count == ask->samples, or -1 and out->code, native, text.
 * With neither `prepare` nor `dummy_bytes` a release makes at most K calls, so that no call of it lands on a
 * slot that already holds its result. */
CE_TIMING_API int ce_timing_block(ce_timing *self, const ce_timing_ask *ask, ce_timing_out *out);
/* ce_timing_prepare poisons a slot, reads the clean buffer and waits: what comes before a sample, for
 * somebody who makes the call itself with other tools. 0, or -1 as above. */
CE_TIMING_API int ce_timing_prepare(ce_timing *self, uint32_t slot, ce_timing_out *out);
CE_TIMING_API void ce_timing_close(ce_timing **self);

/* ce_timing_slots: K for a call that reads and writes bytes_per_call bytes and takes about
 * estimate_us (both sides' minimum; <= 0: unknown) on a device with such an L2 and memory
 * (measurement.md §2). 0: not even one slot fits. */
CE_TIMING_API uint32_t ce_timing_slots(uint64_t bytes_per_call, uint64_t l2_bytes,
                                       double estimate_us, uint64_t memory_bytes);

/* ce_timing_abi is CE_TIMING_ABI of the loaded library. */
CE_TIMING_API uint32_t ce_timing_abi(void);

#endif
