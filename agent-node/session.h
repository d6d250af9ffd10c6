/* session - a node's connection to its coordinator
 *
 * Purpose:   registers the node, takes leases, carries what task threads send and brings back the
 *            answers; a second thread with its own socket beats, carrying the age of the loop's last
 *            tick, so that a wedged loop is seen and a busy host is not.
 * Ownership: session_create borrows everything in the options until session_destroy.
 * Threads:   session_run is the loop thread. session_call, session_post and session_free_slot are for
 *            any thread; the callbacks run on the loop thread and must not block.
 * Errors:    session_run fails when the coordinator refuses the node for good. A call fails with the
 *            coordinator's own code (ERR_CONFLICT: the lease is not ours any more), or ERR_UNAVAILABLE when
 *            the session ends. An outage of any length is waited out. A coordinator that forgot the node or was restarted is
 *            told which tasks are here and gets again what it did not answer: callers notice nothing
 *            unless it has given their task to somebody else.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SESSION_H
#define CE_AGENT_NODE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/item.h"
#include "common/err.h"
#include "wire/curve.h"
#include "wire/message.h"

enum { SESSION_QUEUE = 1024, SESSION_PATIENCE_MS = 120000 };

typedef struct session session;

/* What the node does when the coordinator speaks. */
typedef struct session_events {
    void (*lease)(void *arg, message *lease);    /* may move the body out */
    void (*cancel)(void *arg, const char *task); /* NULL: every task */
    void (*claim)(void *arg);                    /* session_claim every task that is still wanted */
    void (*measure)(void *arg, message *m);      /* may move the body out; NULL: not asked for */
    void (*drain)(void *arg, int how);           /* messages.def says which is which */
    void *arg;
} session_events;

typedef struct session_options {
    const char *coordinator; /* endpoint */
    const curve_file *key;   /* NULL: plain */
    const char *node;        /* name */
    int64_t slots;
    const char *software; /* JSON object of versions */
    const struct row_device *devices;
    size_t device_count;
    bool spooled;        /* it will claim tasks of an earlier process of this name */
    int64_t patience_ms; /* what is not answered so long is sent again; 0: SESSION_PATIENCE_MS */
    session_events events;
} session_options;

session *session_create(const session_options *options, err *e);
void session_destroy(session **self);

/* session_run serves until the coordinator says bye or session_stop. */
int session_run(session *self, err *e);
/* session_stop ends session_run from any thread or from a signal descriptor's handler. */
void session_stop(session *self);
/* session_claim tells the coordinator that a task is still here. Only while events.claim runs. */
void session_claim(session *self, const char *task, int64_t token);
/* session_drain: no further tasks are asked for. For the loop thread. */
void session_drain(session *self);
/* session_watch calls fn on the loop thread whenever fd is readable. */
void session_watch(session *self, int fd, void (*fn)(void *arg), void *arg);

/* session_call sends m (consumed) and waits for the message that answers it. An ack that carries a code
 * becomes that error. */
int session_call(session *self, message *m, message *reply, err *e);
/* session_ask and session_await are its two halves: between them the caller works on. A ticket is awaited
 * or forgotten once; both null it. */
typedef struct session_ticket session_ticket;
session_ticket *session_ask(session *self, message *m, err *e);
int session_await(session_ticket **ticket, message *reply, err *e);
void session_forget(session_ticket **ticket);
/* session_post sends m (consumed), which nobody answers. */
int session_post(session *self, message *m, err *e);
/* session_try_post is session_post for the loop thread: it never waits for room. */
int session_try_post(session *self, message *m, err *e);
/* session_free_slot tells how many more tasks fit and how many run. When a task has ended the coordinator is
 * asked for as many, also when no more fit than before: a lease may have come in the same moment, and the
 * coordinator counts only what it was asked for. */
void session_free_slot(session *self, int64_t free, int64_t in_flight, bool ended);

#endif
