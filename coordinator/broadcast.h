/* broadcast - what the coordinator tells the live page
 *
 * Purpose:   a few times a second the counts, spend and work in flight of the run at work, the runs that
 *            wait, nodes and providers, as the topics and gauges of dashboards/dashboard.h. What has been
 *            recorded the page reads itself.
 * Ownership: broadcast_start gives an owned object that borrows the coord until broadcast_stop.
 * Threads:   the loop's.
 * Errors:    as dashboard_start says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_BROADCAST_H
#define CE_COORDINATOR_BROADCAST_H

#include "coordinator/coord.h"
#include "dashboards/dashboard.h"

enum { BROADCAST_MS = 250, BROADCAST_FLYING = 64 /* tasks in flight that are named */ };

typedef struct broadcast broadcast;

broadcast *broadcast_start(coord *of, const dashboard_options *options, err *e);
void broadcast_stop(broadcast **self);
const char *broadcast_url(const broadcast *self);

#endif
