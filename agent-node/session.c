/* session - a node's connection to its coordinator
 *
 * Theory of operation. Task threads put items into a bounded queue; the loop thread pops them, numbers
 * and sends them in that order (one DEALER, so a blob always arrives before the record that names it)
 * and keeps those that want an answer in a list until a message names their number. Registration is a
 * small state machine: hello is repeated until welcome; a refusal with ERR_NOT_FOUND means "register
 * again", any other refusal ends the node. When the coordinator's instance changes, or it does not know
 * the node any more, every lease is void: every task is cancelled and pending calls fail.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent-node/handshake.h"
#include "common/clock.h"
#include "common/id.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/loop.h"
#include "wire/sock.h"

enum { HELLO_EVERY_MS = 1000, TICK_MS = 250, RESEND_MS = 20, BEAT_DEFAULT_MS = 1000 };

/* A message on its way out. */
typedef struct session_ticket {
    message m;
    bool wants_answer;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;      /* answered, failed or given up */
    bool abandoned; /* the caller timed out: whoever finishes it frees it */
    message answer;
    err failure;                 /* code 0: answered */
    struct session_ticket *next; /* in the pending list */
} item;

struct session {
    session_options options;
    char instance[ID_TEXT];        /* ours */
    char coordinator[ID_TEXT + 8]; /* its instance; "" before welcome */
    sock_ctx *ctx;
    sock *main;    /* everything but beats */
    loop *events;  /* of the loop thread */
    queue *outbox; /* item * */
    item *stuck;   /* popped, but the socket took it not yet */
    item *pending; /* sent, answer outstanding; loop thread only */
    uint64_t seq;  /* last used */
    bool registered;
    bool unsaid;   /* a hello is due: the socket had no connection yet */
    bool draining; /* asks for nothing more */
    bool failed;   /* refused for good: `failure` says why */
    err failure;
    handshake handshake;
    int wake; /* eventfd: beat thread or session_stop wants the loop */
    atomic_bool stopping;
    atomic_bool again; /* the beat thread was told to register again */
    atomic_llong tick; /* monotonic ms of the loop's last tick */
    atomic_llong beat_ms;
    atomic_llong in_flight;
    atomic_llong free_slots;
    pthread_t beats;
    bool beats_started;
};

/* ---- items ---- */

static item *item_create(message *m, bool wants_answer)
{
    item *self = xcalloc(1, sizeof(*self));
    self->m = *m;
    memset(m, 0, sizeof(*m));
    self->wants_answer = wants_answer;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return self;
}

static void item_free(item *self)
{
    message_fini(&self->m);
    message_fini(&self->answer);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Ends an item: wakes its caller, or frees it when nobody waits. answer may be NULL. */
static void item_finish(item *self, message *answer, const err *failure)
{
    pthread_mutex_lock(&self->lock);
    self->done = true;
    if (answer != NULL) {
        self->answer = *answer;
        memset(answer, 0, sizeof(*answer));
    }
    if (failure != NULL) {
        self->failure = *failure;
    }
    bool nobody = self->abandoned || !self->wants_answer;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (nobody) {
        item_free(self);
    }
}

static err gone(void)
{
    err why;
    err_set(&why, ERR_UNAVAILABLE, "the node is leaving its coordinator");
    return why;
}

static void item_drop(void *pointer)
{
    err why = gone();
    item_finish(pointer, NULL, &why);
}

/* Waits for the end of an item; frees it unless it was abandoned. */
static int item_wait(item *self, message *answer, err *e)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SESSION_ANSWER_MS / 1000;
    pthread_mutex_lock(&self->lock);
    while (!self->done && pthread_cond_timedwait(&self->changed, &self->lock, &until) == 0) {
    }
    bool done = self->done;
    self->abandoned = !done;
    pthread_mutex_unlock(&self->lock);
    if (!done) {
        return err_set(e, ERR_TIMEOUT, "the coordinator did not answer within %d s",
                       SESSION_ANSWER_MS / 1000);
    }
    int rc = 0;
    if (self->failure.code != ERR_NONE) {
        if (e != NULL) {
            *e = self->failure;
        }
        rc = -1;
    } else {
        *answer = self->answer;
        memset(&self->answer, 0, sizeof(self->answer));
    }
    item_free(self);
    return rc;
}

static void fail_pending(session *self, const err *why)
{
    while (self->pending != NULL) {
        item *first = self->pending;
        self->pending = first->next;
        item_finish(first, NULL, why);
    }
}

