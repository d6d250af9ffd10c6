/* phases - what a runner does with its candidate: load, check, time
 *
 * Purpose:   each phase starts from nothing: fresh memory, the module loaded anew, unloaded at the end,
 *            so no state of a candidate survives from one to the next. Inputs are copied from staging,
 *            which is closed before anything is launched and opened again for the outputs.
 * Ownership: phases_create gives an owned object that borrows the device. Messages are borrowed.
 * Threads:   one owner.
 * Errors:    as in gpu.h. ERR_PROTOCOL for a request that does not fit the contract.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_PHASES_H
#define CE_AGENT_NODE_RUNNER_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent-node/runner/gpu.h"
#include "agent-node/runner/verdict.h"
#include "common/err.h"

struct msg_runner_load; /* wire/message.h */
struct msg_runner_check;
struct msg_runner_arm;
struct msg_runner_block;
struct msg_runner_kept;
struct msg_runner_disarm;
struct msg_runner_profile;

/* Called with true when the candidate's code is about to meet the driver and with false when it has
 * ended well; the next call or the end of the phase comes within deadline_ms. */
typedef int phases_launching_fn(void *arg, bool candidate, int64_t deadline_ms, err *e);

typedef struct phases phases;

phases *phases_create(gpu *device, phases_launching_fn *launching, void *arg);
void phases_destroy(phases **self);

/* phases_load keeps contract, plan and machine code; an earlier candidate is refused (ERR_PROTOCOL). */
int phases_load(phases *self, const struct msg_runner_load *request, runner_verdict *out, err *e);
/* phases_check runs the plan once (on an exact device: and nothing else, the outputs stay), or (pair_salt) three times; the outputs that go to staging are those of
 * the first run. */
int phases_check(phases *self, const struct msg_runner_check *request, runner_verdict *out, err *e);

/* Timing: arm, blocks, then kept and disarm in any number and order. Inputs are read-only throughout.
 * phases_block fills timing->samples, the caller's array of request->samples. */
int phases_arm(phases *self, const struct msg_runner_arm *request, gpu_timing *timing,
               runner_verdict *out, err *e);
int phases_block(phases *self, const struct msg_runner_block *request, gpu_timing *timing,
                 runner_verdict *out, err *e);
/* phases_kept_slots lists the slots whose outputs were kept since arming; borrowed. */
const size_t *phases_kept_slots(const phases *self, size_t *count);
int phases_kept(phases *self, const struct msg_runner_kept *request, runner_verdict *out, err *e);
/* phases_profile looks at what is armed: JSON (runner/profiler.h), the caller's. */
char *phases_profile(phases *self, const struct msg_runner_profile *request, err *e);
/* phases_disarm looks at the canaries and inputs of every slot and gives the memory back. */
int phases_disarm(phases *self, const struct msg_runner_disarm *request, runner_verdict *out,
                  err *e);

#endif
