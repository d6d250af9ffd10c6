/* loop - the event loop: descriptors, sockets, timers
 *
 * A ZeroMQ descriptor is edge-triggered: it becomes readable once when something happens and stays silent
 * afterwards, even with messages waiting; and sending on the socket may eat the edge. So the loop never
 * trusts it as a level: before each poll it asks every socket, and does not sleep when one has a
 * message. The descriptor only ends the sleep.
 *
 * Watches live in one array; handlers may add (it grows) and remove (the watch is marked dead), and the
 * dead are swept after each round. Watch i uses poll entry i; timers have descriptor -1 there.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/xalloc.h"

enum { BATCH = 64 /* messages of one socket before the others have their turn */ };

typedef enum watch_kind { WATCH_DEAD, WATCH_FD, WATCH_SOCK, WATCH_TIMER } watch_kind;

typedef struct watch {
    watch_kind kind;
    int id;
    int fd; /* -1: timer */
    sock *s;
    const loop_routes *routes;
    loop_fn *fn;
    void *arg;
    int64_t due;   /* timers: monotonic ms */
    int64_t every; /* timers: 0 = once */
} watch;

struct loop {
    watch *watches;
    struct pollfd *polls; /* entry i belongs to watch i */
    size_t count, room;
    int next_id;
    bool stopping;
};

loop *loop_create(void)
{
    loop *self = xcalloc(1, sizeof(*self));
    self->next_id = 1;
    return self;
}

void loop_destroy(loop **self)
{
    if (self == NULL || *self == NULL)
        return;
    free((*self)->watches);
    free((*self)->polls);
    free(*self);
    *self = NULL;
}

/* ---- watches ---- */

static int add(loop *self, watch w)
{
    if (self->count == self->room) {
        self->room = self->room == 0 ? 8 : self->room * 2;
        self->watches = xreallocarray(self->watches, self->room, sizeof(*self->watches));
        self->polls = xreallocarray(self->polls, self->room, sizeof(*self->polls));
    }
    w.id = self->next_id++;
    self->watches[self->count++] = w;
    return w.id;
}

int loop_add_fd(loop *self, int fd, loop_fn *fn, void *arg)
{
    return add(self, (watch){.kind = WATCH_FD, .fd = fd, .fn = fn, .arg = arg});
}

int loop_add_sock(loop *self, sock *s, const loop_routes *routes, void *arg)
{
    return add(self,
               (watch){.kind = WATCH_SOCK, .fd = sock_fd(s), .s = s, .routes = routes, .arg = arg});
}

int loop_add_timer(loop *self, int64_t after_ms, int64_t every_ms, loop_fn *fn, void *arg)
{
    return add(self, (watch){.kind = WATCH_TIMER,
                             .fd = -1,
                             .due = clock_mono_ms() + after_ms,
                             .every = every_ms,
                             .fn = fn,
                             .arg = arg});
}

void loop_remove(loop *self, int id)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->watches[i].id == id)
            self->watches[i].kind = WATCH_DEAD;
}

static void sweep(loop *self)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->watches[i].kind != WATCH_DEAD)
            self->watches[kept++] = self->watches[i];
    self->count = kept;
}

/* ---- one round ---- */

/* patience is how long poll may sleep: until the caller's limit, the next timer, or not at all. */
static int64_t patience(const loop *self, int64_t timeout_ms)
{
    int64_t now = clock_mono_ms();
    int64_t wait = timeout_ms;
    for (size_t i = 0; i < self->count; i++) {
        const watch *w = &self->watches[i];
        int64_t left = -1;
        if (w->kind == WATCH_TIMER)
            left = w->due > now ? w->due - now : 0;
        else if (w->kind == WATCH_SOCK && sock_readable(w->s))
            left = 0;
        if (left >= 0 && (wait < 0 || left < wait))
            wait = left;
    }
    return wait;
}

