/* http - the server of the live page
 *
 * Purpose:   answers GET: the page's files, its data (view.h), one event stream a page (feed.h),
 *            /metrics, /healthz, /readyz. Loopback by default; off loopback with a token. It has threads
 *            of its own and reads the database beside its owner: whoever schedules work never waits for
 *            a page.
 * Ownership: http_start gives an owned object; what its options name is borrowed until http_destroy.
 * Threads:   http_tick from one thread; the rest from the owner's.
 * Errors:    ERR_USAGE: the address or the token; ERR_UNAVAILABLE: it cannot listen there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_HTTP_H
#define CE_DASHBOARDS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dashboards/feed.h"
#include "dashboards/metrics.h"

enum {
    HTTP_THREADS = 3,
    HTTP_CONNECTIONS = 320,    /* at once, all kinds */
    HTTP_STREAMS = 256,        /* of them event streams */
    HTTP_REQUEST = 32 * 1024,  /* bytes of a request's head, and of an answer's buffer */
    HTTP_IDLE_S = 30,          /* a connection on which nothing moves is closed */
    HTTP_STILL_HERE_MS = 15000 /* a silent stream gets a comment */
};

typedef struct http_options {
    const char *address; /* as typed: guard.h */
    const char *token;   /* NULL: none */
    store *db;
    metrics *metrics;
} http_options;

typedef struct http http;

/* http_start listens, and answers all but event streams until http_stream says where events come from. */
http *http_start(const http_options *options, err *e);
void http_stream(http *self, feed *from);
const char *http_url(const http *self); /* of the page, with the real port */
/* http_tick wakes the streams that have something to say. */
void http_tick(http *self, bool news, int64_t now_ms);
size_t http_streams(http *self);
/* http_stop answers nobody any more: the feed may go then. http_tick is harmless after it. */
void http_stop(http *self);
void http_destroy(http **self);

#endif
