/* nodes - who is connected, alive, and how much more it can take
 *
 * Purpose:   the register of nodes: hello, beats, credit, loss. A node is known by its data socket's
 *            identity; its heartbeat thread has a socket of its own and says name and instance.
 *            Time is a parameter: monotonic milliseconds.
 * Ownership: the register owns its rows; a number is valid until nodes_leave.
 * Threads:   one owner (the coordinator's loop).
 * Errors:    nodes_join says why a node may not join; the text names both protocol versions.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NODES_H
#define CE_COORDINATOR_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/need.h"
#include "wire/message.h"
#include "wire/sock.h"

enum {
    NODES_MAX = 4096,
    NODES_NAME = 65,
    NODES_INSTANCE = 33,
    NODES_DEVICES = 1024,
    NODES_BLAMES = 3,                /* failures on distinct tasks … */
    NODES_BLAME_MS = 10 * 60 * 1000, /* … within so long, and the node is quarantined for as long */
    NODES_CANARY_MS = 60 * 60 * 1000, /* a self-test so often … */
    NODES_DOUBT_MS =
        5 * 60 * 1000, /* … and so soon after one that failed, or when there is doubt */
};
#define NODES_NONE SIZE_MAX

typedef struct node {
    char name[NODES_NAME];
    char instance[NODES_INSTANCE];
    peer_id peer; /* its data socket */
    bool up;
    int64_t seen_ms;       /* newest sign of life of a node whose loop turns */
    int64_t slots, credit; /* as the node said last */
    int64_t held;          /* tasks it has of us */
    bool cuda, emu, fake;  /* a lane of that kind can run */
    need_device *lanes;    /* that can run, for what tasks need */
    size_t lane_count;
    bool alone;                   /* has a task that must be alone: gets no other */
    int64_t blames[NODES_BLAMES]; /* tasks that it gave back as failures, newest last, distinct */
    int64_t blamed_ms[NODES_BLAMES];
    size_t blame_count;
    int64_t quarantined_ms; /* when it was; 0: it is not */
    bool draining;          /* takes no further tasks */
    char *devices;          /* lanes that can run, for people */
    char *reason;           /* why a lane cannot, of the first such lane; NULL */
    struct row_card *cards; /* what is stored of its cards */
    size_t card_count;
    bool unread; /* what is stored of its cards is on its way: leases carry it, so they wait */
    int64_t tested_ms; /* when its newest self-test was asked for */
    bool doubted;      /* a candidate crashed or hung there since */
    int64_t untested;  /* cards whose self-test is awaited: it gets no task until it is 0 */
} node;

typedef struct nodes nodes;

nodes *nodes_create(void);
void nodes_destroy(nodes **self);

/* nodes_join registers a node. An older one of the same name must have left (see nodes_named). */
int nodes_join(nodes *self, const peer_id *peer, const struct msg_hello *hello, int64_t now_ms,
               size_t *out, err *e);
void nodes_leave(nodes *self, size_t number);
const node *nodes_get(const nodes *self, size_t number);

/* Numbers of connected nodes; NODES_NONE when there is none. */
size_t nodes_of_peer(const nodes *self, const peer_id *peer);
size_t nodes_named(const nodes *self, const char *name);
size_t nodes_next(const nodes *self, size_t after); /* NODES_NONE to begin; NODES_NONE at the end */
size_t nodes_count(const nodes *self);

/* nodes_beat: the node, or NODES_NONE when it must register again. A beat that says that the node's loop
 * has not turned for lost_ms is no sign of life: *alive is then false. */
typedef struct nodes_pulse {
    const peer_id *from; /* its key must be the node's */
    const struct msg_beat *beat;
} nodes_pulse;
size_t nodes_beat(nodes *self, const nodes_pulse *pulse, int64_t lost_ms, int64_t now_ms,
                  bool *alive);
/* nodes_seen: a message on the data socket is a sign of life too. */
void nodes_seen(nodes *self, size_t number, int64_t now_ms);
/* nodes_lost is a connected node without a sign of life for lost_ms, or NODES_NONE. */
size_t nodes_lost(const nodes *self, int64_t lost_ms, int64_t now_ms);
/* nodes_forgive: the coordinator itself slept; nobody is lost for that. */
void nodes_forgive(nodes *self, int64_t now_ms);

/* nodes_drain: it gets no further tasks. */
void nodes_drain(nodes *self, size_t number);
/* nodes_set_cards takes the rows. nodes_update_card copies what is new of a card to every node that has
 * it. */
void nodes_set_cards(nodes *self, size_t number, struct row_card *cards, size_t count);
void nodes_update_card(nodes *self, const struct row_card *card);
/* nodes_await_cards: the node gets no task before nodes_set_cards. */
void nodes_await_cards(nodes *self, size_t number);
/* nodes_await_tests: the node tests so many cards before it gets tasks; nodes_tested: one less. */
void nodes_await_tests(nodes *self, size_t number, int64_t cards);
void nodes_tested(nodes *self, size_t number);
/* nodes_doubt: a candidate crashed or hung there, which a card may not have survived as it was.
 * nodes_untested is a node whose self-test is due, or NODES_NONE; it counts as asked then. Not all: only those
 * that failed the one before, which have no other way back. */
void nodes_doubt(nodes *self, size_t number);
size_t nodes_untested(nodes *self, bool all, int64_t now_ms);
/* nodes_is_failing: the newest self-test of each of its cards said no. It gets tasks only while no other node
 * could have them, until a self-test passes. */
bool nodes_is_failing(const node *n);

void nodes_set_credit(nodes *self, size_t number, int64_t credit);
/* What a task wants of the node that gets it. */
typedef struct nodes_want {
    const char *device; /* auto, cuda, emu, fake */
    need_set needs;     /* of a lane of that kind */
    bool strict;        /* where no node fits, nobody gets it */
} nodes_want;
/* nodes_find is the connected node that may run such a task and has the most room. Room is credit, but never
 * more than slots not held: a pull that crossed a lease on its way does not count twice. Nodes with a lane
 * that fits come before all others; only when there is none such, and not when strict, may any node have
 * the task (it will say why it cannot). nodes_find_empty is one that has nothing. */
size_t nodes_find(const nodes *self, const nodes_want *want);
size_t nodes_find_empty(const nodes *self, const nodes_want *want);
/* nodes_take: it holds one task more; alone: it gets nothing else until nodes_release. */
void nodes_take(nodes *self, size_t number, bool alone);
/* nodes_fit: could a connected node run it, were there room? nodes_lanes lists the lanes of all nodes that take
 * tasks, as far as out has room; the result is how many there are. */
bool nodes_fit(const nodes *self, const nodes_want *want);
size_t nodes_lanes(const nodes *self, need_device *out, size_t max);
/* nodes_changes grows with every change of what nodes there are or take tasks. */
uint64_t nodes_changes(const nodes *self);
/* nodes_blame: it gave a task back as a failure. True when it is quarantined for that: too many of its tasks
 * fail while another node could do them. Its time over, it gets one task at a time until one succeeds. */
bool nodes_blame(nodes *self, size_t number, size_t task, const char *device, int64_t now_ms);
/* nodes_praise: one of its tasks has a result. */
void nodes_praise(nodes *self, size_t number);
/* nodes_tick lets nodes out of quarantine whose time is over. */
void nodes_tick(nodes *self, int64_t now_ms);
bool nodes_quarantined(const node *n);
/* nodes_hold: it has a task of an earlier time still. */
void nodes_hold(nodes *self, size_t number);
/* nodes_release: it holds one task less. */
void nodes_release(nodes *self, size_t number);

#endif
