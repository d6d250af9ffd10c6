/* tally - what the launches of a plan did, added up by kernel and size, as JSON
 *
 * Purpose:   launches of one kernel with one grid, block and shared memory are one row: how many there
 *            were, what the emulator counted, and the occupancy that the kernel's resources allow. All of
 *            it is modelled, nothing measured, and the JSON says so.
 * Ownership: tally_create gives an owned object; names are copied.
 * Threads:   one owner.
 * Errors:    none. Rows past TALLY_ROWS are counted as left out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_TALLY_H
#define CE_EMULATOR_TALLY_H

#include "agent-node/emulator/emulator.h"

enum { TALLY_ROWS = 32 };

typedef struct tally tally;

tally *tally_create(void);
void tally_destroy(tally **self);

/* tally_know: registers of a thread of this kernel, from the assembler; what is not known limits nothing. */
void tally_know(tally *self, const char *kernel, uint32_t registers);
/* tally_registers is what tally_know said; 0: nothing. */
uint32_t tally_registers(const tally *self, const char *kernel);
/* tally_clear forgets the launches, not the kernels. */
void tally_clear(tally *self);
void tally_add(tally *self, const emu_launch *launch, const emu_report *report);

/* tally_json: {"modelled": true, "launches": […], "left_out"}; NULL when nothing was launched. The caller
 * frees. */
char *tally_json(const tally *self);

#endif
