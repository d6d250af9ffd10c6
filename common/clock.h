/* clock - time as a value
 *
 * Purpose:   the two clocks, read in one place and passed on as parameters.
 * Ownership: none.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_CLOCK_H
#define CE_COMMON_CLOCK_H

#include <stdint.h>

enum { CLOCK_TEXT = 32 };

int64_t clock_mono_ms(void); /* CLOCK_MONOTONIC: leases, deadlines */
int64_t clock_mono_us(void);
int64_t clock_wall_ms(void); /* Unix time: records for people */
/* clock_text writes "2026-11-30T16:28:42Z". */
void clock_text(int64_t wall_ms, char out[CLOCK_TEXT]);

#endif
