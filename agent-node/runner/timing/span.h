/* span - how long calls took by the timestamps of what ran on the device
 *
 * Purpose:   pure arithmetic on activity records. What one graph launch set off shares a correlation id;
 *            a timed launch is the first after a marker, a kernel that was launched by itself just before
 *            it. The span of a call is from its earliest start to its latest end.
 * Ownership: values; span_of sorts the caller's records in place.
 * Threads:   no shared state.
 * Errors:    span_of says false and why: the records do not tell of the calls that were made.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_SPAN_H
#define CE_AGENT_NODE_RUNNER_TIMING_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPAN_NAME_MAX = 256, SPAN_KERNELS_MAX = 16, SPAN_SAMPLES_MAX = 128 };

typedef enum span_kind { SPAN_KERNEL, SPAN_COPY, SPAN_FILL } span_kind;

/* One kernel, copy or fill that the device ran. */
typedef struct span_record {
    span_kind kind;
    uint32_t correlation, graph; /* graph 0: launched by itself */
    uint64_t start, end;         /* ns; 0: the device did not say */
    char name[SPAN_NAME_MAX];    /* of a kernel; cut */
    uint32_t grid[3], block[3];
    uint32_t registers, shared_static, shared_dynamic, local_bytes;
} span_record;

/* What must be found. */
typedef struct span_want {
    const char *marker;
    size_t samples; /* 1 … SPAN_SAMPLES_MAX */
    const char *const
        *kernels; /* of one call, any order; NULL: not known, but alike in all samples */
    size_t kernel_count;
    size_t calls; /* in one sample */
} span_want;

/* A kernel as it was launched; launches of the same kernel at another size are another row. */
typedef struct span_kernel {
    char name[SPAN_NAME_MAX];
    double launches; /* in one call */
    double ms;       /* mean of one launch */
    uint32_t grid[3], block[3];
    uint32_t registers, shared_static, shared_dynamic, local_bytes;
} span_kernel;

typedef struct span_result {
    double span_ms[SPAN_SAMPLES_MAX]; /* of each sample */
    double busy_ms[SPAN_SAMPLES_MAX]; /* of it, something ran */
    size_t samples;
    double nodes;                          /* kernels, copies and fills in one call */
    span_kernel kernels[SPAN_KERNELS_MAX]; /* longest together first */
    size_t kernel_count, kernels_left_out;
} span_result;

bool span_of(span_record *records, size_t count, const span_want *want, span_result *out, char *why,
             size_t size);
/* span_agrees: what the event pair read, less what it costs itself, lies between the time that something ran
 * and the span, within 5 % or 1.5 µs. Both are the same where a sample is one kernel. Between kernels of a
 * graph CUPTI adds about 0.1 µs each (H200), so there only the two limits are known. */
bool span_agrees(double event_ms, double floor_ms, double busy_ms, double span_ms);

#endif
