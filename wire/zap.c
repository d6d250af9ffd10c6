/* zap - who may complete a CURVE handshake (ZeroMQ's authentication protocol, in-process)
 *
 * A request has eight parts: version, request id, domain, address, identity, mechanism, and for CURVE the
 * client's key. The answer has six: version, request id, status, text, user id, metadata. The user id is
 * the key itself in hex, so that whoever receives a message can look up whose it is at that moment.
 * A plain endpoint of the same socket asks too; sock.c made sure that it is inside this host.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/zap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/xalloc.h"

enum { PARTS = 7, PART_MAX = 256, LOOK_MS = 250 };
#define ZAP_ENDPOINT "inproc://zeromq.zap.01"

struct zap {
    void *socket; /* of the thread, once it runs */
    zap_guard_fn *guard;
    void *arg;
    pthread_t thread;
    atomic_bool stopping;
    atomic_llong refused;
    pthread_mutex_t lock; /* of kept */
    zap_refusal kept[ZAP_KEPT];
    size_t kept_count;
};

typedef struct part {
    uint8_t data[PART_MAX];
    size_t size;
} part;

/* ---- refusals ---- */

static void keep(zap *self, const curve_key *key, const part *address)
{
    zap_refusal now = {.key = *key, .times = 1};
    size_t size = address->size < ZAP_ADDRESS ? address->size : ZAP_ADDRESS - 1;
    memcpy(now.address, address->data, size);
    atomic_fetch_add(&self->refused, 1);
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->kept_count && now.times; i++) {
        if (curve_equal(&self->kept[i].key, key) &&
            strcmp(self->kept[i].address, now.address) == 0) {
            self->kept[i].times++;
            now.times = 0;
        }
    }
    if (now.times && self->kept_count < ZAP_KEPT)
        self->kept[self->kept_count++] = now;
    pthread_mutex_unlock(&self->lock);
}

bool zap_next(zap *self, zap_refusal *out)
{
    pthread_mutex_lock(&self->lock);
    bool some = self->kept_count > 0;
    if (some)
        *out = self->kept[--self->kept_count];
    pthread_mutex_unlock(&self->lock);
    return some;
}

int64_t zap_refused(zap *self)
{
    return atomic_load(&self->refused);
}

/* ---- one question ---- */

/* Reads a whole request; false when it is none. */
static bool read_request(zap *self, part parts[PARTS], size_t *count)
{
    int more = 1;
    size_t length = sizeof(more);
    for (*count = 0; more; (*count)++) {
        part extra;
        part *at = *count < PARTS ? &parts[*count] : &extra;
        int n = zmq_recv(self->socket, at->data, sizeof(at->data), 0);
        if (n < 0)
            return false;
        at->size = (size_t)n < sizeof(at->data) ? (size_t)n : sizeof(at->data);
        if (zmq_getsockopt(self->socket, ZMQ_RCVMORE, &more, &length) < 0)
            return false;
    }
    return *count > 1; /* with a request id, so that it can be answered */
}

static void reply(zap *self, const part *request, const char *status, const char *user)
{
    const char *text = *status == '2' ? "" : "the key is not allowed";
    zmq_send(self->socket, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(self->socket, request->data, request->size, ZMQ_SNDMORE);
    zmq_send(self->socket, status, strlen(status), ZMQ_SNDMORE);
    zmq_send(self->socket, text, strlen(text), ZMQ_SNDMORE);
    zmq_send(self->socket, user, strlen(user), ZMQ_SNDMORE);
    zmq_send(self->socket, "", 0, 0);
}

static bool is(const part *self, const char *text)
{
    return self->size == strlen(text) && memcmp(self->data, text, self->size) == 0;
}

static void decide(zap *self)
{
    part parts[PARTS] = {{.size = 0}};
    size_t count;
    curve_key key = {.bytes = {0}};
    char user[CURVE_TEXT] = "";
    if (!read_request(self, parts, &count))
        return;
    bool plain = count == PARTS - 1 && is(&parts[5], "NULL");
    bool curve = count == PARTS && is(&parts[5], "CURVE") && parts[6].size == CURVE_KEY;
    if (curve)
        memcpy(key.bytes, parts[6].data, CURVE_KEY);
    if (plain || (curve && self->guard(self->arg, &key))) {
        if (curve)
            curve_text(&key, user);
        reply(self, &parts[1], "200", user);
        return;
    }
    keep(self, &key, &parts[3]);
    reply(self, &parts[1], "400", user);
}

static void *serve(void *arg)
{
    zap *self = arg;
    while (!atomic_load(&self->stopping)) {
        zmq_pollitem_t item = {.socket = self->socket, .events = ZMQ_POLLIN};
        if (zmq_poll(&item, 1, LOOK_MS) > 0)
            decide(self);
        self->guard(self->arg, NULL);
    }
    return NULL;
}

/* ---- life ---- */

zap *zap_start(sock_ctx *ctx, zap_guard_fn *guard, void *arg, err *e)
{
    zap *self = xcalloc(1, sizeof(*self));
    int linger = 0;
    self->guard = guard;
    self->arg = arg;
    pthread_mutex_init(&self->lock, NULL);
    self->socket = zmq_socket(sock_ctx_zmq(ctx), ZMQ_REP);
    if (self->socket != NULL &&
        zmq_setsockopt(self->socket, ZMQ_LINGER, &linger, sizeof(int)) == 0 &&
        zmq_bind(self->socket, ZAP_ENDPOINT) == 0 &&
        pthread_create(&self->thread, NULL, serve, self) == 0)
        return self;
    err_native(e, ERR_SYSTEM, ERR_DOMAIN_ZMQ, zmq_errno(), "cannot start authentication: %s",
               zmq_strerror(zmq_errno()));
    if (self->socket != NULL)
        zmq_close(self->socket);
    pthread_mutex_destroy(&self->lock);
    free(self);
    return NULL;
}

void zap_stop(zap **self)
{
    if (*self == NULL)
        return;
    atomic_store(&(*self)->stopping, true);
    pthread_join((*self)->thread, NULL);
    zmq_close((*self)->socket);
    pthread_mutex_destroy(&(*self)->lock);
    free(*self);
    *self = NULL;
}
