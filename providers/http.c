/* http - POST requests to model providers
 *
 * A caller makes a job on its own stack of memory, puts it into the queue and waits. The I/O thread
 * takes it, drives its easy handle in the one multi handle, and marks it done. It wakes by a new job,
 * by traffic, or every TICK_MS to look at cancellations and silence.
 *
 * SPDX-License-Identifier: MIT */
#include "providers/http.h"

#include <assert.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "providers/url.h"

enum {
    TICK_MS = 50,
    IDLE_TICK_MS = 60000,
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_INTERVAL_S = 30,
    KEPT_MAX = 256
};

struct http {
    CURLM *multi;
    queue *jobs; /* waiting to be started */
    char *ca_file;
    pthread_t thread;
    pthread_mutex_t lock; /* of every job's `done`, and of `callers` */
    pthread_cond_t finished;
    size_t callers; /* inside http_post */
    atomic_bool stop;
    struct job *running; /* the I/O thread's list */
};

/* A transfer. Until `done` it is the I/O thread's, then the caller's again. */
typedef struct job {
    const http_request *request;
    http_reply *reply;
    err *e;
    CURL *easy;
    struct curl_slist *fields;
    char reason[CURL_ERROR_SIZE];
    int64_t start_ms, heard_ms;
    err stream_error;
    http_end early; /* why we ended it ourselves; HTTP_END_WHOLE: we did not */
    bool done;
    struct job *next;
} job;

/* ---- replies ---- */

void http_reply_fini(http_reply *self)
{
    for (size_t i = 0; i < self->field_count; i++) {
        free((void *)(uintptr_t)self->fields[i].name);
        free((void *)(uintptr_t)self->fields[i].value);
    }
    free(self->fields);
    buf_fini(&self->body);
    *self = (http_reply){0};
}

const char *http_reply_field(const http_reply *self, const char *name)
{
    for (size_t i = 0; i < self->field_count; i++) {
        if (strcmp(self->fields[i].name, name) == 0) {
            return self->fields[i].value;
        }
    }
    return NULL;
}

static void drop_fields(http_reply *reply)
{
    for (size_t i = 0; i < reply->field_count; i++) {
        free((void *)(uintptr_t)reply->fields[i].name);
        free((void *)(uintptr_t)reply->fields[i].value);
    }
    reply->field_count = 0;
}

static void add_field(http_reply *reply, const char *line, size_t size)
{
    const char *colon = memchr(line, ':', size);
    if (colon == NULL || size > HTTP_FIELD_MAX || reply->field_count == HTTP_FIELDS_MAX) {
        return;
    }
    size_t length = (size_t)(colon - line);
    str value = str_trim((str){.data = colon + 1, .size = size - length - 1});
    char *name = xstrndup(line, length);
    for (size_t i = 0; i < length; i++) {
        name[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    }
    if (reply->fields == NULL) {
        reply->fields = xcalloc(HTTP_FIELDS_MAX, sizeof(*reply->fields));
    }
    reply->fields[reply->field_count++] =
        (http_field){.name = name, .value = xstrndup(value.data, value.size)};
}

/* ---- what libcurl calls ---- */

/* Proxies and 100-continue bring header blocks of their own: the last one counts. */
static size_t on_header(char *line, size_t size, size_t count, void *arg)
{
    job *self = arg;
    self->heard_ms = clock_mono_ms();
    if (str_starts(line, "HTTP/")) {
        drop_fields(self->reply);
    } else {
        add_field(self->reply, line, size * count);
    }
    return size * count;
}

static bool is_event_stream(const job *self)
{
    const char *type = http_reply_field(self->reply, "content-type");
    long status = 0;
    curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &status);
    return self->request->stream != NULL && status == 200 && type != NULL &&
           strncasecmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
}

