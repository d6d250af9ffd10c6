/* server - libmicrohttpd in front of views, feed and metrics
 *
 * An event stream is a response without an end. When its reader has nothing to give, the connection is
 * suspended, costs nothing, and is resumed by server_tick. Whether there was news between "nothing to give"
 * and "suspended" is told by a counter of ticks, compared under the lock.
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "dashboards/visitor.h"
#include "dashboards/view.h"
#include "dashboards/web.h"

#define COOKIE "ce_token"
enum { STREAM_BYTES_MAX = 4 * 1024 * 1024, URL_MAX = 320 };

typedef struct client {
    struct client *next, *before;
    server *owner;
    struct MHD_Connection *connection;
    feed_cursor at;
    buf pending;
    size_t sent;
    int64_t spoke_ms;
    bool suspended; /* under the owner's lock */
} client;

struct server {
    server_options options; /* texts are borrowed during server_start only */
    visitor_address at;
    char *token; /* NULL: none */
    char url[URL_MAX];
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* over all below */
    feed *feed;
    client *clients;
    size_t client_count;
    uint64_t ticks;
    bool stopping;
};

/* ---- answers ---- */

typedef struct answer {
    unsigned status;
    const char *type;
    const char *location, *cookie; /* NULL: none */
} answer;

static const struct {
    const char *name, *value;
} safe_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static enum MHD_Result queue(struct MHD_Connection *connection, const answer *a,
                             struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    for (size_t i = 0; i < sizeof safe_headers / sizeof safe_headers[0]; i++)
        MHD_add_response_header(response, safe_headers[i].name, safe_headers[i].value);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
    if (a->location != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, a->location);
    if (a->cookie != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, a->cookie);
    if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (a->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    enum MHD_Result result = MHD_queue_response(connection, a->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_bytes(struct MHD_Connection *connection, const answer *a,
                                  const void *data, size_t size)
{
    return queue(
        connection, a,
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)data, MHD_RESPMEM_MUST_COPY));
}

/* Hands the text over. */
static enum MHD_Result send_buf(struct MHD_Connection *connection, const answer *a, buf *text)
{
    size_t size = text->size;
    char *data = buf_take(text);
    return queue(connection, a, MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, SERVER_REQUEST);
    buf_puts(&text, "{\"error\": ");
    json_quote(&text, why, strlen(why));
    buf_puts(&text, "}\n");
    const answer a = {.status = status, .type = "application/json"};
    return send_buf(connection, &a, &text);
}

static const char *argument(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* ---- the event stream ---- */

static void client_free(void *arg)
{
    client *c = arg;
    server *self = c->owner;
    pthread_mutex_lock(&self->lock);
    if (c->before != NULL)
        c->before->next = c->next;
    else
        self->clients = c->next;
    if (c->next != NULL)
        c->next->before = c->before;
    self->client_count--;
    pthread_mutex_unlock(&self->lock);
    buf_fini(&c->pending);
    free(c);
}

static void fill(client *c)
{
    buf_clear(&c->pending);
    c->sent = 0;
    int64_t now = clock_mono_ms();
    bool silent = !feed_read(c->owner->feed, &c->at, &c->pending);
    if (silent && now - c->spoke_ms >= SERVER_STILL_HERE_MS)
        buf_puts(&c->pending, ": still here\n\n");
    if (c->pending.size > 0)
        c->spoke_ms = now;
}

/* True: the connection sleeps, or there was a tick meanwhile and it is worth looking again. */
static void sleep_unless_ticked(client *c, uint64_t ticks)
{
    server *self = c->owner;
    pthread_mutex_lock(&self->lock);
    if (self->ticks == ticks && !self->stopping) {
        c->suspended = true;
        MHD_suspend_connection(c->connection);
    }
    pthread_mutex_unlock(&self->lock);
}

static ssize_t stream_more(void *arg, uint64_t position, char *out, size_t max)
{
    (void)position;
    client *c = arg;
    server *self = c->owner;
    pthread_mutex_lock(&self->lock);
    uint64_t ticks = self->ticks;
    bool stopping = self->stopping;
    pthread_mutex_unlock(&self->lock);
    if (stopping || c->pending.overflow)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (c->sent == c->pending.size)
        fill(c);
    size_t size = c->pending.size - c->sent;
    if (size == 0) {
        sleep_unless_ticked(c, ticks);
        return 0;
    }
    size = size < max ? size : max;
    memcpy(out, c->pending.data + c->sent, size);
    c->sent += size;
    return (ssize_t)size;
}

static client *client_new(server *self, struct MHD_Connection *connection)
{
    int64_t last = -1;
    const char *seen = header(connection, "Last-Event-ID");
    if (seen == NULL || !str_to_i64(seen, &last) || last < 0)
        last = -1;
    client *c = xcalloc(1, sizeof *c);
    c->owner = self;
    c->connection = connection;
    c->at = feed_begin(self->feed, last);
    c->spoke_ms = clock_mono_ms();
    buf_init(&c->pending, STREAM_BYTES_MAX);
    buf_puts(&c->pending, "retry: 2000\n\n");
    pthread_mutex_lock(&self->lock);
    c->next = self->clients;
    if (c->next != NULL)
        c->next->before = c;
    self->clients = c;
    self->client_count++;
    pthread_mutex_unlock(&self->lock);
    return c;
}

static enum MHD_Result answer_events(server *self, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&self->lock);
    bool open = self->feed != NULL && !self->stopping, full = self->client_count >= SERVER_STREAMS;
    pthread_mutex_unlock(&self->lock);
    if (!open || full)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                      full ? "too many pages follow this run" : "no events yet");
    const answer a = {.status = MHD_HTTP_OK, .type = "text/event-stream; charset=utf-8"};
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, SERVER_REQUEST, stream_more, client_new(self, connection), client_free);
    if (response != NULL)
        MHD_add_response_header(response, "X-Accel-Buffering", "no");
    return queue(connection, &a, response);
}