/* ---- sending (loop thread) ---- */

static int transmit(session *self, message *m, err *e)
{
    m->seq = ++self->seq;
    return sock_send(self->main, NULL, m, e);
}

/* Sends one item; false when it must be tried again later. */
static bool send_item(session *self, item *next)
{
    err why;
    if (transmit(self, &next->m, &why) != 0) {
        if (why.code == ERR_UNAVAILABLE && why.retry) {
            return false;
        }
        log_err(LOG_ERROR, "session", &why, "cannot send %s", message_name(next->m.type));
        item_finish(next, NULL, &why);
        return true;
    }
    if (!next->wants_answer) {
        item_free(next);
        return true;
    }
    next->next = self->pending;
    self->pending = next;
    return true;
}

static void flush_outbox(void *arg)
{
    session *self = arg;
    for (;;) {
        item *next = self->stuck != NULL ? self->stuck : queue_pop(self->outbox, 0);
        self->stuck = NULL;
        if (next == NULL) {
            return;
        }
        if (!send_item(self, next)) {
            self->stuck = next;
            return;
        }
    }
}

static void say_hello(session *self)
{
    message m;
    err why;
    message_init(&m, MSG_HELLO);
    m.body.hello.protocol = MESSAGE_PROTOCOL;
    message_set_str(&m.body.hello.node, self->options.node);
    message_set_str(&m.body.hello.instance, self->instance);
    message_set_str(&m.body.hello.software, self->options.software);
    m.body.hello.slots = self->options.slots;
    m.body.hello.devices = xcalloc(self->options.device_count + 1, sizeof(struct row_device));
    m.body.hello.devices_count = self->options.device_count;
    for (size_t i = 0; i < self->options.device_count; i++) {
        const struct row_device *from = &self->options.devices[i];
        struct row_device *to = &m.body.hello.devices[i];
        message_set_str(&to->kind, from->kind);
        message_set_str(&to->name, from->name);
        message_set_str(&to->uuid, from->uuid);
        message_set_str(&to->arch, from->arch);
        message_set_str(&to->reason, from->reason);
        to->memory_bytes = from->memory_bytes;
    }
    self->unsaid = transmit(self, &m, &why) != 0;
    if (self->unsaid && !why.retry) {
        log_err(LOG_ERROR, "session", &why, "cannot send hello");
        self->unsaid = false;
    }
    message_fini(&m);
}

/* What the socket did not take yet; a hello that was due before there was a connection goes first. */
static void resend(void *arg)
{
    session *self = arg;
    if (self->unsaid) {
        say_hello(self);
    }
    flush_outbox(self);
}

static void pull(session *self)
{
    message m;
    long long credit = atomic_load(&self->free_slots);
    if (!self->registered || (credit <= 0 && !self->draining)) {
        return;
    }
    message_init(&m, MSG_PULL);
    m.body.pull.credit = self->draining ? 0 : credit;
    err why;
    if (transmit(self, &m, &why) != 0) {
        log_err(LOG_DEBUG, "session", &why, "cannot pull yet");
    }
    message_fini(&m);
}

/* ---- what the coordinator says ---- */

static void end_with(session *self, const err *why)
{
    self->failure = *why;
    self->failed = true;
    loop_stop(self->events);
}

/* Every lease is gone: tasks are cancelled first, so that none of them tells of its failed call. */
static void void_leases(session *self, const char *text)
{
    err why;
    err_set(&why, ERR_UNAVAILABLE, "%s", text);
    self->options.events.cancel(self->options.events.arg, NULL);
    fail_pending(self, &why);
}

static void on_welcome(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    const char *instance = m->body.welcome.instance;
    if (self->coordinator[0] != '\0' && strcmp(self->coordinator, instance) != 0) {
        void_leases(self, "the coordinator was restarted: this lease is void");
    }
    snprintf(self->coordinator, sizeof(self->coordinator), "%s", instance);
    atomic_store(&self->beat_ms, m->body.welcome.beat_ms);
    self->registered = true;
    log_line(LOG_INFO, "session", "registered with %s", self->options.coordinator);
    pull(self);
}

static void on_refused(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    if (m->body.refused.code == ERR_NOT_FOUND) {
        void_leases(self, "the coordinator does not know this node any more: this lease is void");
        self->registered = false;
        say_hello(self);
        return;
    }
    err why;
    err_set(&why, (err_code)m->body.refused.code, "refused by the coordinator: %s",
            m->body.refused.text);
    end_with(self, &why);
}

