/* sock - ROUTER and DEALER sockets that carry messages (libzmq inside)
 *
 * A message is one ZeroMQ frame; a ROUTER sees the sender's identity before it. Every option that matters
 * is set here rather than left to a library default:
 *   - a DEALER queues only for a live connection (IMMEDIATE), so a send that reports success went to a
 *     peer that was there; a ROUTER refuses to send to a peer that is gone (MANDATORY);
 *   - a DEALER has a fresh random identity, and a reconnecting one takes its place over (HANDOVER);
 *   - a handshake has seconds, a message has a size;
 *   - heartbeats of the transport end half-open connections; the protocol has beats of its own.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/sock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "common/buf.h"
#include "common/id.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { ENDPOINT_MAX = 256, IDENTITY = 16, PARTS = 2 };

struct sock_ctx {
    void *zmq;
};

struct sock {
    void *zmq;
    sock_ctx *ctx;
    sock_kind kind;
    int fd;
    void *monitor;               /* PAIR of its events; NULL: not watched */
    curve_file *key;             /* NULL: plain only */
    buf out;                     /* the message being sent */
    char endpoint[ENDPOINT_MAX]; /* bound last */
};

static int fail(err *e, err_code code, const char *doing)
{
    int number = zmq_errno();
    return err_native(e, code, ERR_DOMAIN_ZMQ, number, "%s: %s", doing, zmq_strerror(number));
}

bool peer_id_equal(const peer_id *a, const peer_id *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0 &&
           a->secure == b->secure && curve_equal(&a->key, &b->key);
}

/* ---- life ---- */

sock_ctx *sock_ctx_create(err *e)
{
    void *zmq = zmq_ctx_new();
    if (zmq == NULL) {
        fail(e, ERR_SYSTEM, "cannot start ZeroMQ");
        return NULL;
    }
    zmq_ctx_set(zmq, ZMQ_IO_THREADS, 1);
    zmq_ctx_set(zmq, ZMQ_MAX_SOCKETS, 1024);
    sock_ctx *self = xmalloc(sizeof(*self));
    self->zmq = zmq;
    return self;
}

void sock_ctx_destroy(sock_ctx **self)
{
    if (self == NULL || *self == NULL)
        return;
    while (zmq_ctx_term((*self)->zmq) < 0 && zmq_errno() == EINTR)
        continue;
    free(*self);
    *self = NULL;
}

void *sock_ctx_zmq(sock_ctx *self)
{
    return self->zmq;
}

enum { ON_ROUTER = 1, ON_DEALER = 2, ON_BOTH = 3 };

static const struct {
    int option;
    int value;
    int kinds;
} settings[] = {
    {ZMQ_IMMEDIATE, 1, ON_BOTH},
    {ZMQ_ROUTER_MANDATORY, 1, ON_ROUTER},
    {ZMQ_ROUTER_HANDOVER, 1, ON_ROUTER},
    {ZMQ_BACKLOG, 1024, ON_ROUTER},
    {ZMQ_RECONNECT_IVL, 100, ON_DEALER},
    {ZMQ_RECONNECT_IVL_MAX, 5000, ON_DEALER},
    {ZMQ_HANDSHAKE_IVL, 5000, ON_BOTH},
    {ZMQ_HEARTBEAT_IVL, 3000, ON_BOTH},
    {ZMQ_HEARTBEAT_TIMEOUT, 10000, ON_BOTH},
    {ZMQ_HEARTBEAT_TTL, 10000, ON_BOTH},
};

static int set_int(sock *self, int option, int value, err *e)
{
    if (zmq_setsockopt(self->zmq, option, &value, sizeof(value)) < 0)
        return fail(e, ERR_INTERNAL, "cannot set a socket option");
    return 0;
}

static int set_identity(sock *self, err *e)
{
    uint8_t identity[IDENTITY];
    id_random(identity, sizeof(identity));
    identity[0] = 'c'; /* a leading zero byte is ZeroMQ's own */
    if (zmq_setsockopt(self->zmq, ZMQ_ROUTING_ID, identity, sizeof(identity)) < 0)
        return fail(e, ERR_INTERNAL, "cannot set the identity");
    return 0;
}