static size_t refuse(job *self, http_end why)
{
    self->early = why;
    return 0; /* not `size`: libcurl ends the transfer */
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    job *self = arg;
    const http_request *request = self->request;
    http_reply *reply = self->reply;
    size *= count;
    self->heard_ms = clock_mono_ms();
    if (isnan(reply->first_byte_ms)) {
        reply->first_byte_ms = (double)(self->heard_ms - self->start_ms);
        reply->streamed = is_event_stream(self);
    }
    if (!reply->streamed) {
        return buf_add(&reply->body, bytes, size) == 0 ? size : refuse(self, HTTP_END_TOO_BIG);
    }
    return request->stream(request->arg, bytes, size, &self->stream_error) == 0
               ? size
               : refuse(self, HTTP_END_STOPPED);
}

/* Sockets must not reach a child that is started meanwhile. */
static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    (void)arg;
    (void)purpose;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

/* ---- a job ---- */

static void add_line(job *self, const char *name, const char *value)
{
    char *line = xasprintf("%s:%s%s", name, value[0] != '\0' ? " " : "", value);
    struct curl_slist *longer = curl_slist_append(self->fields, line);
    explicit_bzero(line, strlen(line));
    free(line);
    if (longer == NULL) {
        abort(); /* memory is gone, as in xalloc */
    }
    self->fields = longer;
}

static void wipe_fields(job *self)
{
    for (struct curl_slist *at = self->fields; at != NULL; at = at->next) {
        explicit_bzero(at->data, strlen(at->data));
    }
    curl_slist_free_all(self->fields);
    self->fields = NULL;
}

static void set_limits(const job *self)
{
    const http_request *r = self->request;
    CURL *easy = self->easy;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, str_starts(r->url, "https:") ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)r->connect_ms);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_INTERVAL_S);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    if (url_is_loopback(r->url)) {
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    }
}

static void set_request(job *self, const char *ca_file)
{
    const http_request *r = self->request;
    CURL *easy = self->easy;
    curl_easy_setopt(easy, CURLOPT_URL, r->url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, r->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
    add_line(self, "Content-Type", "application/json");
    add_line(self, "Expect", ""); /* libcurl would wait a second for 100-continue */
    for (size_t i = 0; i < r->field_count; i++) {
        add_line(self, r->fields[i].name, r->fields[i].value);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, self->fields);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "ce");
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, self);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, self);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, self->reason);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, self);
    if (ca_file != NULL) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
    }
    set_limits(self);
}

/* ---- how it ended ---- */

static const struct {
    CURLcode code;
    http_end end;
} ends[] = {
    {CURLE_OK, HTTP_END_WHOLE},
    {CURLE_COULDNT_RESOLVE_PROXY, HTTP_END_UNREACHABLE},
    {CURLE_COULDNT_RESOLVE_HOST, HTTP_END_UNREACHABLE},
    {CURLE_COULDNT_CONNECT, HTTP_END_UNREACHABLE},
    {CURLE_PROXY, HTTP_END_UNREACHABLE},
    {CURLE_SSL_CONNECT_ERROR, HTTP_END_UNREACHABLE},
    {CURLE_PEER_FAILED_VERIFICATION, HTTP_END_CERTIFICATE},
    {CURLE_SSL_CACERT_BADFILE, HTTP_END_CERTIFICATE},
    {CURLE_SSL_ISSUER_ERROR, HTTP_END_CERTIFICATE},
    {CURLE_OPERATION_TIMEDOUT, HTTP_END_IDLE}, /* only the connect time is left to libcurl */
    {CURLE_SEND_ERROR, HTTP_END_CUT},
    {CURLE_RECV_ERROR, HTTP_END_CUT},
    {CURLE_GOT_NOTHING, HTTP_END_CUT},
    {CURLE_PARTIAL_FILE, HTTP_END_CUT},
    {CURLE_BAD_CONTENT_ENCODING, HTTP_END_CUT},
    {CURLE_WEIRD_SERVER_REPLY, HTTP_END_CUT},
};

