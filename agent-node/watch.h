/* watch - the state of a card while something is timed on it
 *
 * Purpose:   reads clocks, throttle reasons and foreign processes in a thread of its own every few
 *            milliseconds and at block edges, and says which pairs of blocks do not count.
 * Ownership: watch_start gives an owned watch; watch_stop ends its thread.
 * Threads:   one owner; the readings are behind a lock.
 * Errors:    a card without NVML is no error: `unavailable` says why, and no verdict is given on it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_WATCH_H
#define CE_AGENT_NODE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/nvml.h"
#include "common/json.h"

typedef struct watch watch;

typedef struct watch_options {
    const char *kind; /* of the device: "cuda" asks NVML, "fake" a script */
    const char *uuid;
    const char *fake_script; /* "fake": its "state" members; NULL: all is well */
    const char *problem;     /* "fake": whose entry of the script */
} watch_options;

/* What the readings between two moments say. */
typedef struct watch_span {
    size_t readings;    /* all */
    size_t busy;        /* of them, while the card was not idle: only their clocks count */
    double sm_mean_mhz; /* of the busy ones; NaN: none */
    int64_t sm_min_mhz; /* -1: none */
    int64_t reasons;    /* all bits that were set */
    int64_t foreign;    /* the most; -1: not known */
} watch_span;

watch *watch_start(const watch_options *options);
void watch_stop(watch **self);
/* watch_unavailable: why nothing is known of the card, or NULL. */
const char *watch_unavailable(const watch *self);
/* watch_refuses: why nothing may be timed on this card now (MIG, display, foreign process), or NULL. */
const char *watch_refuses(watch *self);
/* watch_calm: the SM clocks of the last two readings of a busy card are within 2 %, or there are none. */
bool watch_calm(watch *self);
bool watch_is_calm(const nvml_reading *readings,
                   size_t count); /* the same of given ones, oldest first */
/* watch_edge takes a reading now and gives its moment. */
int64_t watch_edge(watch *self);
void watch_between(watch *self, int64_t from_us, int64_t to_us, watch_span *out);
/* watch_void: why a pair of blocks does not count: "throttle", "contention", or NULL. */
const char *watch_void(const watch *self, const watch_span *a, const watch_span *b);
/* watch_json is {"facts": …, "foreign_check": …, "readings": [[µs, SM, memory, mW, °C, reasons, foreign]…]}. */
json *watch_json(watch *self);
json *watch_span_json(const watch_span *span);

#endif
