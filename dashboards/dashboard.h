/* dashboard - the live page of a database: server, feed and metrics together
 *
 * Purpose:   what a coordinator starts with --http. Everything shown comes from the database; what is
 *            only true at this moment the coordinator says by dashboard_set and dashboard_gauge.
 * Ownership: dashboard_start gives an owned object, which opens the database for reading itself.
 * Threads:   dashboard_set and dashboard_gauge never wait for a page, a disk or a network.
 * Errors:    as server.h and store.h say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_DASHBOARD_H
#define CE_DASHBOARDS_DASHBOARD_H

#include "dashboards/feed.h"
#include "dashboards/metrics.h"

typedef struct dashboard_options {
    const char *address; /* PORT or HOST:PORT */
    const char *token;   /* NULL: none; required off loopback */
    const char *db;      /* path; the file must exist */
    const char *version; /* of ce */
} dashboard_options;

typedef struct dashboard dashboard;

dashboard *dashboard_start(const dashboard_options *options, err *e);
void dashboard_destroy(dashboard **self);
const char *dashboard_url(const dashboard *self);
void dashboard_set(dashboard *self, feed_topic topic, const char *text);
void dashboard_gauge(dashboard *self, metrics_gauge which, double value);

#endif