static const err_code end_codes[] = {[HTTP_END_UNREACHABLE] = ERR_UNAVAILABLE,
                                     [HTTP_END_CERTIFICATE] = ERR_DENIED,
                                     [HTTP_END_CUT] = ERR_UNAVAILABLE,
                                     [HTTP_END_IDLE] = ERR_TIMEOUT,
                                     [HTTP_END_LATE] = ERR_TIMEOUT,
                                     [HTTP_END_TOO_BIG] = ERR_LIMIT,
                                     [HTTP_END_STOPPED] = ERR_PROTOCOL,
                                     [HTTP_END_CANCELLED] = ERR_CONFLICT,
                                     [HTTP_END_FAILED] = ERR_SYSTEM};

static http_end end_of(const job *self, CURLcode code)
{
    if (self->early != HTTP_END_WHOLE) {
        return self->early;
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (ends[i].code == code) {
            return ends[i].end;
        }
    }
    return HTTP_END_FAILED;
}

static void complain(const job *self, CURLcode code)
{
    const http_request *r = self->request;
    err *e = self->e;
    switch (self->reply->end) {
    case HTTP_END_WHOLE:
        break;
    case HTTP_END_LATE:
        err_set(e, ERR_TIMEOUT, "no whole answer within %lld s", (long long)(r->total_ms / 1000));
        break;
    case HTTP_END_TOO_BIG:
        err_set(e, ERR_LIMIT, "the answer is larger than %zu bytes", r->body_max);
        break;
    case HTTP_END_STOPPED:
        if (e != NULL) {
            *e = self->stream_error;
        }
        break;
    case HTTP_END_CANCELLED:
        err_set(e, ERR_CONFLICT, "cancelled while waiting for the model");
        break;
    case HTTP_END_IDLE:
        if (self->early == HTTP_END_IDLE) {
            err_set(e, ERR_TIMEOUT, "not a byte for %lld s", (long long)(r->idle_ms / 1000));
            break;
        }
        __attribute__((fallthrough));
    case HTTP_END_UNREACHABLE:
    case HTTP_END_CERTIFICATE:
    case HTTP_END_CUT:
    case HTTP_END_FAILED:
        err_native(e, end_codes[self->reply->end], ERR_DOMAIN_CURL, code, "%s",
                   self->reason[0] != '\0' ? self->reason : curl_easy_strerror(code));
        break;
    }
}

/* ---- the I/O thread ---- */

static void unlink_job(http *self, const job *gone)
{
    for (job **at = &self->running; *at != NULL; at = &(*at)->next) {
        if (*at == gone) {
            *at = gone->next;
            return;
        }
    }
}

static void finish(http *self, job *done, CURLcode code)
{
    long status = 0, request_size = 0;
    curl_easy_getinfo(done->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(done->easy, CURLINFO_REQUEST_SIZE, &request_size);
    unlink_job(self, done);
    curl_multi_remove_handle(self->multi, done->easy);
    curl_easy_cleanup(done->easy);
    done->reply->status = status;
    done->reply->sent = request_size > 0;
    done->reply->end = end_of(done, code);
    complain(done, code);
    pthread_mutex_lock(&self->lock);
    done->done = true;
    pthread_cond_broadcast(&self->finished);
    pthread_mutex_unlock(&self->lock);
}

static void start(http *self, job *fresh)
{
    fresh->next = self->running;
    self->running = fresh;
    fresh->easy = curl_easy_init();
    if (fresh->easy == NULL) {
        abort(); /* memory is gone */
    }
    fresh->heard_ms = clock_mono_ms();
    set_request(fresh, self->ca_file);
    if (curl_multi_add_handle(self->multi, fresh->easy) != CURLM_OK) {
        finish(self, fresh, CURLE_FAILED_INIT);
    }
}

static void take_finished(http *self)
{
    int left = 0;
    for (CURLMsg *m = curl_multi_info_read(self->multi, &left); m != NULL;
         m = curl_multi_info_read(self->multi, &left)) {
        char *owner = NULL;
        CURLcode code = m->data.result;
        if (m->msg == CURLMSG_DONE) {
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &owner);
            finish(self, (job *)(void *)owner, code);
        }
    }
}

