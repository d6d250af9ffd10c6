/* sanitizer_log - what compute-sanitizer said
 *
 * Purpose:   reads the text that a tool of NVIDIA's compute-sanitizer writes: its first finding as an outcome, or
 *            that it looked and found nothing, or why it did not look. Nothing is "clean" without the
 *            tool's own summary that counts zero.
 * Ownership: a plain value; the text is borrowed.
 * Threads:   safe.
 * Errors:    none: what cannot be read is SANITIZER_LOG_UNUSABLE with the reason.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SANITIZER_LOG_H
#define CE_AGENT_NODE_SANITIZER_LOG_H

#include <stddef.h>

#include "agent-node/runner/verdict.h"

typedef enum sanitizer_log_state {
    SANITIZER_LOG_UNUSABLE, /* why */
    SANITIZER_LOG_CLEAN,
    SANITIZER_LOG_FINDING /* verdict */
} sanitizer_log_state;

enum { SANITIZER_LOG_WHY_MAX = 200 };

typedef struct sanitizer_log {
    sanitizer_log_state state;
    runner_verdict verdict;
    char why[SANITIZER_LOG_WHY_MAX];
} sanitizer_log;

/* sanitizer_log_read: `tool` (memcheck, …) begins the verdict's text. Out of bounds and misaligned accesses
 * are out_of_bounds(read|write|misaligned), reads of what nobody wrote uninitialised, shared memory
 * hazards of severity Error race(shared), wrong barriers race(barrier). Warnings are no finding. */
void sanitizer_log_read(const char *tool, const char *text, size_t size, sanitizer_log *out);

#endif