void server_tick(server *self, bool news, int64_t now_ms)
{
    pthread_mutex_lock(&self->lock);
    self->ticks++;
    for (client *c = self->clients; c != NULL; c = c->next) {
        if (!c->suspended || !(news || now_ms - c->spoke_ms >= SERVER_STILL_HERE_MS))
            continue;
        c->suspended = false;
        MHD_resume_connection(c->connection);
    }
    pthread_mutex_unlock(&self->lock);
}

size_t server_streams(server *self)
{
    pthread_mutex_lock(&self->lock);
    size_t count = self->client_count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

/* ---- the other answers ---- */

static enum MHD_Result answer_view(server *self, struct MHD_Connection *connection, const view *v)
{
    err e = {0};
    SCOPED(buf_fini) buf text;
    const view_ask ask = {.run = argument(connection, "run"),
                          .task = argument(connection, "task"),
                          .hash = argument(connection, "hash"),
                          .before = argument(connection, "before")};
    buf_init(&text, VIEW_BYTES_MAX);
    if (v->write(self->options.db, &ask, &text, &e) < 0)
        return refuse(connection,
                      e.code == ERR_NOT_FOUND ? MHD_HTTP_NOT_FOUND
                      : e.code == ERR_USAGE || e.code == ERR_CONFLICT
                          ? MHD_HTTP_BAD_REQUEST
                          : MHD_HTTP_INTERNAL_SERVER_ERROR,
                      e.text);
    if (text.overflow)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                      "this is too large for a page: use ce-coord on the machine itself");
    const answer a = {.status = MHD_HTTP_OK, .type = v->type};
    return send_buf(connection, &a, &text);
}

static enum MHD_Result answer_metrics(server *self, struct MHD_Connection *connection)
{
    const char *accept = header(connection, MHD_HTTP_HEADER_ACCEPT);
    bool openmetrics = accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
    SCOPED(buf_fini) buf text;
    buf_init(&text, METRICS_TEXT_MAX);
    metrics_set(self->options.metrics, METRICS_EVENT_STREAMS, (double)server_streams(self));
    metrics_copy(self->options.metrics, openmetrics, clock_mono_ms(), &text);
    const answer a = {.status = MHD_HTTP_OK,
                      .type = openmetrics
                                  ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                  : "text/plain; version=0.0.4; charset=utf-8"};
    return send_buf(connection, &a, &text);
}

static enum MHD_Result answer_health(server *self, struct MHD_Connection *connection)
{
    (void)self;
    const answer a = {.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    return send_bytes(connection, &a, "ok\n", 3);
}

static enum MHD_Result answer_ready(server *self, struct MHD_Connection *connection)
{
    err e = {.code = ERR_UNAVAILABLE, .text = "starting"};
    pthread_mutex_lock(&self->lock);
    feed *from = self->feed;
    pthread_mutex_unlock(&self->lock);
    if (from != NULL)
        feed_error(from, &e);
    if (e.code != ERR_NONE)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, e.text);
    return answer_health(self, connection);
}

/* The token moves from the address into a cookie that scripts cannot read. */
static enum MHD_Result answer_login(server *self, struct MHD_Connection *connection)
{
    const char *given = argument(connection, "token");
    if (self->token == NULL || !visitor_same(self->token, given))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "this is not the token");
    SCOPED(scoped_free)
    char *cookie = xasprintf(COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict", self->token);
    const answer a = {
        .status = MHD_HTTP_SEE_OTHER, .type = "text/plain", .location = "/", .cookie = cookie};
    return send_bytes(connection, &a, "", 0);
}

