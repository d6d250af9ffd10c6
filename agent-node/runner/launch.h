/* launch - the steps of a plan with addresses in place
 *
 * Purpose:   turns what plan_expand gave into calls a device can make, for one set of buffers.
 * Ownership: launch_init fills a value that owns its arguments; it borrows steps (names, pointers).
 * Threads:   one owner.
 * Errors:    none of its own; launch_examine passes the device's on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_LAUNCH_H
#define CE_AGENT_NODE_RUNNER_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "agent-node/runner/buffers.h"
#include "agent-node/runner/gpu.h"
#include "suites/plan.h"

typedef struct launch {
    gpu_call *calls;
    size_t count;
} launch;

/* launch_init: when `checked`, a scratch buffer in a place where another one lived is filled with the
 * set's sentinels first, so that no kernel finds what the other left behind. That is not timed. */
void launch_init(launch *self, const plan_steps *steps, const buffers *memory, bool checked);
void launch_fini(launch *self);
/* launch_examine asks the device about every call; the first that does not fit gives the verdict. */
int launch_examine(const launch *self, gpu *device, runner_verdict *out, err *e);

#endif
