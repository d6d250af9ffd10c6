/* bound - what keeps a kernel from being faster, from what was measured of it
 *
 * Purpose:   one word out of five from spans and counters, by rules in an order: launch (most of the time is
 *            no work of a kernel), memory or compute (a pipeline is busy at 80 % of its peak or more, the
 *            busier one counts), tail (more blocks than multiprocessors, yet those work far less, on
 *            average, than the busiest one), memory or compute from 60 % on, compute too when warps are
 *            mostly ready while another one is issued, else latency (nothing is busy: too few blocks, or
 *            warps that wait).
 * Ownership: values.
 * Threads:   no shared state.
 * Errors:    none: BOUND_UNKNOWN where what the rules need was not measured.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_BOUND_H
#define CE_AGENT_NODE_BOUND_H

typedef enum bound {
    BOUND_UNKNOWN,
    BOUND_MEMORY,
    BOUND_COMPUTE,
    BOUND_LATENCY,
    BOUND_LAUNCH,
    BOUND_TAIL
} bound;

/* NaN: not measured. */
typedef struct bound_input {
    double span_ms, busy_ms, nodes; /* of one call */
    double empty_ms;                /* span of an empty kernel */
    double memory_pct, dram_pct;    /* busiest part of the memory pipeline; DRAM */
    double sm_pct;                  /* busiest part of the multiprocessors */
    double sm_active_share;         /* mean working time of multiprocessors, of the busiest one's */
    double blocks, sm_count;        /* of the longest kernel; of the device */
    double ready_share;             /* of the warps' time: ready, but another one was issued */
} bound_input;

bound bound_of(const bound_input *in);
/* bound_name: "memory", "compute", "latency", "launch", "tail"; NULL for BOUND_UNKNOWN. */
const char *bound_name(bound what);

#endif