static int configure(sock *self, const sock_options *options, err *e)
{
    int kind = self->kind == SOCK_ROUTER ? ON_ROUTER : ON_DEALER;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if ((settings[i].kinds & kind) &&
            set_int(self, settings[i].option, settings[i].value, e) < 0)
            return -1;
    int queue = options != NULL && options->queue > 0 ? options->queue : SOCK_QUEUE;
    int linger = options != NULL ? options->linger_ms : 0;
    if (set_int(self, ZMQ_SNDHWM, queue, e) < 0 || set_int(self, ZMQ_RCVHWM, queue, e) < 0 ||
        set_int(self, ZMQ_LINGER, linger, e) < 0)
        return -1;
    int64_t size = SOCK_MESSAGE_MAX;
    if (zmq_setsockopt(self->zmq, ZMQ_MAXMSGSIZE, &size, sizeof(size)) < 0)
        return fail(e, ERR_INTERNAL, "cannot set the message limit");
    if (kind == ON_DEALER && set_identity(self, e) < 0)
        return -1;
    size_t length = sizeof(self->fd);
    if (zmq_getsockopt(self->zmq, ZMQ_FD, &self->fd, &length) < 0)
        return fail(e, ERR_INTERNAL, "cannot get the socket's descriptor");
    return 0;
}

sock *sock_create(sock_ctx *ctx, sock_kind kind, const sock_options *options, err *e)
{
    SCOPED(sock_destroy) sock *self = xcalloc(1, sizeof(*self));
    self->kind = kind;
    self->ctx = ctx;
    buf_init(&self->out, SOCK_MESSAGE_MAX);
    if (options != NULL && options->key != NULL)
        self->key = xmemdup(options->key, sizeof(*options->key));
    self->zmq = zmq_socket(ctx->zmq, kind == SOCK_ROUTER ? ZMQ_ROUTER : ZMQ_DEALER);
    if (self->zmq == NULL) {
        fail(e, ERR_LIMIT, "cannot open a socket");
        return NULL;
    }
    if (configure(self, options, e) < 0)
        return NULL;
    return TAKE(self);
}

void sock_destroy(sock **self)
{
    if (self == NULL || *self == NULL)
        return;
    if ((*self)->zmq != NULL)
        zmq_close((*self)->zmq);
    if ((*self)->monitor != NULL)
        zmq_close((*self)->monitor);
    if ((*self)->key != NULL)
        curve_wipe(&(*self)->key->pair);
    free((*self)->key);
    buf_fini(&(*self)->out);
    free(*self);
    *self = NULL;
}

/* ---- endpoints ---- */

