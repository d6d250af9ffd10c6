/* sse - server-sent events from any slicing of bytes
 *
 * Purpose:   turns a text/event-stream body into (event name, data) pairs. Line ends LF, CRLF and CR, a
 *            byte order mark, comments, several data lines an event, fields that mean nothing here: all
 *            as the standard says. An event that the stream's end cuts off is none.
 * Ownership: an embedded value; sse_fini frees. What the event function gets is borrowed for the call.
 * Threads:   one owner.
 * Errors:    ERR_LIMIT for an event past the maximum; what the event function refuses is passed on.
 *            After an error the parser takes nothing more.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_SSE_H
#define CE_PROVIDERS_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"

enum { SSE_NAME_MAX = 128 };

/* name is "" when the event has none; data is NUL-terminated and may hold further NULs. */
typedef int sse_event_fn(void *arg, const char *name, const char *data, size_t size, err *e);

typedef struct sse {
    buf line, data;
    char name[SSE_NAME_MAX];
    bool has_data;  /* an empty data line counts */
    bool after_cr;  /* a LF that follows belongs to it */
    bool past_mark; /* the place of a byte order mark is behind us */
    bool broken;
    sse_event_fn *event;
    void *arg;
} sse;

/* sse_init: no line and no event may be longer than event_max bytes. */
void sse_init(sse *self, size_t event_max, sse_event_fn *event, void *arg);
void sse_fini(sse *self);
/* sse_feed takes the next bytes and calls the event function for each event that they complete. */
int sse_feed(sse *self, const char *bytes, size_t size, err *e);

#endif