static int sleep_until_event(loop *self, int64_t timeout_ms, err *e)
{
    for (size_t i = 0; i < self->count; i++)
        self->polls[i] = (struct pollfd){.fd = self->watches[i].fd, .events = POLLIN};
    int64_t wait = patience(self, timeout_ms);
    int n = poll(self->polls, self->count, wait > INT32_MAX ? INT32_MAX : (int)wait);
    if (n < 0 && errno != EINTR)
        return err_errno(e, errno, "cannot wait for events");
    for (size_t i = 0; i < self->count; i++) {
        if (n < 0)
            self->polls[i].revents = 0;
        if (self->polls[i].revents & POLLNVAL)
            return err_set(e, ERR_INTERNAL, "descriptor %d was closed while the loop watches it",
                           self->polls[i].fd);
    }
    return 0;
}

static loop_message_fn *route_for(const loop_routes *routes, message_type type)
{
    for (const loop_route *r = routes->table; r->type != 0; r++)
        if (r->type == type)
            return r->fn;
    return NULL;
}

static void refuse(const watch *w, const peer_id *from, const err *why)
{
    if (w->routes->bad != NULL)
        w->routes->bad(w->arg, from, why);
}

static void deliver(const watch *w, const peer_id *from, message *m)
{
    loop_message_fn *fn = route_for(w->routes, m->type);
    if (fn != NULL) {
        fn(w->arg, from, m);
        return;
    }
    err why = {0};
    err_set(&why, ERR_PROTOCOL, "%s is not expected here", message_name(m->type));
    refuse(w, from, &why);
}

/* drain hands on what a socket has, up to BATCH messages. The watch is copied: a handler may add. */
static int drain(loop *self, size_t index, err *e)
{
    watch w = self->watches[index];
    for (int i = 0; i < BATCH && self->watches[index].kind == WATCH_SOCK && !self->stopping; i++) {
        peer_id peer = {.size = 0};
        message m;
        err why = {0};
        int rc = sock_recv(w.s, &peer, &m, &why);
        const peer_id *from = peer.size > 0 ? &peer : NULL;
        if (rc == 0)
            break;
        if (rc > 0) {
            deliver(&w, from, &m);
            message_fini(&m);
        } else if (why.code == ERR_PROTOCOL) {
            refuse(&w, from, &why);
        } else {
            if (e != NULL)
                *e = why;
            return -1;
        }
    }
    return 0;
}

/* A late periodic timer skips what it missed: no burst follows a long handler. */
static void fire(loop *self, size_t index, int64_t now)
{
    watch *w = &self->watches[index];
    watch copy = *w;
    if (w->every == 0)
        w->kind = WATCH_DEAD;
    else
        w->due = w->due + w->every > now ? w->due + w->every : now + w->every;
    copy.fn(copy.arg);
}

static int dispatch(loop *self, size_t index, int64_t now, err *e)
{
    const watch *w = &self->watches[index];
    switch (w->kind) {
    case WATCH_FD:
        if (self->polls[index].revents != 0)
            w->fn(w->arg);
        return 0;
    case WATCH_SOCK:
        return drain(self, index, e);
    case WATCH_TIMER:
        if (w->due <= now)
            fire(self, index, now);
        return 0;
    case WATCH_DEAD:
        return 0;
    }
    return 0;
}

int loop_step(loop *self, int64_t timeout_ms, err *e)
{
    sweep(self);
    if (sleep_until_event(self, timeout_ms, e) < 0)
        return -1;
    int64_t now = clock_mono_ms();
    size_t count = self->count; /* what a handler adds has its turn in the next round */
    for (size_t i = 0; i < count && !self->stopping; i++)
        if (dispatch(self, i, now, e) < 0)
            return -1;
    return 0;
}

int loop_run(loop *self, err *e)
{
    int rc = 0;
    while (rc == 0 && !self->stopping)
        rc = loop_step(self, -1, e);
    self->stopping = false;
    return rc;
}

void loop_stop(loop *self)
{
    self->stopping = true;
}
