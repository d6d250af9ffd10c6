/* coord - start, tick, stop
 *
 * Theory of operation. Handlers (api.c) and the lease's life (handout.c) change memory only after the
 * store has committed: a task waits again when its return is durable, is done when its result is. Only a
 * grant is told while it is still on its way (handout.c says why that is safe). So no answer rests on more
 * than the disk has, and a kill at any moment loses nothing but what was on its way. The work ends when `end` is set and no job is pending.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/coord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/api.h"
#include "coordinator/calibrate.h"
#include "coordinator/guard.h"
#include "coordinator/handout.h"
#include "coordinator/paid.h"
#include "store/node.h"
#include "store/run.h"

enum { LINGER_MS = 1000 };

/* ---- create, destroy ---- */
static int make_folder(coord *self, err *e)
{
    char path[] = "/tmp/ce-XXXXXX"; /* short: a socket's path has at most 107 bytes */
    if (!mkdtemp(path))
        return err_errno(e, errno, "make a folder for the socket: %s", path);
    self->folder = xstrdup(path);
    self->endpoint = self->options.endpoint ? xstrdup(self->options.endpoint)
                                            : xasprintf("ipc://%s/coord", path);
    return 0;
}

static int open_guard(coord *self, err *e)
{
    const char *bind = self->options.bind;
    if (!bind || !sock_is_secure(bind) || !self->options.keys)
        return 0;
    self->guard = guard_create(self->context, self->options.keys, e);
    return self->guard ? 0 : -1;
}

static int bind_all(coord *self, err *e)
{
    sock_options options = {.linger_ms = LINGER_MS};
    self->context = sock_ctx_create(e);
    if (!self->context || open_guard(self, e))
        return -1;
    options.key = self->guard ? guard_key(self->guard) : NULL;
    self->router = sock_create(self->context, SOCK_ROUTER, &options, e);
    if (!self->router || sock_watch(self->router, e) || make_folder(self, e) ||
        sock_bind(self->router, self->endpoint, e))
        return -1;
    if (!self->options.bind)
        return 0;
    if (sock_bind(self->router, self->options.bind, e))
        return err_wrap(e, "--bind");
    const char *real = sock_endpoint(self->router);
    self->joined = sock_is_secure(self->options.bind) && str_starts(real, "tcp://")
                       ? xasprintf("curve%s", real + strlen("tcp"))
                       : xstrdup(real);
    return 0;
}

static void on_written(void *arg)
{
    coord *self = arg;
    writer_take(self->writer);
    coord_progressed(self);
}

static void on_tick(void *arg)
{
    coord *self = arg;
    int64_t now = clock_mono_ms();
    if (now - self->last_tick_ms > self->options.lost_ms / 2) {
        nodes_forgive(self->nodes, now);
        handout_renew_all(self, now);
    }
    self->last_tick_ms = now;
    guard_tick(self, now);
    if (self->parked_until_ms && now >= self->parked_until_ms) {
        self->parked_until_ms = 0;
        sched_unpark(self->options.run->tasks);
    }
    handout_tick(self, now);
    paid_tick(self, now);
    calibrate_tick(self, now);
    coord_progressed(self);
}

coord *coord_create(const coord_options *options, err *e)
{
    SCOPED(coord_destroy) coord *self = xcalloc(1, sizeof *self);
    self->options = *options;
    id_new(self->instance);
    self->nodes = nodes_create();
    self->paid = paid_create(options->run);
    self->leases = lease_table_create(options->run->last_token, options->lost_ms);
    self->writer = writer_create(options->store);
    self->inbox = blob_inbox_create(COORD_INBOX_BYTES);
    self->cache = blob_store_create(NULL, COORD_CACHE_BYTES, e);
    self->events = loop_create();
    self->last_tick_ms = clock_mono_ms();
    self->parked_until_ms = self->last_tick_ms + options->lost_ms;
    if (!self->cache || bind_all(self, e))
        return NULL;
    loop_add_sock(self->events, self->router, api_routes(), self);
    loop_add_fd(self->events, writer_fd(self->writer), on_written, self);
    loop_add_timer(self->events, COORD_TICK_MS, COORD_TICK_MS, on_tick, self);
    return TAKE(self);
}

void coord_destroy(coord **self)
{
    if (!*self)
        return;
    coord *c = *self;
    if (c->writer)
        writer_destroy(&c->writer);
    loop_destroy(&c->events);
    sock_destroy(&c->router);
    guard_destroy(&c->guard);
    sock_ctx_destroy(&c->context);
    blob_store_destroy(&c->cache);
    blob_inbox_destroy(&c->inbox);
    lease_table_destroy(&c->leases);
    nodes_destroy(&c->nodes);
    paid_destroy(&c->paid);
    if (c->folder)
        file_remove_tree(c->folder, NULL);
    free(c->folder);
    free(c->endpoint);
    free(c->joined);
    free(c);
    *self = NULL;
}

