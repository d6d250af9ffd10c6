/* distinct - do the slots of a timing job really use buffers of their own?
 *
 * Purpose:   compares what the kernel nodes of each slot's graph are handed. Equal arguments would mean
 *            that a timed call finds the result of another slot.
 * Ownership: graphs are borrowed.
 * Threads:   as the driver allows.
 * Errors:    none: a graph whose arguments cannot be seen (no kernel, an older driver) is not judged.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_DISTINCT_H
#define CE_AGENT_NODE_RUNNER_TIMING_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent-node/runner/timing/cuda_api.h"

/* distinct_slots: false when two of the count CUgraphs are handed the same arguments; which ones. */
bool distinct_slots(const cuda_api *api, void *const *graphs, uint32_t count, uint32_t *one,
                    uint32_t *other);

#endif
