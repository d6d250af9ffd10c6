/* metrics - what a Prometheus server is told
 *
 * Purpose:   counters and gauges with the prefix ce_, read from the database, so that they say what it
 *            says, and gauges of this moment that the coordinator sets. Labels are suite, outcome,
 *            state, kind, provider, model, never a run or a task. The text is made beside the requests:
 *            a scrape copies it.
 * Ownership: metrics_create gives an owned object.
 * Threads:   metrics_set, metrics_copy from any thread; metrics_refresh from one.
 * Errors:    a database that cannot be read leaves the text as it was; its age grows and is told.
 *
 * Forms: https://prometheus.io/docs/instrumenting/exposition_formats (text 0.0.4) and OpenMetrics 1.0.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_METRICS_H
#define CE_DASHBOARDS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "store/store.h"

enum {
    METRICS_TEXT_MAX = 1024 * 1024,
    METRICS_PACE_MS = 1000, /* totals are at most this old … */
    METRICS_SHARE = 50      /* … unless reading them takes more than one part in so many */
};

/* Gauges of this moment; NaN or never set: not shown. */
typedef enum metrics_gauge {
    METRICS_LEASES_ACTIVE,
    METRICS_QUEUE_WAITING,
    METRICS_NODES_CONNECTED,
    METRICS_LOOP_LAG,
    METRICS_BUDGET_REMAINING,
    METRICS_EVENT_STREAMS,
    METRICS_GAUGES
} metrics_gauge;

typedef struct metrics metrics;

metrics *metrics_create(const char *version);
void metrics_destroy(metrics **self);
void metrics_set(metrics *self, metrics_gauge which, double value);
/* metrics_refresh reads the totals anew when `news` came since the last time and it is time to. */
void metrics_refresh(metrics *self, store *db, bool news, int64_t now_ms);
/* metrics_copy appends the newest text in one of the two forms. */
void metrics_copy(metrics *self, bool openmetrics, int64_t now_ms, buf *out);

#endif
