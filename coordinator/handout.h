/* handout - tasks out to nodes, and back
 *
 * Purpose:   the life of a lease: granted (sent at once), ended by a result, given back, lost with its
 *            node, cancelled. Every step is a store job; all but the grant are one first.
 * Ownership: acts on a coord.
 * Threads:   the loop's.
 * Errors:    a store that fails stops the coordinator (COORD_BROKEN).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_HANDOUT_H
#define CE_COORDINATOR_HANDOUT_H

#include "coordinator/coord.h"
#include "store/node.h"
#include "store/task.h"

enum { HANDOUT_SLOW_MS = 15 * 60 * 1000 /* a lease this old is told */ };

/* handout_dispatch gives waiting tasks to nodes that have room. */
void handout_dispatch(coord *c);
/* handout_claim: a node says that it has a task still. It is told by cancel when it may not. */
void handout_claim(coord *c, size_t number, const struct msg_claim *claim);
/* handout_tick ends what nobody renewed: silent nodes, overdue leases. */
void handout_tick(coord *c, int64_t now_ms);
void handout_renew_all(coord *c, int64_t now_ms);
/* handout_lose_node ends a node's leases and forgets the node; state says how it went. */
void handout_lose_node(coord *c, size_t number, node_state state, const char *reason);
/* handout_replace_node does so for a node that registers anew. same: the very process over another
 * connection, which is no fault of its tasks. claims: it will claim tasks, which are kept back for it. */
void handout_replace_node(coord *c, size_t number, bool same, bool claims);
/* handout_cancel_all takes every task in flight back. */
void handout_cancel_all(coord *c);

/* How a lease ends without a result. */
typedef struct handout_return {
    size_t task;
    int64_t token;
    task_ending ending;
    bool failure; /* counts against the task */
    bool final;   /* no further try */
    bool lost;    /* with its node; alone: which had nothing else */
    bool alone;
    bool park;    /* for a node that will claim it */
    bool parting; /* it can be claimed before this is durable */
    char node[NODES_NAME];
    char text[ERR_TEXT_MAX];
} handout_return;
/* handout_end: the lease has left the table; records it. ack may be NULL: who is told when it is durable,
 * and the sequence to name. */
typedef struct handout_ack {
    peer_id peer;
    uint64_t seq;
} handout_ack;
void handout_end(coord *c, const handout_return *how, const handout_ack *ack);
/* handout_holder: the number of a task whose lease is that token, else SCHED_NONE and e. */
size_t handout_holder(coord *c, const char *id, int64_t token, err *e);
/* handout_acknowledge sends an ack; why NULL: success. */
void handout_acknowledge(coord *c, const handout_ack *ack, const err *why);

#endif
