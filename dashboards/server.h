/* server - the server of the live page
 *
 * Purpose:   answers GET: the page's files, its data (view.h), one event stream a page (feed.h),
 *            /metrics, /healthz, /readyz. Loopback by default; off loopback with a token. It has threads
 *            of its own and reads the database beside its owner: whoever schedules work never waits for
 *            a page.
 * Ownership: server_start gives an owned object; what its options name is borrowed until server_destroy.
 * Threads:   server_tick from one thread; the rest from the owner's.
 * Errors:    ERR_USAGE: the address or the token; ERR_UNAVAILABLE: it cannot listen there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_SERVER_H
#define CE_DASHBOARDS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dashboards/feed.h"
#include "dashboards/metrics.h"

enum {
    SERVER_THREADS = 3,
    SERVER_CONNECTIONS = 320,    /* at once, all kinds */
    SERVER_STREAMS = 256,        /* of them event streams */
    SERVER_REQUEST = 32 * 1024,  /* bytes of a request's head, and of an answer's buffer */
    SERVER_IDLE_S = 30,          /* a connection on which nothing moves is closed */
    SERVER_STILL_HERE_MS = 15000 /* a silent stream gets a comment */
};

typedef struct server_options {
    const char *address; /* as typed: visitor.h */
    const char *token;   /* NULL: none */
    store *db;
    metrics *metrics;
} server_options;

typedef struct server server;

/* server_start listens, and answers all but event streams until server_stream says where events come from. */
server *server_start(const server_options *options, err *e);
void server_stream(server *self, feed *from);
const char *server_url(const server *self); /* of the page, with the real port */
/* server_tick wakes the streams that have something to say. */
void server_tick(server *self, bool news, int64_t now_ms);
size_t server_streams(server *self);
/* server_stop answers nobody any more: the feed may go then. server_tick is harmless after it. */
void server_stop(server *self);
void server_destroy(server **self);

#endif
