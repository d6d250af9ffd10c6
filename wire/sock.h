/* sock - ROUTER and DEALER sockets that carry messages (libzmq inside)
 *
 * Purpose:   the coordinator's ROUTER and the nodes' DEALERs; whole messages in and out, never blocking.
 *            Plain transport exists only inside one host: ipc:// and loopback tcp://. Beyond it, and
 *            for curve://HOST:PORT, which is tcp:// that is encrypted everywhere, both sides need keys.
 * Ownership: sock_create borrows the context, which must outlive its sockets. A received message is the
 *            caller's (message_fini); sending borrows.
 * Threads:   a context is shared by all threads; a socket belongs to one.
 * Errors:    ERR_PROTOCOL: a peer sent something malformed, the socket goes on working;
 *            ERR_NOT_FOUND: ROUTER, the peer is gone; ERR_UNAVAILABLE with retry: nothing was sent, as
 *            there is no connection yet or the queue is full; ERR_USAGE: an endpoint of a wrong form
 *            or beyond this host; ERR_CONFLICT: the endpoint is taken.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_SOCK_H
#define CE_WIRE_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/curve.h"
#include "wire/message.h"

enum {
    SOCK_PEER_MAX = 32,                 /* bytes of a peer's identity */
    SOCK_MESSAGE_MAX = 2 * 1024 * 1024, /* of one message between node and coordinator */
    SOCK_QUEUE = 256                    /* messages queued each way per peer, unless options say */
};

typedef struct sock_ctx sock_ctx;
typedef struct sock sock;

typedef enum sock_kind { SOCK_ROUTER, SOCK_DEALER } sock_kind;

typedef struct sock_options {
    int queue;     /* 0: SOCK_QUEUE */
    int linger_ms; /* destroying waits this long for unsent messages; 0: drops them */
    /* A ROUTER: its pair; a DEALER: its pair and the coordinator it trusts. NULL: plain only. */
    const curve_file *key;
} sock_options;

/* Who sent it: valid as long as that peer stays connected; a DEALER socket has a fresh one. */
typedef struct peer_id {
    uint8_t bytes[SOCK_PEER_MAX];
    size_t size;
    bool secure;   /* came in by CURVE: `key` is whose it is */
    curve_key key; /* zero when plain */
} peer_id;

bool peer_id_equal(const peer_id *a, const peer_id *b);

sock_ctx *sock_ctx_create(err *e);
void sock_ctx_destroy(sock_ctx **self); /* after its sockets; waits for their linger time */
/* sock_ctx_zmq is for zap.c. */
void *sock_ctx_zmq(sock_ctx *self);

/* sock_create: options may be NULL. */
sock *sock_create(sock_ctx *ctx, sock_kind kind, const sock_options *options, err *e);
void sock_destroy(sock **self);

/* sock_bind takes "ipc://PATH", "tcp://127.0.0.1:PORT", "curve://HOST:PORT"; PORT may be * for a free one. */
int sock_bind(sock *self, const char *endpoint, err *e);
/* sock_is_secure: would this endpoint be encrypted? True for what leaves the host and for curve://. */
bool sock_is_secure(const char *endpoint);
/* sock_connect returns at once; the connection is made (again and again) in the background. */
int sock_connect(sock *self, const char *endpoint, err *e);
/* sock_endpoint is what was bound last, with the real port; "" before. */
const char *sock_endpoint(const sock *self);

/* sock_send never blocks. `to` is for ROUTER only, else NULL. */
int sock_send(sock *self, const peer_id *to, const message *m, err *e);
/* sock_recv never blocks: 1 = *out (and *from on a ROUTER; may be NULL on a DEALER), 0 = nothing there,
 * -1 = err; with ERR_PROTOCOL *from is set too (size 0: the identity itself was bad). */
int sock_recv(sock *self, peer_id *from, message *out, err *e);

/* What became of connections; sock_watch switches it on, before bind or connect. sock_event takes the next
 * one, SOCK_QUIET when there is none. */
typedef enum sock_news {
    SOCK_QUIET,
    SOCK_UP,      /* a handshake succeeded */
    SOCK_REFUSED, /* the other side knows our key and does not want it */
    SOCK_PLAIN,   /* one side wants CURVE, the other has no key */
    SOCK_ODD      /* the handshake failed: another coordinator key, or no ce at all */
} sock_news;
int sock_watch(sock *self, err *e);
sock_news sock_event(sock *self);

/* sock_wait waits up to timeout_ms (-1: for ever) until sock_recv has something. */
bool sock_wait(sock *self, int64_t timeout_ms);
/* sock_readable says whether sock_recv has something now. */
bool sock_readable(sock *self);
/* sock_fd wakes a poll, but edge-triggered: ask sock_readable before every poll (wire/loop.h does). */
int sock_fd(const sock *self);

#endif
