/* dashboard - the order of starting and stopping
 *
 * The feed's thread is the clock of all: after each look it lets the totals be read anew, when it is
 * time, and wakes the streams. Views read by a connection of their own, so that a large answer does not
 * hold the feed up.
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/dashboard.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "dashboards/server.h"

struct dashboard {
    store *watched, *asked; /* the feed's and the totals'; the views' */
    metrics *metrics;
    server *server;
    feed *feed;
};

static void on_tick(void *arg, bool news)
{
    dashboard *self = arg;
    int64_t now = clock_mono_ms();
    metrics_refresh(self->metrics, self->watched, news, now);
    server_tick(self->server, news, now);
}

static int start(dashboard *self, const dashboard_options *options, err *e)
{
    const server_options wanted = {.address = options->address,
                                   .token = options->token,
                                   .db = self->asked,
                                   .metrics = self->metrics};
    self->server = server_start(&wanted, e);
    self->feed = self->server != NULL ? feed_create(self->watched, on_tick, self, e) : NULL;
    if (self->feed == NULL)
        return -1;
    server_stream(self->server, self->feed);
    return 0;
}

dashboard *dashboard_start(const dashboard_options *options, err *e)
{
    SCOPED(dashboard_destroy) dashboard *self = xcalloc(1, sizeof *self);
    self->metrics = metrics_create(options->version);
    self->watched = store_open(options->db, STORE_READ, e);
    self->asked = self->watched != NULL ? store_open(options->db, STORE_READ, e) : NULL;
    if (self->asked == NULL || start(self, options, e) < 0)
        return NULL;
    return TAKE(self);
}

void dashboard_destroy(dashboard **self)
{
    dashboard *d = *self;
    if (d == NULL)
        return;
    if (d->server != NULL)
        server_stop(d->server);
    feed_destroy(&d->feed);
    server_destroy(&d->server);
    store_destroy(&d->asked);
    store_destroy(&d->watched);
    metrics_destroy(&d->metrics);
    free(d);
    *self = NULL;
}

const char *dashboard_url(const dashboard *self)
{
    return server_url(self->server);
}

void dashboard_set(dashboard *self, feed_topic topic, const char *text)
{
    feed_set(self->feed, topic, text);
}

void dashboard_gauge(dashboard *self, metrics_gauge which, double value)
{
    metrics_set(self->metrics, which, value);
}
