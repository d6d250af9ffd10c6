/* lanes_all - the tables of lanes_*.c under the name of the CPU they are compiled for
 *
 * Purpose:   the build compiles each lanes_*.c twice, with CE_EMU_ISA base and avx2.
 * Ownership: static tables.
 * Threads:   safe.
 * Errors:    none.
 *
 * Private to lanes_*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_LANES_ALL_H
#define CE_EMULATOR_LANES_ALL_H

#include "agent-node/emulator/lanes.h"

#ifndef CE_EMU_ISA
#define CE_EMU_ISA base
#endif
#define LANE_JOIN_(a, b) a##_##b
#define LANE_JOIN(a, b)  LANE_JOIN_(a, b)
#define LANE_NAME(name)  LANE_JOIN(name, CE_EMU_ISA)

extern const lane_table LANE_NAME(lanes_integer), LANE_NAME(lanes_bits), LANE_NAME(lanes_compare),
    LANE_NAME(lanes_f32), LANE_NAME(lanes_f64), LANE_NAME(lanes_half), LANE_NAME(lanes_approx),
    LANE_NAME(lanes_move);
void LANE_NAME(lanes_convert)(warp *w, const op *o);
void LANE_NAME(lanes_convert_pair)(warp *w, const op *o);

#endif
