/* gpu_room - has the device room for a launch?
 *
 * Purpose:   a launch may use more shared memory than blocks have without opt-in, and a cooperative one needs all its
 *            blocks on the device at once. What there is no room for is plan_invalid, with the place in
 *            the plan and the most that fits.
 * Ownership: borrows the table of the driver.
 * Threads:   one owner.
 * Errors:    ERR_GPU when the driver does not answer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_GPU_ROOM_H
#define CE_AGENT_NODE_RUNNER_GPU_ROOM_H

#include "agent-node/runner/gpu.h"
#include "agent-node/runner/timing/cuda_api.h"

/* gpu_room_make opts the function in to the shared memory that the call wants, then looks whether its blocks
 * fit. To be called once for each function and call before it is launched or captured. */
int gpu_room_make(const cuda_api *api, const gpu_facts *facts, CUfunction function,
                  const gpu_call *call, runner_verdict *out, err *e);

#endif
