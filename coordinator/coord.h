/* coord - the coordinator of one run: a loop, a socket, and what they act on
 *
 * Purpose:   ties nodes, leases, the scheduler and the store together until every task of the run is
 *            done, a contract fails, or somebody stops it. The loop never touches a disk: it submits
 *            store jobs (writer.h) and goes on when they are durable.
 * Ownership: borrows store and run until coord_destroy. The members are for coord.c, handout.c and
 *            api.c; everybody else uses the functions.
 * Threads:   one owner, which is the loop's thread.
 * Errors:    coord_create: what binding says. coord_run: -1 when the harness itself failed; what was
 *            recorded before stays, and the run can be resumed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_COORD_H
#define CE_COORDINATOR_COORD_H

#include <stdbool.h>

#include "common/id.h"
#include "coordinator/lease.h"
#include "coordinator/nodes.h"
#include "coordinator/run.h"
#include "coordinator/writer.h"
#include "store/store.h"
#include "wire/blob.h"
#include "wire/loop.h"
#include "wire/sock.h"

enum {
    COORD_CACHE_BYTES = 64 * 1024 * 1024,  /* blobs kept in memory for the next node that asks */
    COORD_INBOX_BYTES = 256 * 1024 * 1024, /* blobs on their way in, all nodes together */
    COORD_TICK_MS = 100
};

/* How the work on a run ended. */
typedef enum coord_end {
    COORD_GOES_ON,
    COORD_FINISHED,    /* nothing is left to do */
    COORD_REFUSED,     /* a contract failed: the run must not be */
    COORD_INTERRUPTED, /* somebody said stop; resumable */
    COORD_BROKEN       /* the harness failed; resumable */
} coord_end;

typedef struct coord_options {
    store *store;
    run *run;
    const char *bind;     /* a further endpoint for nodes that join; NULL: none */
    int64_t lost_ms;      /* a node silent this long is lost */
    const char *keys;     /* folder of keys, for nodes from other hosts; NULL: none join */
    const char *endpoint; /* ipc://… for this host; NULL: a private one */
    /* A coordinator that outlives its runs (service.h): told when a run has ended, instead of leaving. */
    struct service *service;
    void (*ended)(void *service, coord_end end);
} coord_options;

struct paid;
struct service;
struct guard;

typedef struct coord {
    coord_options options;
    char instance[ID_TEXT];
    char *folder;   /* private, holds the socket file */
    char *endpoint; /* ipc://folder/coord */
    char *joined;   /* the further endpoint with its real port; NULL: none */
    sock_ctx *context;
    sock *router;
    loop *events;
    struct guard *guard; /* NULL: no endpoint needs keys */
    nodes *nodes;
    lease_table *leases;
    writer *writer;
    blob_store *cache;
    blob_inbox *inbox;
    struct paid *paid;       /* money and providers, over all nodes */
    uint64_t seq;            /* of messages sent */
    int64_t last_tick_ms;    /* monotonic */
    int64_t parked_until_ms; /* monotonic: what an earlier coordinator handed out can be claimed */
    uint64_t reach_seen;     /* state of the nodes that reach.h has looked at */
    bool opening; /* the run that nodes may have tasks of is being read: no node is let in yet */
    bool idle;    /* no run is at work; service only */
    bool running; /* the store says RUN_RUNNING: contracts have passed */
    coord_end end;
    err why; /* COORD_REFUSED, COORD_BROKEN */
} coord;

coord *coord_create(const coord_options *options, err *e);
void coord_destroy(coord **self);

/* coord_run works until the end; -1 only for COORD_BROKEN. */
int coord_run(coord *self, coord_end *end, err *e);
/* coord_stop ends the work: nothing more is handed out, tasks in flight are cancelled. The first reason
 * stands. why may be NULL. */
void coord_stop(coord *self, coord_end end, const err *why);
/* coord_take_run begins work on another run, or on none: one without tasks. No lease is left of the run
 * before it. */
void coord_take_run(coord *self, run *next);
/* coord_lose_node: the named node is dead (its process exited); its leases end now. */
void coord_lose_node(coord *self, const char *name, const char *reason);
/* coord_goodbye tells every node to leave. */
void coord_goodbye(coord *self, const char *text);

/* coord_submit is writer_submit; a refused job breaks the coordinator, as nothing can be recorded. */
int coord_submit(coord *self, store_fn *fn, void *arg, writer_next_fn *next);
/* coord_send numbers and sends m (finishing it); false when that peer is gone. */
bool coord_send(coord *self, const peer_id *to, message *m);
/* coord_cache keeps a blob in memory for the next node that asks; when the cache is full it starts over. */
void coord_cache(coord *self, const void *data, size_t size);
/* coord_progressed: something was recorded; looks whether the run is released or finished. */
void coord_progressed(coord *self);

#endif