/* ---- the run's state ---- */
typedef struct state_job {
    const char *run; /* borrowed from the run */
    run_state state;
} state_job;

static int write_state(store_tx *tx, void *arg, err *e)
{
    const state_job *job = arg;
    return run_set_state(tx, job->run, job->state, clock_wall_ms(), e);
}

static void state_written(void *owner, void *arg, int result, const err *e)
{
    free(arg);
    if (result)
        coord_stop(owner, COORD_BROKEN, e);
}

static void set_state(coord *self, run_state state)
{
    state_job *job = xcalloc(1, sizeof *job);
    *job = (state_job){.run = self->options.run->id, .state = state};
    if (coord_submit(self, write_state, job, state_written))
        free(job);
}

/* The run is over: the loop ends with it, or the service takes it. */
static void conclude(coord *self)
{
    if (!self->options.service || self->end == COORD_BROKEN) {
        loop_stop(self->events);
        return;
    }
    self->idle = true;
    self->options.ended(self->options.service, self->end);
}

void coord_progressed(coord *self)
{
    const sched *tasks = self->options.run->tasks;
    if (self->idle && self->end != COORD_BROKEN)
        return;
    if (self->end == COORD_GOES_ON && !self->running && sched_released(tasks)) {
        self->running = true;
        set_state(self, RUN_RUNNING);
    }
    if (self->end == COORD_GOES_ON && sched_idle(tasks) && writer_pending(self->writer) == 0)
        self->end = COORD_FINISHED;
    if (self->end != COORD_GOES_ON &&
        (writer_pending(self->writer) == 0 || self->end == COORD_BROKEN))
        conclude(self);
    handout_dispatch(self);
}

void coord_take_run(coord *self, run *next)
{
    self->options.run = next;
    self->reach_seen = 0;
    self->end = COORD_GOES_ON;
    self->why = (err){.code = ERR_NONE};
    self->running = false;
    self->parked_until_ms = clock_mono_ms() + self->options.lost_ms;
    self->idle = sched_size(next->tasks) == 0;
    lease_table_destroy(&self->leases);
    self->leases = lease_table_create(next->last_token, self->options.lost_ms);
    paid_destroy(&self->paid);
    self->paid = paid_create(next);
    if (!self->idle && !sched_released(next->tasks))
        set_state(self, RUN_CHECKING);
    coord_progressed(self);
}

int coord_run(coord *self, coord_end *end, err *e)
{
    if (!self->idle && !sched_released(self->options.run->tasks))
        set_state(self, RUN_CHECKING);
    coord_progressed(self);
    if (self->end == COORD_GOES_ON || writer_pending(self->writer)) {
        err why = {0};
        if (loop_run(self->events, &why))
            coord_stop(self, COORD_BROKEN, &why);
    }
    *end = self->end;
    if (self->end != COORD_BROKEN)
        return 0;
    *e = self->why;
    return -1;
}

void coord_stop(coord *self, coord_end end, const err *why)
{
    if (self->end != COORD_GOES_ON)
        return;
    self->end = end;
    if (why)
        self->why = *why;
    sched_stop(self->options.run->tasks);
    handout_cancel_all(self);
    coord_progressed(self);
}

void coord_lose_node(coord *self, const char *name, const char *reason)
{
    size_t number = nodes_named(self->nodes, name);
    if (number != NODES_NONE)
        handout_lose_node(self, number, NODE_LOST, reason);
}

void coord_goodbye(coord *self, const char *text)
{
    for (size_t i = nodes_next(self->nodes, NODES_NONE); i != NODES_NONE;
         i = nodes_next(self->nodes, i)) {
        message m;
        message_init(&m, MSG_BYE);
        message_cut_str(&m.body.bye.text, text, 240);
        coord_send(self, &nodes_get(self->nodes, i)->peer, &m);
        handout_lose_node(self, i, NODE_LEFT, text);
    }
}

int coord_submit(coord *self, store_fn *fn, void *arg, writer_next_fn *next)
{
    err e = {0};
    const writer_job job = {.fn = fn, .arg = arg, .next = next, .owner = self};
    if (writer_submit(self->writer, &job, &e) == 0)
        return 0;
    coord_stop(self, COORD_BROKEN, &e);
    return -1;
}

bool coord_send(coord *self, const peer_id *to, message *m)
{
    m->seq = ++self->seq;
    int result = sock_send(self->router, to, m, NULL);
    message_fini(m);
    return result == 0;
}

void coord_cache(coord *self, const void *data, size_t size)
{
    if (size > COORD_CACHE_BYTES || blob_store_put(self->cache, data, size, NULL, NULL) == 0)
        return;
    blob_store_destroy(&self->cache);
    self->cache = blob_store_create(NULL, COORD_CACHE_BYTES, NULL);
    blob_store_put(self->cache, data, size, NULL, NULL);
}
