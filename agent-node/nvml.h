/* nvml - what the driver's management library says of one GPU
 *
 * Purpose:   clocks, power, temperature, throttle reasons and the processes that compute on the card, read
 *            only: nothing is ever set. The library is opened at run time; no header of it is needed.
 * Ownership: nvml_open gives an owned handle.
 * Threads:   safe, as the library is.
 * Errors:    ERR_UNAVAILABLE without the library or the card. A value that the card does not tell is -1.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_NVML_H
#define CE_AGENT_NODE_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/* Bits of nvml_reading.reasons. */
enum {
    NVML_IDLE = 0x1,
    NVML_APPLICATION_CLOCKS = 0x2,
    NVML_SW_POWER = 0x4,
    NVML_HW_SLOWDOWN = 0x8,
    NVML_SYNC_BOOST = 0x10,
    NVML_SW_THERMAL = 0x20,
    NVML_HW_THERMAL = 0x40,
    NVML_HW_BRAKE = 0x80,
    NVML_DISPLAY_CLOCKS = 0x100
};

typedef struct nvml nvml;

/* What does not change while a candidate is timed. */
typedef struct nvml_facts {
    char driver[96], vbios[64];
    int64_t ecc, mig, persistence, display; /* 1, 0; -1: not told */
    int64_t mps; /* 1: kernels of several processes may run at once; 0: not seen; -1: not told */
    int64_t power_limit_mw;
    int64_t sm_default_mhz, sm_max_mhz,
        memory_max_mhz; /* default: application clock, else maximum */
} nvml_facts;

typedef struct nvml_reading {
    int64_t at_us; /* monotonic; the caller's */
    int64_t sm_mhz, memory_mhz, power_mw, celsius;
    int64_t reasons; /* NVML_… bits */
    int64_t foreign; /* computing processes that are not ours; -1: our own are not listed either */
} nvml_reading;

nvml *nvml_open(const char *uuid, err *e);
void nvml_close(nvml **self);
void nvml_get_facts(const nvml *self, nvml_facts *out);
void nvml_read(const nvml *self, nvml_reading *out);

#endif
