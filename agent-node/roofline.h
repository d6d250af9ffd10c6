/* roofline - the time that no correct kernel can beat at the benchmark shape
 *
 * Purpose:   floor = the larger of (bytes that must be read + bytes that must be written beyond L2) / memory
 *            rate, and operations / rate of the fastest unit that the dtypes allow. Writes up to the size
 *            of L2 may stay there, so they are not counted. An input beside an integer input may be
 *            indexed by it and need not be read whole: it is not counted either. Operations are the
 *            contract's; where it tells none, or the card's rate is not in the table, only bytes count.
 * Ownership: none.
 * Threads:   safe.
 * Errors:    as contract_elements. NaN: neither rate is known.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_ROOFLINE_H
#define CE_AGENT_NODE_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "suites/contract.h"

/* What limits a kernel on a device. */
typedef struct roofline_device {
    int64_t l2_bytes;
    double bytes_per_s; /* the larger of what the memory's clock allows and what was measured; <= 0:
                           not known */
    int64_t cc;         /* compute capability times 10 */
    double
        baseline_ms; /* of the baseline here: what it reaches no table can deny; <= 0: not known */
} roofline_device;

/* roofline_bytes: every tensor once, at this shape. */
int roofline_bytes(const contract *terms, const contract_shape *shape, int64_t *out, err *e);
int roofline_floor_ms(const contract *terms, const roofline_device *device, double *out, err *e);
/* roofline_beats: faster than the hardware can be; roofline_near: parity is the ceiling here. */
bool roofline_beats(double ms, double floor_ms);
bool roofline_near(double ms, double floor_ms);

#endif
