/* activity - what the device ran, as CUPTI's activity records tell it
 *
 * Purpose:   collects kernels, copies and fills between begin and end, nodes of graphs one by one.
 * Ownership: activity_take gives records to the caller (free).
 * Threads:   one collection a process at a time: CUPTI's callbacks have no argument of ours. They may come
 *            on a thread of CUPTI's; a mutex guards what they fill.
 * Errors:    false and why, with the function's name and CUPTI's own words.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_ACTIVITY_H
#define CE_AGENT_NODE_RUNNER_TIMING_ACTIVITY_H

#include "agent-node/runner/timing/cupti_api.h"
#include "agent-node/runner/timing/span.h"

enum { ACTIVITY_RECORDS_MAX = 200000 };

bool activity_begin(const cupti_api *cupti, char *why, size_t size);
/* activity_take delivers what was collected so far. The device must be idle. Records that CUPTI or we had no
 * room for are a failure ("incomplete"). */
bool activity_take(const cupti_api *cupti, span_record **out, size_t *count, char *why,
                   size_t size);
/* activity_end stops collecting and forgets the rest. */
void activity_end(const cupti_api *cupti);

#endif