static void on_lease(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    self->options.events.lease(self->options.events.arg, m);
}

static void on_cancel(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    self->options.events.cancel(self->options.events.arg, m->body.cancel.task);
}

static void on_bye(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    log_line(LOG_INFO, "session", "the coordinator says bye: %s", m->body.bye.text);
    self->registered = false;
    loop_stop(self->events);
}

static void on_drain(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    self->options.events.drain(self->options.events.arg, (int)m->body.drain.how);
}

static item *take_pending(session *self, int64_t ref)
{
    for (item **link = &self->pending; *link != NULL; link = &(*link)->next) {
        if ((int64_t)(*link)->m.seq == ref) {
            item *found = *link;
            *link = found->next;
            return found;
        }
    }
    return NULL;
}

/* What answers a message when all is well. */
static message_type answer_type(message_type asked)
{
    if (asked == MSG_BLOB_GET) {
        return MSG_BLOB_DATA;
    }
    if (asked == MSG_RESERVE) {
        return MSG_GRANT;
    }
    return asked == MSG_BASELINE_GET ? MSG_BASELINE : MSG_ACK;
}

/* Ends the call that message `ref` was; m is NULL when it failed. */
static void answer(session *self, int64_t ref, message *m, const err *failure)
{
    item *found = take_pending(self, ref);
    err odd;
    if (found != NULL && m != NULL && m->type != answer_type(found->m.type)) {
        err_set(&odd, ERR_PROTOCOL, "the coordinator answered %s with %s",
                message_name(found->m.type), message_name(m->type));
        item_finish(found, NULL, &odd);
    } else if (found != NULL) {
        item_finish(found, m, failure);
    } else if (failure != NULL) {
        log_err(LOG_WARN, "session", failure, "the coordinator complains about message %lld",
                (long long)ref);
    }
}

static void on_ack(void *arg, const peer_id *from, message *m)
{
    (void)from;
    err failure = {.code = (err_code)m->body.ack.code};
    if (failure.code == ERR_NONE) {
        answer(arg, m->body.ack.ref, m, NULL);
        return;
    }
    err_set(&failure, failure.code, "%s", m->body.ack.text);
    answer(arg, m->body.ack.ref, NULL, &failure);
}

static void on_blob_data(void *arg, const peer_id *from, message *m)
{
    (void)from;
    answer(arg, m->body.blob_data.ref, m, NULL);
}

static void on_baseline(void *arg, const peer_id *from, message *m)
{
    (void)from;
    answer(arg, m->body.baseline.ref, m, NULL);
}

static void on_grant(void *arg, const peer_id *from, message *m)
{
    (void)from;
    answer(arg, m->body.grant.ref, m, NULL);
}

/* Who cannot even read the answer to its hello is of another version: the error names both. */
static void on_bad(void *arg, const peer_id *from, const err *why)
{
    (void)from;
    session *self = arg;
    if (!self->registered && self->coordinator[0] == '\0' && why->code == ERR_PROTOCOL) {
        err last = *why;
        err_wrap(&last, "%s", self->options.coordinator);
        end_with(self, &last);
        return;
    }
    log_err(LOG_ERROR, "session", why, "message from the coordinator dropped");
}

static const loop_route main_routes[] = {{MSG_WELCOME, on_welcome},
                                         {MSG_REFUSED, on_refused},
                                         {MSG_LEASE, on_lease},
                                         {MSG_CANCEL, on_cancel},
                                         {MSG_BYE, on_bye},
                                         {MSG_ACK, on_ack},
                                         {MSG_DRAIN, on_drain},
                                         {MSG_BASELINE, on_baseline},
                                         {MSG_BLOB_DATA, on_blob_data},
                                         {MSG_GRANT, on_grant},
                                         {0, NULL}};

static const loop_routes main_table = {main_routes, on_bad};

/* ---- timers and wake-ups (loop thread) ---- */

static void on_tick(void *arg)
{
    session *self = arg;
    atomic_store(&self->tick, clock_mono_ms());
    err why;
    if (handshake_read(&self->handshake, self->main, &why) != 0) {
        end_with(self, &why);
    }
}

static void on_hello_timer(void *arg)
{
    session *self = arg;
    if (!self->registered) {
        say_hello(self);
    }
}

