/* probe - what devices this host has, as one JSON line
 *
 * Purpose:   {"devices":[{"device","kind","name","uuid","arch","memory_bytes","cc","sm_count",
 *            "l2_bytes","driver","shared_per_block","threads_per_block","grid_max":[x,y,z],
 *            "block_max":[x,y,z]}],"reason":null or why there are none}.
 *            What profiles a kernel, as another: {"library":FILE or null,"counters":true,"reason":null}.
 * Ownership: writes to the given stream.
 * Threads:   one.
 * Errors:    none: the reason is data.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_PROBE_H
#define CE_AGENT_NODE_RUNNER_PROBE_H

#include <stdio.h>

/* probe_print: "fake" lists the fake device of a script (NULL: its defaults), "emu" the emulator, else
 * CUDA devices. */
void probe_print(const char *device, const char *script, FILE *out);
/* probe_print_profiler looks for CUPTI where a run would; no driver is needed to find it. */
void probe_print_profiler(FILE *out);

#endif
