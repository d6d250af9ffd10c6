/* probe - what devices this host has, as one JSON line
 *
 * Purpose:   {"devices":[{"kind","name","uuid","arch","memory_bytes","cc","sm_count","l2_bytes",
 *            "driver"}],"reason":null or why there are none}.
 * Ownership: writes to the given stream.
 * Threads:   one.
 * Errors:    none: the reason is data.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_PROBE_H
#define CE_AGENT_NODE_RUNNER_PROBE_H

#include <stdio.h>

void probe_print(FILE *out);

#endif