static bool is_loopback(const char *host)
{
    struct in_addr address;
    if (strcmp(host, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* ZeroMQ itself takes 99999999 for a port. */
static bool is_port(const char *text)
{
    int64_t port;
    return strcmp(text, "*") == 0 || (str_to_i64(text, &port) && port >= 1 && port <= 65535);
}

/* The host of "tcp://HOST:PORT" or "curve://HOST:PORT"; the result is where ":PORT" begins, or NULL. */
static const char *split_host(const char *endpoint, char host[ENDPOINT_MAX])
{
    const char *address = strstr(endpoint, "://") + 3;
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || !is_port(colon + 1))
        return NULL;
    snprintf(host, ENDPOINT_MAX, "%.*s", (int)(colon - address), address);
    if (strcmp(host, "localhost") == 0)
        snprintf(host, ENDPOINT_MAX, "127.0.0.1");
    return colon;
}

bool sock_is_secure(const char *endpoint)
{
    char host[ENDPOINT_MAX];
    if (str_starts(endpoint, "curve://"))
        return true;
    return str_starts(endpoint, "tcp://") && strlen(endpoint) < ENDPOINT_MAX &&
           split_host(endpoint, host) != NULL && !is_loopback(host);
}

/* tcp_endpoint writes the endpoint as ZeroMQ wants it to out. */
static int tcp_endpoint(const sock *self, const char *endpoint, char out[ENDPOINT_MAX], err *e)
{
    char host[ENDPOINT_MAX];
    const char *colon = split_host(endpoint, host);
    if (colon == NULL)
        return err_set(e, ERR_USAGE, "%s: expected tcp://HOST:PORT or curve://HOST:PORT", endpoint);
    if (sock_is_secure(endpoint) && self->key == NULL)
        return err_set(
            e, ERR_USAGE,
            "%s %s: give the key file that `ce-coord keys new NAME` writes (--key FILE), "
            "or use tcp://127.0.0.1:PORT or ipc://PATH",
            endpoint,
            is_loopback(host) ? "is encrypted" : "leaves this host, and plain transport must not");
    int length = snprintf(out, ENDPOINT_MAX, "tcp://%s%s", host, colon);
    assert(length > 0 && length < ENDPOINT_MAX);
    return 0;
}

static int check_endpoint(const sock *self, const char *endpoint, char out[ENDPOINT_MAX], err *e)
{
    size_t path_max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
    if (strlen(endpoint) > ENDPOINT_MAX / 2)
        return err_set(e, ERR_USAGE, "the endpoint %.64s… is too long", endpoint);
    if (str_starts(endpoint, "tcp://") || str_starts(endpoint, "curve://"))
        return tcp_endpoint(self, endpoint, out, e);
    if (!str_starts(endpoint, "ipc://") || endpoint[6] == '\0')
        return err_set(e, ERR_USAGE,
                       "%s is no endpoint: use ipc://PATH, tcp://127.0.0.1:PORT or "
                       "curve://HOST:PORT",
                       endpoint);
    if (strlen(endpoint + 6) > path_max)
        return err_set(e, ERR_USAGE, "%s: the path of a local socket has at most %zu bytes",
                       endpoint, path_max);
    snprintf(out, ENDPOINT_MAX, "%s", endpoint);
    return 0;
}

/* is_served says whether somebody listens at a local socket: ZeroMQ would silently take it over. */
static bool is_served(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
    SCOPED(scoped_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

static int bind_failed(const char *endpoint, err *e)
{
    int number = zmq_errno();
    if (number == EADDRINUSE)
        return err_set(e, ERR_CONFLICT, "%s is in use by another process", endpoint);
    return err_native(e, ERR_USAGE, ERR_DOMAIN_ZMQ, number, "cannot bind %s: %s", endpoint,
                      zmq_strerror(number));
}

static int set_key(sock *self, int option, const curve_key *key, err *e)
{
    if (zmq_setsockopt(self->zmq, option, key->bytes, sizeof(key->bytes)) < 0)
        return fail(e, ERR_SYSTEM, "cannot use the key (was libzmq built without CURVE?)");
    return 0;
}

/* Options hold for what is bound or connected after they were set: each endpoint has its own. */
static int secure_router(sock *self, bool on, err *e)
{
    if (set_int(self, ZMQ_CURVE_SERVER, on, e) < 0)
        return -1;
    if (!on)
        return 0;
    if (zmq_setsockopt(self->zmq, ZMQ_ZAP_DOMAIN, "ce", 2) < 0)
        return fail(e, ERR_INTERNAL, "cannot ask for authentication");
    return set_key(self, ZMQ_CURVE_SECRETKEY, &self->key->pair.secret, e);
}

static int secure_dealer(sock *self, err *e)
{
    return set_key(self, ZMQ_CURVE_SERVERKEY, &self->key->coordinator, e) < 0 ||
                   set_key(self, ZMQ_CURVE_PUBLICKEY, &self->key->pair.open, e) < 0 ||
                   set_key(self, ZMQ_CURVE_SECRETKEY, &self->key->pair.secret, e) < 0
               ? -1
               : 0;
}

int sock_bind(sock *self, const char *endpoint, err *e)
{
    char real[ENDPOINT_MAX];
    if (check_endpoint(self, endpoint, real, e) < 0 ||
        secure_router(self, sock_is_secure(endpoint), e) < 0)
        return -1;
    const char *path = str_starts(real, "ipc:///") ? real + strlen("ipc://") : NULL;
    if (path != NULL && is_served(path))
        return err_set(e, ERR_CONFLICT, "%s is in use by another process", endpoint);
    if (set_int(self, ZMQ_IPV6, strchr(real, '[') != NULL, e) < 0)
        return -1;
    if (zmq_bind(self->zmq, real) < 0)
        return bind_failed(endpoint, e);
    if (path != NULL)
        chmod(path, 0600); /* only this user's processes are peers */
    size_t length = sizeof(self->endpoint);
    if (zmq_getsockopt(self->zmq, ZMQ_LAST_ENDPOINT, self->endpoint, &length) < 0)
        return fail(e, ERR_INTERNAL, "cannot ask for the endpoint");
    return 0;
}

int sock_connect(sock *self, const char *endpoint, err *e)
{
    char real[ENDPOINT_MAX];
    if (check_endpoint(self, endpoint, real, e) < 0 ||
        set_int(self, ZMQ_IPV6, strchr(real, '[') != NULL, e) < 0)
        return -1;
    if (self->key != NULL && str_starts(real, "tcp://") && secure_dealer(self, e) < 0)
        return -1;
    if (zmq_connect(self->zmq, real) < 0)
        return err_native(e, ERR_USAGE, ERR_DOMAIN_ZMQ, zmq_errno(), "cannot connect to %s: %s",
                          endpoint, zmq_strerror(zmq_errno()));
    return 0;
}

const char *sock_endpoint(const sock *self)
{
    return self->endpoint;
}

/* ---- messages ---- */

static int send_part(sock *self, const void *data, size_t size, int flags, err *e)
{
    while (zmq_send(self->zmq, data, size, flags | ZMQ_DONTWAIT) < 0) {
        int number = zmq_errno();
        if (number == EINTR)
            continue;
        if (number == EHOSTUNREACH)
            return err_set(e, ERR_NOT_FOUND, "the peer is gone");
        if (number != EAGAIN)
            return fail(e, ERR_SYSTEM, "cannot send");
        err_native(e, ERR_UNAVAILABLE, ERR_DOMAIN_ZMQ, number,
                   "not sent: no connection yet, or the peer does not keep up");
        if (e != NULL)
            e->retry = true;
        return -1;
    }
    return 0;
}

int sock_send(sock *self, const peer_id *to, const message *m, err *e)
{
    assert((to != NULL) == (self->kind == SOCK_ROUTER));
    buf_clear(&self->out);
    if (message_encode(m, &self->out, e) < 0)
        return -1;
    if (to != NULL && send_part(self, to->bytes, to->size, ZMQ_SNDMORE, e) < 0)
        return -1;
    return send_part(self, self->out.data, self->out.size, 0, e);
}

/* What came in: the first parts of one message. */
typedef struct incoming {
    zmq_msg_t parts[PARTS];
    size_t count; /* of all parts; those past PARTS are dropped */
} incoming;

static void incoming_fini(incoming *self)
{
    for (size_t i = 0; i < PARTS; i++)
        zmq_msg_close(&self->parts[i]);
}

/* incoming_read: 1 = a whole message, 0 = nothing there, -1 = err. */
static int incoming_read(incoming *self, void *zmq, err *e)
{
    zmq_msg_t extra;
    zmq_msg_init(&extra);
    int rc = 1;
    for (bool more = true; more; self->count++) {
        zmq_msg_t *part = self->count < PARTS ? &self->parts[self->count] : &extra;
        int n;
        do
            n = zmq_msg_recv(part, zmq, ZMQ_DONTWAIT);
        while (n < 0 && zmq_errno() == EINTR);
        if (n < 0) {
            rc = zmq_errno() == EAGAIN ? 0 : fail(e, ERR_SYSTEM, "cannot receive");
            break;
        }
        more = zmq_msg_more(part) != 0;
    }
    zmq_msg_close(&extra);
    return rc;
}

static int read_identity(zmq_msg_t *part, peer_id *from, err *e)
{
    size_t size = zmq_msg_size(part);
    from->size = 0;
    if (size == 0 || size > SOCK_PEER_MAX)
        return err_set(e, ERR_PROTOCOL, "a peer has an identity of %zu bytes", size);
    memcpy(from->bytes, zmq_msg_data(part), size);
    from->size = size;
    return 0;
}

/* The key that came in by, as zap.c wrote it to the connection. */
static void read_key(zmq_msg_t *body, peer_id *from)
{
    const char *user = zmq_msg_gets(body, "User-Id");
    from->key = (curve_key){.bytes = {0}};
    from->secure = user != NULL && curve_parse(user, &from->key);
}

int sock_recv(sock *self, peer_id *from, message *out, err *e)
{
    SCOPED(incoming_fini) incoming in = {.count = 0};
    for (size_t i = 0; i < PARTS; i++)
        zmq_msg_init(&in.parts[i]);
    int rc = incoming_read(&in, self->zmq, e);
    if (rc <= 0)
        return rc;
    size_t wanted = 1;
    if (self->kind == SOCK_ROUTER) {
        wanted = 2;
        if (read_identity(&in.parts[0], from, e) < 0)
            return -1;
        read_key(&in.parts[in.count > 1], from);
    }
    if (in.count != wanted)
        return err_set(e, ERR_PROTOCOL, "a message has one part, not %zu", in.count - wanted + 1);
    zmq_msg_t *body = &in.parts[wanted - 1];
    return message_decode(zmq_msg_data(body), zmq_msg_size(body), out, e) < 0 ? -1 : 1;
}

/* ---- what becomes of connections ---- */

int sock_watch(sock *self, err *e)
{
    char endpoint[ENDPOINT_MAX];
    int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
    snprintf(endpoint, sizeof(endpoint), "inproc://watch-%p", self->zmq);
    if (zmq_socket_monitor(self->zmq, endpoint, events) < 0)
        return fail(e, ERR_SYSTEM, "cannot watch a socket");
    self->monitor = zmq_socket(self->ctx->zmq, ZMQ_PAIR);
    if (self->monitor == NULL || zmq_connect(self->monitor, endpoint) < 0)
        return fail(e, ERR_SYSTEM, "cannot watch a socket");
    return 0;
}

static sock_news news_of(uint16_t event, uint32_t value)
{
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
        return SOCK_UP;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
        return SOCK_REFUSED;
    return event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL &&
                   value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
               ? SOCK_PLAIN
               : SOCK_ODD;
}

sock_news sock_event(sock *self)
{
    uint8_t head[6], address[ENDPOINT_MAX];
    uint16_t event;
    uint32_t value;
    if (self->monitor == NULL ||
        zmq_recv(self->monitor, head, sizeof(head), ZMQ_DONTWAIT) != (int)sizeof(head))
        return SOCK_QUIET;
    zmq_recv(self->monitor, address, sizeof(address), ZMQ_DONTWAIT);
    memcpy(&event, head, sizeof(event));
    memcpy(&value, head + sizeof(event), sizeof(value));
    return news_of(event, value);
}

/* ---- waiting ---- */

bool sock_wait(sock *self, int64_t timeout_ms)
{
    zmq_pollitem_t item = {.socket = self->zmq, .events = ZMQ_POLLIN};
    return zmq_poll(&item, 1, timeout_ms) != 0; /* an error shows when receiving */
}

bool sock_readable(sock *self)
{
    int events = 0;
    size_t length = sizeof(events);
    if (zmq_getsockopt(self->zmq, ZMQ_EVENTS, &events, &length) < 0)
        return zmq_errno() != EINTR; /* let sock_recv say what is wrong */
    return (events & ZMQ_POLLIN) != 0;
}

int sock_fd(const sock *self)
{
    return self->fd;
}
