/* loop - the event loop: descriptors, sockets, timers
 *
 * Purpose:   one thread that owns its state and waits in one place. A descriptor may be an eventfd, a
 *            signalfd, a pidfd or a queue's; sockets dispatch messages by a table.
 * Ownership: the loop borrows descriptors, sockets, tables and args until loop_remove or loop_destroy.
 * Threads:   everything on the loop's own thread; others wake it through an eventfd or a queue.
 * Errors:    loop_run returns -1 when poll or a socket fails; a peer's malformed message is no such
 *            failure and goes to the table's `bad`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_LOOP_H
#define CE_WIRE_LOOP_H

#include <stdint.h>

#include "common/err.h"
#include "wire/message.h"
#include "wire/sock.h"

typedef struct loop loop;
typedef void loop_fn(void *arg);
/* `from` is NULL on a DEALER. The handler may move fields out of m; the loop finishes what is left. */
typedef void loop_message_fn(void *arg, const peer_id *from, message *m);
typedef void loop_bad_fn(void *arg, const peer_id *from, const err *why);

typedef struct loop_route {
    message_type type; /* 0 ends the table */
    loop_message_fn *fn;
} loop_route;

/* What a socket takes: a message that is not in the table goes to `bad` as ERR_PROTOCOL. */
typedef struct loop_routes {
    const loop_route *table;
    loop_bad_fn *bad;
} loop_routes;

loop *loop_create(void);
void loop_destroy(loop **self);

/* Each add returns an id for loop_remove, which handlers may call too. */
/* loop_add_fd calls fn whenever fd is readable, closed or broken (level-triggered). */
int loop_add_fd(loop *self, int fd, loop_fn *fn, void *arg);
int loop_add_sock(loop *self, sock *s, const loop_routes *routes, void *arg);
/* loop_add_timer calls fn after after_ms, then every every_ms (0: once, then the id is free). */
int loop_add_timer(loop *self, int64_t after_ms, int64_t every_ms, loop_fn *fn, void *arg);
void loop_remove(loop *self, int id);

/* loop_run goes on until loop_stop. */
int loop_run(loop *self, err *e);
/* loop_step waits up to timeout_ms (-1: for ever) for events and handles them once. */
int loop_step(loop *self, int64_t timeout_ms, err *e);
void loop_stop(loop *self);

#endif