static void on_wake(void *arg)
{
    session *self = arg;
    uint64_t count;
    if (read(self->wake, &count, sizeof(count)) < 0) {
        return;
    }
    if (atomic_load(&self->stopping)) {
        loop_stop(self->events);
        return;
    }
    if (atomic_exchange(&self->again, false)) {
        self->registered = false;
        say_hello(self);
    }
    pull(self);
}

static void wake(session *self)
{
    uint64_t one = 1;
    if (write(self->wake, &one, sizeof(one)) < 0) {
        log_line(LOG_ERROR, "session", "cannot wake the loop");
    }
}

/* ---- the beat thread ---- */

static void on_beat_refused(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    if (m->body.refused.code == ERR_NOT_FOUND) {
        atomic_store(&self->again, true);
        wake(self);
    }
}

static void on_beat_bad(void *arg, const peer_id *from, const err *why)
{
    (void)arg;
    (void)from;
    log_err(LOG_DEBUG, "beat", why, "message dropped");
}

static const loop_route beat_routes[] = {{MSG_REFUSED, on_beat_refused}, {0, NULL}};
static const loop_routes beat_table = {beat_routes, on_beat_bad};

static void beat_once(session *self, sock *s, uint64_t seq)
{
    message m;
    err why;
    message_init(&m, MSG_BEAT);
    m.seq = seq;
    message_set_str(&m.body.beat.node, self->options.node);
    message_set_str(&m.body.beat.instance, self->instance);
    m.body.beat.tick_age_ms = clock_mono_ms() - atomic_load(&self->tick);
    m.body.beat.in_flight = atomic_load(&self->in_flight);
    if (sock_send(s, NULL, &m, &why) != 0) {
        log_err(LOG_DEBUG, "beat", &why, "beat not sent");
    }
    message_fini(&m);
}

static void *beat_main(void *arg)
{
    session *self = arg;
    err why;
    SCOPED(loop_destroy) loop *events = loop_create();
    const sock_options how = {.key = self->options.key};
    SCOPED(sock_destroy) sock *s = sock_create(self->ctx, SOCK_DEALER, &how, &why);
    if (s == NULL || sock_connect(s, self->options.coordinator, &why) != 0) {
        log_err(LOG_ERROR, "beat", &why, "no heartbeat");
        return NULL;
    }
    loop_add_sock(events, s, &beat_table, self);
    int64_t next = clock_mono_ms();
    for (uint64_t seq = 1; !atomic_load(&self->stopping);) {
        int64_t now = clock_mono_ms();
        if (now >= next) {
            beat_once(self, s, seq++);
            next = now + atomic_load(&self->beat_ms);
        }
        int64_t left = next - now;
        if (loop_step(events, left > 0 && left < TICK_MS ? left : TICK_MS, &why) != 0) {
            log_err(LOG_ERROR, "beat", &why, "no more heartbeats");
            return NULL;
        }
    }
    return NULL;
}

/* ---- life ---- */

/* Tells the coordinator at once, so that it need not miss our beats first. */
static void say_bye(session *self)
{
    message m;
    err why;
    message_init(&m, MSG_BYE);
    message_set_str(&m.body.bye.text, "the node stops");
    if (transmit(self, &m, &why) != 0) {
        log_err(LOG_DEBUG, "session", &why, "cannot say bye");
    }
    message_fini(&m);
    self->registered = false;
}

/* What is queued when the loop ends still goes out if the socket takes it; every caller is woken. */
static void leave(session *self)
{
    if (self->main == NULL) {
        return;
    }
    queue_close(self->outbox);
    flush_outbox(self);
    if (self->registered) {
        say_bye(self);
    }
    err why = gone();
    fail_pending(self, &why);
    for (item *left = self->stuck; left != NULL; left = queue_pop(self->outbox, 0)) {
        item_finish(left, NULL, &why);
    }
    self->stuck = NULL;
}

static int open_socket(session *self, err *e)
{
    self->ctx = sock_ctx_create(e);
    if (self->ctx == NULL) {
        return -1;
    }
    const sock_options how = {.linger_ms = 1000, .key = self->options.key};
    self->main = sock_create(self->ctx, SOCK_DEALER, &how, e);
    if (self->main == NULL || sock_watch(self->main, e) != 0 ||
        sock_connect(self->main, self->options.coordinator, e) != 0) {
        return -1;
    }
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return self->wake >= 0 ? 0 : err_set(e, ERR_SYSTEM, "no eventfd");
}

