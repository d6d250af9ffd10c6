/* ce_profile - spans of an open timing session, on the device's own clock
 *
 * Purpose:   the second clock of protocol ce-timing-1: the same samples once by event pairs, then, with
 *            CUPTI's activity records switched on (which disturbs, so afterwards), by the timestamps of
 *            what ran. Both sides of a comparison use it: the runner links it, the judge calls it by
 *            ctypes. launch_floor = what an event pair around the graph of one empty kernel reads, less
 *            that kernel's span.
 * Ownership: everything in the ask is borrowed until the call ends; the session stays the caller's.
 * Threads:   one call a process at a time.
 * Errors:    CE_PROFILE_UNAVAILABLE and one sentence when CUPTI does not tell (no library, no
 *            permission, records missing); CE_PROFILE_TIMING when timing itself failed, with its code
 *            in `native`: the session is of no use then.
 *
 * Structs hold fixed-width members only and start with their own size, for callers by ctypes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_CE_PROFILE_H
#define CE_AGENT_NODE_RUNNER_TIMING_CE_PROFILE_H

#include <stdint.h>

#include "agent-node/runner/timing/ce_timing.h"

enum {
    CE_PROFILE_ABI = 1,
    CE_PROFILE_NAME = 256,
    CE_PROFILE_KERNELS = 16,
    CE_PROFILE_SAMPLES_MAX = 100
};

/* Values of ce_profile_out.code. */
enum { CE_PROFILE_OK = 0, CE_PROFILE_UNAVAILABLE = 1, CE_PROFILE_TIMING = 2 };

typedef struct ce_profile_ask {
    uint32_t size;              /* sizeof(ce_profile_ask) */
    uint32_t samples;           /* 1 … CE_PROFILE_SAMPLES_MAX */
    uint32_t calls;             /* in a sample: K of a chained session, else 1 */
    uint32_t kernel_count;      /* of `kernels` */
    const char *const *kernels; /* of one call; NULL: not known */
    const char *library;        /* libcupti; NULL: looked for */
    void *stream;               /* CUstream of the session */
    uint32_t deadline_ms;       /* of each part; 0: 60000 */
    uint32_t reserved;          /* 0 */
} ce_profile_ask;

/* A kernel, longest together first. */
typedef struct ce_profile_kernel {
    char name[CE_PROFILE_NAME];
    double launches; /* in one call */
    double ms;       /* mean of one launch */
    uint32_t grid[3], block[3];
    uint32_t registers, shared_static, shared_dynamic, local_bytes;
} ce_profile_kernel;

/* Times are medians over samples: of one call, or of a whole chain. */
typedef struct ce_profile_out {
    uint32_t size; /* sizeof(ce_profile_out) */
    int32_t code;
    int32_t native;
    uint32_t agrees;          /* |(event − launch_floor) − span| ≤ max(5 %, 1.5 µs) */
    double event_ms, span_ms; /* the two clocks */
    double busy_ms;           /* of the span, something ran */
    double floor_event_ms, floor_span_ms; /* the empty kernel */
    double nodes;                         /* kernels, copies and fills in one call */
    uint32_t kernel_count;
    uint32_t kernels_left_out; /* launches beyond CE_PROFILE_KERNELS rows, all samples */
    ce_profile_kernel kernels[CE_PROFILE_KERNELS];
    char library[CE_PROFILE_NAME]; /* that was used */
    char text[CE_TIMING_TEXT];
} ce_profile_out;

/* ce_profile_spans gives 0, or -1 and out->code, native, text. */
CE_TIMING_API int ce_profile_spans(ce_timing *session, const ce_profile_ask *ask,
                                   ce_profile_out *out);
/* ce_profile_abi is CE_PROFILE_ABI of the loaded library. */
CE_TIMING_API uint32_t ce_profile_abi(void);

#endif
