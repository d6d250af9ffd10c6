/* roofline - the time that no correct kernel can beat at the benchmark shape
 *
 * Purpose:   floor = (bytes that must be read + bytes that must be written beyond L2) / memory rate.
 *            Writes up to the size of L2 may stay there, so they are not counted. An input beside an
 *            integer input may be indexed by it and need not be read whole: it is not counted either.
 * Ownership: none.
 * Threads:   safe.
 * Errors:    as contract_elements. NaN: the device does not tell its memory rate.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_ROOFLINE_H
#define CE_AGENT_NODE_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "suites/contract.h"

/* A device as far as memory goes. */
typedef struct roofline_device {
    int64_t l2_bytes;
    double bytes_per_s; /* the larger of what the memory's clock allows and what was measured; <= 0:
                           not known */
} roofline_device;

/* roofline_bytes: every tensor once, at this shape. */
int roofline_bytes(const contract *terms, const contract_shape *shape, int64_t *out, err *e);
int roofline_floor_ms(const contract *terms, const roofline_device *device, double *out, err *e);
/* roofline_beats: faster than the hardware can be; roofline_near: parity is the ceiling here. */
bool roofline_beats(double ms, double floor_ms);
bool roofline_near(double ms, double floor_ms);

#endif
