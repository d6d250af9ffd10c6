/* profiler - what a timed candidate does on the device, as a JSON record
 *
 * Purpose:   spans and kernels (timing/ce_profile.h) and counters (timing/counters.h) of an open timing
 *            session: {"spans": {"unavailable", "event_ms", "span_ms", "busy_ms", "floor_event_ms",
 *            "floor_span_ms", "nodes", "calls", "agrees"}, "kernels": [{"name", "launches", "ms", "grid", "block",
 *            "registers", "shared_static", "shared_dynamic", "local_bytes"}], "counters":
 *            {"unavailable", "chip", "passes", "values": {key of timing/metrics.def: number or null}},
 *            "library"}. "unavailable" is null or the reason; then the numbers are null.
 *            Times of "spans" are those of a sample: `calls` calls.
 * Ownership: the text is the caller's.
 * Threads:   one owner.
 * Errors:    none: whatever fails is a reason in the record.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_PROFILER_H
#define CE_AGENT_NODE_RUNNER_PROFILER_H

#include "agent-node/runner/gpu.h"

struct ce_timing;

/* All borrowed. */
typedef struct profiler_job {
    const gpu_profile_job *ask;
    struct ce_timing *session;
    const gpu_slot *slots;
    size_t slot_count;
    bool chained;
    void *context, *stream; /* CUcontext, current; CUstream of the session */
    int64_t ordinal;
    /* launch makes the calls of a slot and waits; false and why. */
    bool (*launch)(void *arg, const gpu_slot *slot, char *why, size_t size);
    void *arg;
} profiler_job;

char *profiler_run(const profiler_job *job);

#endif
