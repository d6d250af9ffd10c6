/* grid - runs all blocks of a launch on the CPU's cores
 *
 * Purpose:   workers take blocks in the order of their numbers. A worker stays with a block until it ends,
 *            but when its blocks wait for others it starts one more: look-back scans and barriers across
 *            the grid come to an end if they do on a device that holds all started blocks.
 * Ownership: borrows all; fills the report.
 * Threads:   starts and joins its own.
 * Errors:    what a kernel does is in the report.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_GRID_H
#define CE_EMULATOR_GRID_H

#include "agent-node/emulator/exec.h"

/* What cooperative groups find behind the registers envreg1 and envreg2. */
typedef struct grid_workspace {
    uint32_t bytes, barrier;
} grid_workspace;

/* grid_run runs the launch, which fits the program (emulator.c has looked). A cooperative one has a workspace;
 * else NULL. */
void grid_run(const program *p, emu_memory *memory, const emu_launch *launch,
              const grid_workspace *workspace, const emu_options *options, emu_report *report);

#endif
