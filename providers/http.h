/* http - POST requests to model providers (libcurl inside)
 *
 * Purpose:   one I/O thread drives every transfer of the process; a caller blocks until its own is over.
 *            HTTP/1.1, keep-alive, certificates checked, no redirect is followed, every size and time
 *            has a maximum. Proxies come from the usual variables (https_proxy, no_proxy, …); a loopback
 *            address is asked directly.
 * Ownership: http_destroy ends transfers in flight as cancelled. A request is borrowed for the call; a
 *            reply belongs to the caller (http_reply_fini).
 * Threads:   http_post may be called from any number of threads. A request's stream function runs on
 *            the I/O thread and must not block.
 * Errors:    a reply with any status is a success; `end` says how a transfer went that gave none or
 *            only a part of one. Texts name host and reason, never a header.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_HTTP_H
#define CE_PROVIDERS_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"

enum { HTTP_FIELDS_MAX = 128, HTTP_FIELD_MAX = 4096, HTTP_QUEUE_MAX = 4096 };

typedef struct http http;

/* A header field. In replies names are lower case. */
typedef struct http_field {
    const char *name, *value;
} http_field;

typedef enum http_end {
    HTTP_END_WHOLE,       /* a reply, to its end */
    HTTP_END_UNREACHABLE, /* no connection: name, route, handshake */
    HTTP_END_CERTIFICATE, /* the server is not who it should be */
    HTTP_END_CUT,         /* the connection broke before the reply's end */
    HTTP_END_IDLE,        /* no byte for idle_ms, or no connection for connect_ms */
    HTTP_END_LATE,        /* not finished within total_ms */
    HTTP_END_TOO_BIG,     /* more than body_max bytes */
    HTTP_END_STOPPED,     /* the stream function refused the rest */
    HTTP_END_CANCELLED,
    HTTP_END_FAILED /* anything else, never worth another try */
} http_end;

/* Gets the bytes of an event stream as they come; -1 ends the transfer. */
typedef int http_stream_fn(void *arg, const char *bytes, size_t size, err *e);

typedef struct http_request {
    const char *url;
    const http_field *fields; /* values are secrets: wiped after use */
    size_t field_count;
    const char *body; /* JSON */
    size_t body_size;
    size_t body_max;                       /* of the reply, unpacked */
    int64_t connect_ms, idle_ms, total_ms; /* all > 0 */
    const atomic_bool *cancelled;          /* NULL: never */
    http_stream_fn *stream;                /* NULL: every body is gathered in the reply */
    void *arg;
} http_request;

typedef struct http_reply {
    http_end end;
    int64_t status;     /* 0: none came */
    bool sent;          /* the request had left: the provider may have worked on it */
    bool streamed;      /* the body went to the stream function */
    http_field *fields; /* the first HTTP_FIELDS_MAX */
    size_t field_count;
    buf body;
    double first_byte_ms; /* NaN: none came */
} http_reply;
void http_reply_fini(http_reply *self);
/* http_reply_field is the value of the first field of that lower-case name, or NULL. */
const char *http_reply_field(const http_reply *self, const char *name);

/* http_create starts the I/O thread. ca_file NULL: the system's certificates. */
http *http_create(const char *ca_file, err *e);
void http_destroy(http **self);
/* http_post waits for the end of the transfer. On failure out still holds what is known. */
int http_post(http *self, const http_request *request, http_reply *out, err *e);

#endif
