/* fault - what a CUDA error number says about a candidate
 *
 * Purpose:   the one table from CUresult to outcome. A number that is not in it is no candidate's fault.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    none; false means: a harness error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_FAULT_H
#define CE_AGENT_NODE_RUNNER_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent-node/runner/verdict.h"

typedef enum fault_when {
    FAULT_AT_LOAD,   /* returned by the module load */
    FAULT_AT_LAUNCH, /* returned by a launch call, or left by an earlier kernel */
    FAULT_AT_WAIT    /* found while waiting: sticky */
} fault_when;

/* fault_judge fills out (elapsed_us stays) and returns true when the number is a candidate's doing at
 * that moment. `where` is the plan pointer of the step, or NULL when it is not known. */
bool fault_judge(int64_t native, fault_when when, const char *where, runner_verdict *out);

#endif
