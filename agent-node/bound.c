/* bound - see bound.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/bound.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static const double full_pct = 80.0;   /* of a pipeline's peak: it is the limit, whatever else */
static const double busy_pct = 60.0;   /* of a pipeline's peak: it is the limit */
static const double empty_times = 3.0; /* a span of so many empty kernels is mostly overhead */
static const double gap_share = 0.30;  /* of the span, nothing ran */
static const double idle_share = 0.25; /* of the time, multiprocessors had no warp */
static const double ready_many =
    1.0 / 3; /* of the warps' time they wait for nothing but their turn */

static bool is_launch(const bound_input *in)
{
    if (in->span_ms < empty_times * in->empty_ms)
        return true;
    return in->nodes > 1 && (in->span_ms - in->busy_ms) / in->span_ms >= gap_share;
}

static bool is_tail(const bound_input *in)
{
    return in->blocks > in->sm_count && 1 - in->sm_active_share >= idle_share;
}

bound bound_of(const bound_input *in)
{
    const double memory = fmax(in->memory_pct, in->dram_pct);
    const bound busier = memory >= in->sm_pct ? BOUND_MEMORY : BOUND_COMPUTE;
    const double most = fmax(memory, in->sm_pct);
    if (is_launch(in))
        return BOUND_LAUNCH;
    if (isnan(memory) || isnan(in->sm_pct))
        return BOUND_UNKNOWN;
    if (most >= full_pct)
        return busier;
    if (is_tail(in))
        return BOUND_TAIL;
    if (most >= busy_pct)
        return busier;
    return in->ready_share >= ready_many ? BOUND_COMPUTE : BOUND_LATENCY;
}

const char *bound_name(bound what)
{
    static const char *const names[] = {
        [BOUND_UNKNOWN] = NULL,      [BOUND_MEMORY] = "memory", [BOUND_COMPUTE] = "compute",
        [BOUND_LATENCY] = "latency", [BOUND_LAUNCH] = "launch", [BOUND_TAIL] = "tail"};
    return names[what];
}