static http_end overdue(const http *self, const job *j, int64_t now)
{
    if (atomic_load(&self->stop) ||
        (j->request->cancelled != NULL && atomic_load(j->request->cancelled))) {
        return HTTP_END_CANCELLED;
    }
    if (now - j->start_ms >= j->request->total_ms) {
        return HTTP_END_LATE;
    }
    return now - j->heard_ms >= j->request->idle_ms ? HTTP_END_IDLE : HTTP_END_WHOLE;
}

static void end_overdue(http *self, int64_t now)
{
    job *next = NULL;
    for (job *j = self->running; j != NULL; j = next) {
        next = j->next;
        http_end why = overdue(self, j, now);
        if (why != HTTP_END_WHOLE) {
            j->early = why;
            finish(self, j, CURLE_ABORTED_BY_CALLBACK);
        }
    }
}

static void *io_main(void *arg)
{
    http *self = arg;
    bool more = true;
    while (more) {
        int running = 0;
        for (job *j = queue_pop(self->jobs, 0); j != NULL; j = queue_pop(self->jobs, 0)) {
            start(self, j);
        }
        curl_multi_perform(self->multi, &running);
        take_finished(self);
        end_overdue(self, clock_mono_ms());
        more = !atomic_load(&self->stop) || self->running != NULL || queue_size(self->jobs) > 0;
        if (more) {
            int wait = self->running != NULL ? TICK_MS : IDLE_TICK_MS;
            curl_multi_poll(self->multi, NULL, 0, wait, NULL);
        }
    }
    return NULL;
}

/* ---- callers ---- */

http *http_create(const char *ca_file, err *e)
{
    http *self = xcalloc(1, sizeof(*self));
    curl_global_init(CURL_GLOBAL_DEFAULT);
    self->multi = curl_multi_init();
    curl_multi_setopt(self->multi, CURLMOPT_MAXCONNECTS, (long)KEPT_MAX);
    self->jobs = queue_create(HTTP_QUEUE_MAX, NULL);
    self->ca_file = ca_file != NULL ? xstrdup(ca_file) : NULL;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->finished, NULL);
    if (self->multi == NULL || pthread_create(&self->thread, NULL, io_main, self) != 0) {
        err_set(e, ERR_SYSTEM, "cannot start the thread that talks to providers");
        curl_multi_cleanup(self->multi);
        self->multi = NULL;
        http_destroy(&self);
    }
    return self;
}

void http_destroy(http **self)
{
    http *h = *self;
    if (h == NULL) {
        return;
    }
    if (h->multi != NULL) {
        atomic_store(&h->stop, true);
        curl_multi_wakeup(h->multi);
        pthread_join(h->thread, NULL);
        pthread_mutex_lock(&h->lock);
        while (h->callers > 0) { /* they have been told, and are on their way out */
            pthread_cond_wait(&h->finished, &h->lock);
        }
        pthread_mutex_unlock(&h->lock);
        curl_multi_cleanup(h->multi);
    }
    queue_destroy(&h->jobs);
    pthread_cond_destroy(&h->finished);
    pthread_mutex_destroy(&h->lock);
    free(h->ca_file);
    free(h);
    *self = NULL;
}

int http_post(http *self, const http_request *request, http_reply *out, err *e)
{
    assert(request->connect_ms > 0 && request->idle_ms > 0 && request->total_ms > 0);
    *out = (http_reply){.first_byte_ms = (double)NAN, .end = HTTP_END_FAILED};
    buf_init(&out->body, request->body_max);
    job own = {.request = request, .reply = out, .e = e, .start_ms = clock_mono_ms()};
    pthread_mutex_lock(&self->lock);
    self->callers++;
    own.done = queue_push(self->jobs, &own, e) != 0;
    curl_multi_wakeup(self->multi);
    while (!own.done) {
        pthread_cond_wait(&self->finished, &self->lock);
    }
    self->callers--;
    pthread_cond_broadcast(&self->finished);
    pthread_mutex_unlock(&self->lock);
    wipe_fields(&own);
    return out->end == HTTP_END_WHOLE ? 0 : -1;
}