session *session_create(const session_options *options, err *e)
{
    SCOPED(session_destroy) session *self = xcalloc(1, sizeof(*self));
    self->options = *options;
    self->handshake = (handshake){.coordinator = options->coordinator, .key = options->key};
    self->wake = -1;
    id_new(self->instance);
    atomic_store(&self->tick, clock_mono_ms());
    atomic_store(&self->beat_ms, BEAT_DEFAULT_MS);
    atomic_store(&self->free_slots, options->slots);
    self->events = loop_create();
    self->outbox = queue_create(SESSION_QUEUE, item_drop);
    if (open_socket(self, e) != 0) {
        return NULL;
    }
    loop_add_sock(self->events, self->main, &main_table, self);
    loop_add_fd(self->events, queue_fd(self->outbox), flush_outbox, self);
    loop_add_fd(self->events, self->wake, on_wake, self);
    loop_add_timer(self->events, 0, TICK_MS, on_tick, self);
    loop_add_timer(self->events, 0, HELLO_EVERY_MS, on_hello_timer, self);
    loop_add_timer(self->events, RESEND_MS, RESEND_MS, resend, self);
    return TAKE(self);
}

void session_destroy(session **self_p)
{
    session *self = *self_p;
    if (self == NULL) {
        return;
    }
    atomic_store(&self->stopping, true);
    if (self->beats_started) {
        pthread_join(self->beats, NULL);
    }
    leave(self);
    loop_destroy(&self->events);
    queue_destroy(&self->outbox);
    sock_destroy(&self->main);
    sock_ctx_destroy(&self->ctx);
    scoped_close(&self->wake);
    free(self);
    *self_p = NULL;
}

int session_run(session *self, err *e)
{
    if (pthread_create(&self->beats, NULL, beat_main, self) != 0) {
        return err_set(e, ERR_SYSTEM, "cannot start the heartbeat thread");
    }
    self->beats_started = true;
    int rc = loop_run(self->events, e);
    leave(self);
    if (rc == 0 && self->failed) {
        if (e != NULL) {
            *e = self->failure;
        }
        return -1;
    }
    return rc;
}

void session_stop(session *self)
{
    atomic_store(&self->stopping, true);
    wake(self);
}

void session_drain(session *self)
{
    self->draining = true;
    pull(self);
}

void session_watch(session *self, int fd, void (*fn)(void *arg), void *arg)
{
    loop_add_fd(self->events, fd, fn, arg);
}

/* ---- for task threads ---- */

/* Queues an item, or frees it. A closed queue is the end of the session, not a lost lease. */
static int enqueue(session *self, item *out, int64_t timeout_ms, err *e)
{
    err why;
    if (queue_push_wait(self->outbox, out, timeout_ms, &why) == 0) {
        return 0;
    }
    item_free(out);
    if (e != NULL) {
        *e = why.code == ERR_CONFLICT ? gone() : why;
    }
    return -1;
}

int session_post(session *self, message *m, err *e)
{
    return enqueue(self, item_create(m, false), SESSION_ANSWER_MS, e);
}

int session_try_post(session *self, message *m, err *e)
{
    return enqueue(self, item_create(m, false), 0, e);
}

session_ticket *session_ask(session *self, message *m, err *e)
{
    item *out = item_create(m, true);
    return enqueue(self, out, SESSION_ANSWER_MS, e) == 0 ? out : NULL;
}

int session_await(session_ticket **ticket, message *reply, err *e)
{
    return item_wait(TAKE(*ticket), reply, e);
}

void session_forget(session_ticket **ticket)
{
    item *self = TAKE(*ticket);
    if (self == NULL) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    bool done = self->done;
    self->abandoned = true;
    pthread_mutex_unlock(&self->lock);
    if (done) {
        item_free(self);
    }
}

int session_call(session *self, message *m, message *reply, err *e)
{
    session_ticket *ticket = session_ask(self, m, e);
    return ticket != NULL ? session_await(&ticket, reply, e) : -1;
}

void session_free_slot(session *self, int64_t free_slots, int64_t in_flight)
{
    long long before = atomic_exchange(&self->free_slots, free_slots);
    atomic_store(&self->in_flight, in_flight);
    if (free_slots > before) {
        wake(self);
    }
}
