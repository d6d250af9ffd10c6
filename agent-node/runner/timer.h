/* timer - a session of the timing library in the runner's terms
 *
 * Purpose:   jobs and blocks of gpu.h become those of timing/ce_timing.h; what the library could not do
 *            becomes the candidate's verdict or an err.
 * Ownership: a value; timer_close ends the session. Graphs and stream are borrowed until then.
 * Threads:   one owner.
 * Errors:    ERR_PROTOCOL when there is no session, ERR_LIMIT when memory does not suffice, ERR_GPU for
 *            what else the driver says outside a candidate.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMER_H
#define CE_AGENT_NODE_RUNNER_TIMER_H

#include "agent-node/runner/gpu.h"

struct ce_timing;

/* A zeroed timer has no session. */
typedef struct timer {
    struct ce_timing *session;
    gpu_keep_fn *keep;
    void *keep_arg;
} timer;

/* What is timed, in the driver's terms. */
typedef struct timer_graphs {
    void *const *calls;   /* a CUgraph a slot */
    void *const *prepare; /* a CUgraph a slot: poison */
    void *stream;         /* CUstream */
    int64_t l2_bytes;
} timer_graphs;

int timer_open(timer *self, const gpu_time_job *job, const timer_graphs *graphs, gpu_timing *timing,
               runner_verdict *out, err *e);
int timer_block(timer *self, const gpu_block *block, gpu_timing *timing, runner_verdict *out,
                err *e);
void timer_close(timer *self);

#endif
