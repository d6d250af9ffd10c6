/* ce_timing - time CUDA graphs on the GPU, the same way for both sides of a comparison
 *
 * Purpose:   protocol ce-timing-0 (E-mode). A job has K slots; a slot is a graph that makes one call on
 *            buffers of its own. Per call: the slot's `prepare` graph (poison), a read of 2×L2 clean
 *            bytes, event, graph, event. Calls are queued behind a kernel that spins on a flag, so the
 *            host's speed is not measured. The runner links this library; the judge loads
 *            libce_timing.so by ctypes.
 * Ownership: everything in the job is borrowed for the call; samples go into the caller's array. Graphs
 *            are instantiated by the library and stay the caller's.
 * Threads:   no state between calls. The CUDA context that is current on the calling thread is used;
 *            the stream belongs to it and has no other work.
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
#define CE_TIMING_PROTOCOL "ce-timing-0"

enum {
    CE_TIMING_ABI = 1,
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
    CE_TIMING_VOID = 6         /* blocks kept outrunning the spin kernel's time-out */
};

typedef struct ce_timing_job {
    uint32_t size;          /* sizeof(ce_timing_job) */
    uint32_t slots;         /* K, 1 … CE_TIMING_SLOTS_MAX */
    void *const *graphs;    /* K CUgraph */
    void *const *prepare;   /* K CUgraph that poison the slot's outputs; NULL: none */
    void *stream;           /* CUstream */
    uint64_t l2_bytes;      /* 0: ask the device */
    uint64_t dummy_bytes;   /* without `prepare`: write so many bytes of our own instead */
    uint32_t samples;       /* timed calls wanted, 1 … CE_TIMING_SAMPLES_MAX */
    uint32_t warmup_calls;  /* at least; 0: 2K + 3 */
    uint32_t warmup_ms;     /* at least; 0: 200 */
    uint32_t warmup_cap_ms; /* at most (one call is always made); 0: 3000 */
    uint32_t deadline_ms;   /* for all of it; 0: 60000 */
    uint32_t reserved;      /* 0 */
} ce_timing_job;

typedef struct ce_timing_out {
    uint32_t size;         /* sizeof(ce_timing_out) */
    int32_t code;          /* CE_TIMING_… */
    int32_t native;        /* CUresult, or 0 */
    uint32_t sample_count; /* samples taken: all or, after a failure, fewer */
    double *samples;       /* caller's array of job.samples; ms, in the order taken */
    double event_floor_ms; /* median of 100 empty event pairs */
    int64_t warmup_calls;  /* calls made before the first sample */
    int64_t blocks;        /* releases of the spin kernel that gave samples */
    int64_t voided;        /* blocks thrown away because the spin kernel timed out */
    char text[CE_TIMING_TEXT];
} ce_timing_out;

/* ce_timing_run gives 0 and out->sample_count == job->samples, or -1 and out->code, native, text.
 * With neither `prepare` nor `dummy_bytes` a block makes at most K calls, so that no call of a block
 * lands on a slot that already holds this block's result. */
CE_TIMING_API int ce_timing_run(const ce_timing_job *job, ce_timing_out *out);

/* ce_timing_slots: K for a call that reads and writes bytes_per_call bytes and takes about
 * estimate_us (both sides' minimum; <= 0: unknown) on a device with such an L2 and memory
 * (measurement.md §2). 0: not even one slot fits. */
CE_TIMING_API uint32_t ce_timing_slots(uint64_t bytes_per_call, uint64_t l2_bytes,
                                       double estimate_us, uint64_t memory_bytes);

/* ce_timing_abi is CE_TIMING_ABI of the loaded library. */
CE_TIMING_API uint32_t ce_timing_abi(void);

#endif
