/* session - a node's connection to its coordinator
 *
 * Theory of operation. Task threads put items into a bounded queue; the loop thread pops them, numbers
 * and sends them in that order (one DEALER, so a blob always arrives before the record that names it)
 * and keeps those that want an answer in a list until a message names their number. Registration is a
 * small state machine: hello is repeated until welcome; a refusal with ERR_NOT_FOUND means "register
 * again", any other refusal ends the node. When the coordinator's instance changes, or it does not know
 * the node any more, tasks go on: after the welcome each is claimed, and what was sent without an answer
 * goes out again in its order. That list also keeps blobs, which nobody answers, until a later record is
 * acknowledged: then they are committed too. A claim that is refused comes back as cancel.
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
#include "agent-node/item.h"
#include "common/clock.h"
#include "common/id.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/loop.h"
#include "wire/sock.h"

enum { HELLO_EVERY_MS = 1000, TICK_MS = 250, RESEND_MS = 20, BEAT_DEFAULT_MS = 1000 };

struct session {
    session_options options;
    char instance[ID_TEXT];        /* ours */
    char coordinator[ID_TEXT + 8]; /* its instance; "" before welcome */
    sock_ctx *ctx;
    sock *main;     /* everything but beats */
    loop *events;   /* of the loop thread */
    queue *outbox;  /* item * */
    item *stuck;    /* popped, but the socket took it not yet */
    sent_list sent; /* not known to be committed; loop thread only */
    uint64_t seq;   /* last used */
    bool registered;
    bool lapsed;   /* the coordinator does not know what we have */
    bool overdue;  /* something was not answered in time: it goes out again */
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
    next->sent_ms = clock_mono_ms();
    if (transmit(self, &next->m, &why) != 0) {
        if (why.code == ERR_UNAVAILABLE && why.retry) {
            return false;
        }
        log_err(LOG_ERROR, "session", &why, "cannot send %s", message_name(next->m.type));
        item_finish(next, NULL, &why);
        return true;
    }
    if (!next->wants_answer && !item_is_blob(next)) {
        item_free(next);
        return true;
    }
    sent_add(&self->sent, next);
    return true;
}

/* Everything that was not answered goes out again, before what waits in the queue. */
static void send_again(session *self)
{
    item *old = self->sent.first;
    self->sent = (sent_list){.first = NULL, .end = &self->sent.first};
    while (old != NULL) {
        item *next = old->next;
        if (!send_item(self, old)) {
            self->lapsed = true; /* the connection broke again: once more after the next welcome */
            for (; old != NULL; old = next) {
                next = old->next;
                sent_add(&self->sent, old);
            }
            return;
        }
        old = next;
    }
}

static void flush_outbox(void *arg)
{
    session *self = arg;
    while (self->registered && !self->lapsed) { /* else what was sent before goes first */
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
    m.body.hello.spooled = self->options.spooled;
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

static void on_welcome(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    const char *instance = m->body.welcome.instance;
    self->lapsed |= self->coordinator[0] != '\0' && m->body.welcome.fresh;
    snprintf(self->coordinator, sizeof(self->coordinator), "%s", instance);
    atomic_store(&self->beat_ms, m->body.welcome.beat_ms);
    self->registered = true;
    log_line(LOG_INFO, "session", "registered with %s", self->options.coordinator);
    if (self->lapsed || self->overdue) {
        bool claim = self->lapsed;
        self->lapsed = self->overdue = false;
        if (claim) {
            self->options.events.claim(self->options.events.arg);
        }
        send_again(self);
        flush_outbox(self);
    }
    pull(self);
}

static void on_refused(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    if (m->body.refused.code == ERR_NOT_FOUND) {
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

static void on_measure(void *arg, const peer_id *from, message *m)
{
    (void)from;
    session *self = arg;
    if (self->options.events.measure != NULL) {
        self->options.events.measure(self->options.events.arg, m);
    }
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

/* What answers a message when all is well. */
static message_type answer_type(message_type asked)
{
    if (asked == MSG_BLOB_GET) {
        return MSG_BLOB_DATA;
    }
    if (asked == MSG_CALIBRATION) {
        return MSG_CALIBRATED;
    }
    if (asked == MSG_RESERVE) {
        return MSG_GRANT;
    }
    return asked == MSG_BASELINE_GET ? MSG_BASELINE : MSG_ACK;
}

/* Ends the call that message `ref` was; m is NULL when it failed. */
static void answer(session *self, int64_t ref, message *m, const err *failure)
{
    item *found = sent_answered(&self->sent, ref);
    err odd;
    bool record = found != NULL && m != NULL && m->type == MSG_ACK;
    if (record && found->m.type != MSG_RESERVE && found->m.type != MSG_SETTLE) {
        sent_forget_blobs(&self->sent, (uint64_t)ref);
    }
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

static void on_calibrated(void *arg, const peer_id *from, message *m)
{
    (void)from;
    answer(arg, m->body.calibrated.ref, m, NULL);
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
                                         {MSG_MEASURE, on_measure},
                                         {MSG_CALIBRATED, on_calibrated},
                                         {0, NULL}};

static const loop_routes main_table = {main_routes, on_bad};

/* ---- timers and wake-ups (loop thread) ---- */

/* An answer that got lost on its way is asked for again: repeating a record is harmless. */
static void look_for_overdue(session *self, int64_t now_ms)
{
    if (!self->registered || now_ms - sent_oldest_ms(&self->sent) < self->options.patience_ms) {
        return;
    }
    log_line(LOG_WARN, "session", "the coordinator has not answered for %lld s: asking again",
             (long long)self->options.patience_ms / 1000);
    self->overdue = true;
    self->registered = false;
    say_hello(self);
}

static void on_tick(void *arg)
{
    session *self = arg;
    int64_t now = clock_mono_ms();
    atomic_store(&self->tick, now);
    look_for_overdue(self, now);
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
    err why = item_gone();
    sent_fail(&self->sent, &why);
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
    if (self->options.patience_ms == 0) {
        self->options.patience_ms = SESSION_PATIENCE_MS;
    }
    self->handshake = (handshake){.coordinator = options->coordinator, .key = options->key};
    self->wake = -1;
    self->sent.end = &self->sent.first;
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

void session_claim(session *self, const char *task, int64_t token)
{
    message m;
    err why;
    message_init(&m, MSG_CLAIM);
    message_set_str(&m.body.claim.task, task);
    m.body.claim.token = token;
    if (transmit(self, &m, &why) != 0) {
        log_err(LOG_WARN, "session", &why, "cannot claim a task yet");
        self->lapsed = true;
    }
    message_fini(&m);
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
        *e = why.code == ERR_CONFLICT ? item_gone() : why;
    }
    return -1;
}

int session_post(session *self, message *m, err *e)
{
    return enqueue(self, item_create(m, false), SESSION_PATIENCE_MS, e);
}

int session_try_post(session *self, message *m, err *e)
{
    return enqueue(self, item_create(m, false), 0, e);
}

session_ticket *session_ask(session *self, message *m, err *e)
{
    item *out = item_create(m, true);
    return enqueue(self, out, SESSION_PATIENCE_MS, e) == 0 ? out : NULL;
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
    item_abandon(self);
}

int session_call(session *self, message *m, message *reply, err *e)
{
    session_ticket *ticket = session_ask(self, m, e);
    return ticket != NULL ? session_await(&ticket, reply, e) : -1;
}

void session_free_slot(session *self, int64_t free_slots, int64_t in_flight, bool ended)
{
    atomic_store(&self->free_slots, free_slots);
    atomic_store(&self->in_flight, in_flight);
    if (ended) {
        wake(self);
    }
}