typedef struct route {
    const char *path;
    enum MHD_Result (*fn)(server *self, struct MHD_Connection *connection);
    bool open; /* says nothing that a token protects */
} route;

static const route routes[] = {
    {"/events", answer_events, false}, {"/metrics", answer_metrics, false},
    {"/healthz", answer_health, true}, {"/readyz", answer_ready, true},
    {"/login", answer_login, true},
};

static const route *route_of(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if (strcmp(routes[i].path, path) == 0)
            return &routes[i];
    return NULL;
}

static enum MHD_Result answer_path(server *self, struct MHD_Connection *connection,
                                   const char *path)
{
    for (const view *v = views; v->path != NULL; v++)
        if (strcmp(v->path, path) == 0)
            return answer_view(self, connection, v);
    for (const web_file *f = web_files; f->path != NULL; f++) {
        const answer a = {.status = MHD_HTTP_OK, .type = f->type};
        if (strcmp(f->path, path) == 0)
            return send_bytes(connection, &a, f->data, strlen((const char *)f->data));
    }
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd's form */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    (void)version, (void)upload, (void)upload_size, (void)state;
    server *self = arg;
    const route *to = route_of(path);
    const visitor_request request = {
        .method = method,
        .host = header(connection, MHD_HTTP_HEADER_HOST),
        .origin = header(connection, MHD_HTTP_HEADER_ORIGIN),
        .authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
        .cookie = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, COOKIE)};
    const char *why = NULL;
    int status =
        visitor_check(&self->at, to != NULL && to->open ? NULL : self->token, &request, &why);
    if (status != 0)
        return refuse(connection, (unsigned)status, why);
    return to != NULL ? to->fn(self, connection) : answer_path(self, connection, path);
}

/* ---- start, stop ---- */

typedef union socket_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} socket_address;

static socket_address address_of(const visitor_address *at)
{
    socket_address a = {.any = {.sa_family = AF_UNSPEC}};
    if (at->six) {
        a.six =
            (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)at->port)};
        inet_pton(AF_INET6, at->host, &a.six.sin6_addr);
    } else {
        a.four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)at->port)};
        inet_pton(AF_INET, at->host, &a.four.sin_addr);
    }
    return a;
}

/* A NUL would end a text before its end: "/page.js%00.html" is not "/page.js". */
static size_t unescape(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg, (void)connection;
    size_t size = MHD_http_unescape(text);
    for (char *nul; (nul = memchr(text, '\0', size)) != NULL;)
        *nul = '\1';
    return size;
}

static void quiet(void *arg, const char *format, va_list args)
{
    (void)arg, (void)format, (void)args; /* a browser that hangs up is no news */
}

static int listen_at(server *self, err *e)
{
    socket_address a = address_of(&self->at);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (self->at.six ? MHD_USE_IPv6 : 0);
    self->daemon = MHD_start_daemon(
        flags, (uint16_t)self->at.port, NULL, NULL, on_request, self, MHD_OPTION_EXTERNAL_LOGGER,
        quiet, NULL, MHD_OPTION_SOCK_ADDR, &a.any, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)SERVER_THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVER_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_REQUEST, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SERVER_IDLE_S, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
    if (self->daemon == NULL)
        return err_set(
            e, ERR_UNAVAILABLE,
            "--http %s: cannot listen there (is the port taken? port 0 takes a free one)",
            self->options.address);
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (info != NULL)
        self->at.port = info->port;
    snprintf(self->url, sizeof self->url, self->at.six ? "http://[%s]:%d/" : "http://%s:%d/",
             self->at.host, self->at.port);
    return 0;
}

server *server_start(const server_options *options, err *e)
{
    SCOPED(server_destroy) server *self = xcalloc(1, sizeof *self);
    self->options = *options;
    pthread_mutex_init(&self->lock, NULL);
    self->token = options->token != NULL ? xstrdup(options->token) : NULL;
    if (visitor_listen(options->address, &self->at, e) < 0 ||
        visitor_token(&self->at, options->token, e) < 0 || listen_at(self, e) < 0)
        return NULL;
    return TAKE(self);
}

void server_stream(server *self, feed *from)
{
    pthread_mutex_lock(&self->lock);
    self->feed = from;
    pthread_mutex_unlock(&self->lock);
}

const char *server_url(const server *self)
{
    return self->url;
}

void server_stop(server *self)
{
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_mutex_unlock(&self->lock);
    server_tick(self, true, clock_mono_ms()); /* a suspended connection would keep the daemon */
    if (self->daemon != NULL)
        MHD_stop_daemon(self->daemon);
    self->daemon = NULL;
}

void server_destroy(server **self)
{
    server *h = *self;
    if (h == NULL)
        return;
    server_stop(h);
    pthread_mutex_destroy(&h->lock);
    free(h->token);
    free(h);
    *self = NULL;
}
