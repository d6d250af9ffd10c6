/* counters - hardware counters over one call, by CUPTI's range profiler
 *
 * Purpose:   user replay: as many passes as the metrics need, each with a call of its own that the user
 *            prepares and makes, so nothing has to be saved and restored.
 * Ownership: values into the caller's array.
 * Threads:   one profile a process at a time, on the thread whose context is current.
 * Errors:    false and why, with the function's name and CUPTI's own words. The user's callbacks put their
 *            own reason into `why`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_COUNTERS_H
#define CE_AGENT_NODE_RUNNER_TIMING_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERS_MAX = 64, COUNTERS_PASSES_MAX = 128 };

struct cupti_api;

/* Called once a pass; both wait until the device is idle. */
typedef bool counters_step_fn(void *arg, size_t pass, char *why, size_t size);

typedef struct counters_job {
    const struct cupti_api *cupti;
    void *context;            /* CUcontext, current on this thread */
    int64_t ordinal;          /* of the device */
    const char *const *names; /* of metrics, at most COUNTERS_MAX */
    size_t count;
    counters_step_fn *prepare; /* before the range */
    counters_step_fn *call;    /* in the range */
    void *arg;
} counters_job;

typedef struct counters_result {
    char chip[32];
    size_t passes;
    double values[COUNTERS_MAX]; /* NaN: the chip has no such metric */
} counters_result;

bool counters_collect(const counters_job *job, counters_result *out, char *why, size_t size);

/* counters_plan says without a device what `chip` has of the job's metrics (a value of 0, else NaN) and
 * how many passes they take. Only cupti, names and count of the job are looked at. */
bool counters_plan(const counters_job *job, const char *chip, counters_result *out, char *why,
                   size_t size);

#endif
