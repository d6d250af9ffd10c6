/* verdict - what a phase of a candidate came to
 *
 * Purpose:   the outcome of loading, checking or timing a candidate, with one sentence for people and
 *            for the model. Used by the runner and by its client.
 * Ownership: a plain value.
 * Threads:   no shared state.
 * Errors:    none: a failure of the harness is an err (common/err.h), never a verdict.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_VERDICT_H
#define CE_AGENT_NODE_RUNNER_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/outcome.h"

enum { RUNNER_TEXT_MAX = 1024 };

/* The detail of `uninitialised` when two runs told it: the first one's outputs lie in staging then. */
#define VERDICT_LEFTOVERS "leftovers"

typedef struct runner_verdict {
    outcome result;
    char detail[OUTCOME_DETAIL_MAX]; /* "write", "input", a pointer into the plan, …; "" when ok */
    char text[RUNNER_TEXT_MAX];      /* one sentence; "" when ok */
    int64_t elapsed_us;              /* launch to end by the host's clock; no timing claim */
} runner_verdict;

/* verdict_ok resets v to "nothing wrong". */
void verdict_ok(runner_verdict *v);
/* verdict_set keeps elapsed_us and fills the rest; detail may be NULL. */
void verdict_set(runner_verdict *v, outcome result, const char *detail, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool verdict_is_ok(const runner_verdict *v);

#endif
