/* sanitize - a candidate once more, while NVIDIA's compute-sanitizer looks on
 *
 * Purpose:   memcheck, initcheck, racecheck and synccheck, each a run of its own in a fresh runner, over a few
 *            small shapes, in memory that is exactly as large as each tensor. A finding is the
 *            candidate's outcome. Where a tool is not there, does not know the device or fails, the state
 *            reads "not run" with the reason, never "clean". Silence is believed from a tool that has seen a
 *            planted defect on this device: four kernels more, once for a lane, when there is silence.
 * Ownership: plain values; requests borrow.
 * Threads:   the holder of the lane.
 * Errors:    an err is the judge's or the cancelled task's; whatever goes wrong with a tool is the state.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SANITIZE_H
#define CE_AGENT_NODE_SANITIZE_H

#include "agent-node/pipeline.h"
#include "agent-node/runner/verdict.h"
#include "agent-node/sanitizer_log.h"

enum {
    SANITIZE_SHAPES =
        6, /* at most, of those that the emulator would check: 64 Ki elements and less */
    SANITIZE_STATE_MAX = SANITIZER_LOG_WHY_MAX + 64
};

typedef struct sanitize_report {
    runner_verdict verdict;         /* ok, or the first finding */
    char state[SANITIZE_STATE_MAX]; /* "clean", "not run (memcheck: …)", "memcheck: Invalid …" */
} sanitize_report;

int sanitize_candidate(const pipeline *p, lane *held, const candidate *c, sanitize_report *out,
                       err *e);

/* sanitize_find is the program to use on a device of this kind, in fresh memory: `given` if there is one; on a
 * GPU else the first compute-sanitizer on PATH, or that of /usr/local/cuda. NULL: there is none. */
char *sanitize_find(const char *given, const char *device_kind);

#endif
