/* remote - one answer from a provider behind HTTP
 *
 * A question is built once. Then: wait for room under the limit, post, read the reply, give the room
 * back; on a fault worth it, wait and post again. Events of a stream are read on the I/O thread while
 * the asking thread is blocked, so a reply has one user at a time.
 *
 * SPDX-License-Identifier: MIT */
#include "providers/remote.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/id.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "providers/http.h"
#include "providers/limit.h"
#include "providers/secret.h"
#include "providers/sse.h"
#include "providers/url.h"

enum {
    WAIT_SLICE_MS = 50,
    URL_MAX = CATALOG_URL_MAX + 256,
    FIELDS = 3,
    QUESTION_MAX = 16 * 1024 * 1024,
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    CONNECT_MS = 10 * SECOND_MS,
    IDLE_MS = 10 * MINUTE_MS,
    TOTAL_MS = 30 * MINUTE_MS,
    RETRIES_MS = 40 * MINUTE_MS
};

const remote_rules remote_default = {.connect_ms = CONNECT_MS,
                                     .idle_ms = IDLE_MS,
                                     .total_ms = TOTAL_MS,
                                     .retry = {.attempts = 5,
                                               .billed_retries = 1,
                                               .elapsed_ms = RETRIES_MS,
                                               .base_ms = 500,
                                               .cap_ms = MINUTE_MS}};

struct remote {
    const remote_ops *ops;
    const remote_rules *rules;
    catalog_address address;      /* url filled in */
    const ability_demand *demand; /* borrowed */
    ability_terms terms;
    secret key;
    limit *limit; /* borrowed from the table */
};

/* ---- what the process shares ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static http *client;
static limit_table *limits;
static err no_client;

static void end_shared(void)
{
    http_destroy(&client);
    limit_table_destroy(&limits);
}

static void start_shared(void)
{
    const char *ca_file = getenv("SSL_CERT_FILE"); /* libcurl itself does not look */
    client = http_create(ca_file != NULL && ca_file[0] != '\0' ? ca_file : NULL, &no_client);
    limits = limit_table_create();
    (void)atexit(end_shared); /* without it memory is merely not given back at the end */
}

/* ---- opening ---- */

static int read_key(remote *self, err *e)
{
    bool needed = false;
    const char *name = self->ops->key_name(self->address.url, &needed);
    char variable[CATALOG_KEY_MAX];
    if (self->demand->key != NULL) { /* a named endpoint with a key of its own */
        if (catalog_key_variable(self->demand->key, variable, e) != 0) {
            return -1;
        }
        name = variable;
        needed = true;
    }
    if (secret_read(name, &self->key, e) != 0) {
        return -1;
    }
    if (needed && self->key.value[0] == '\0') {
        return err_set(e, ERR_CONFIG,
                       "%s has no key on this node: set %s, or put a file of that name into the "
                       "folder that CE_CREDENTIALS names",
                       self->ops->name, name);
    }
    if (self->key.value[0] != '\0' && url_is_open(self->address.url)) {
        return err_set(e, ERR_CONFIG, "%s would travel in the open to %s: write https://", name,
                       self->address.url);
    }
    return 0;
}

/* The key counts by its hash: no table holds it. */
static char *limit_key(const remote *self)
{
    char hex[HASH_HEX];
    hash key = hash_of_text(self->key.value);
    hash_hex(&key, hex);
    return xasprintf("%s %s %s %.16s", self->ops->name, self->address.url, self->address.model,
                     hex);
}

remote *remote_open(const remote_ops *ops, const char *model, const ability_demand *demand,
                    const remote_rules *rules, err *e)
{
    SCOPED(remote_close) remote *self = xcalloc(1, sizeof(*self));
    self->ops = ops;
    self->rules = rules;
    self->demand = demand != NULL ? demand : &ability_no_demand;
    if (catalog_locate(model, &self->address, e) != 0) {
        return NULL;
    }
    if (self->address.url[0] == '\0') {
        assert(ops->url != NULL && "provider_check wants a URL where there is none");
        memccpy(self->address.url, ops->url, '\0', sizeof(self->address.url));
    }
    if (ability_settle(ops->name, self->address.model, self->demand, &self->terms, e) != 0) {
        return NULL;
    }
    pthread_once(&once, start_shared);
    if (client == NULL) {
        if (e != NULL) {
            *e = no_client;
        }
        return NULL;
    }
    if (read_key(self, e) != 0) {
        return NULL;
    }
    SCOPED(scoped_free) char *key = limit_key(self);
    self->limit = limit_of(limits, key);
    return TAKE(self);
}

void remote_close(remote **self)
{
    if (*self == NULL) {
        return;
    }
    secret_fini(&(*self)->key);
    free(*self);
    *self = NULL;
}

/* ---- one attempt ---- */

/* A question on its way; the same for every attempt. */
typedef struct question {
    const remote *from;
    const provider_request *request;
    buf url;
    char *body;
    size_t prompt_bytes;
    int attempts, unknown_bills;
} question;

/* What one attempt brought. */
typedef struct attempt {
    const remote_ops *ops;
    reply reply;
    http_reply http;
    int64_t begun_ms;
    hint told;
} attempt;

static int on_event(void *arg, const char *name, const char *data, size_t size, err *e)
{
    attempt *a = arg;
    if (a->reply.ended) {
        return 0;
    }
    if (strcmp(data, "[DONE]") == 0) {
        a->reply.ended = a->reply.stopped;
        return 0;
    }
    SCOPED(json_destroy) json *value = json_parse_tree(data, size, "event", NULL);
    if (value == NULL) {
        reply_bad(&a->reply, "an event of the stream is no JSON");
    } else {
        a->ops->read_event(&a->reply, name, value);
    }
    return a->reply.fault.class == FAULT_NONE ? 0 : err_set(e, ERR_PROTOCOL, "the stream failed");
}

static int on_stream(void *arg, const char *bytes, size_t size, err *e)
{
    return sse_feed(arg, bytes, size, e);
}

static void post(question *q, attempt *a, err *e)
{
    const remote *self = q->from;
    const remote_ops *ops = self->ops;
    http_field fields[FIELDS];
    size_t count = 0;
    SCOPED(sse_fini) sse events;
    SCOPED(scoped_free) char *key = xasprintf("%s%s", ops->key_form, self->key.value);
    if (self->key.value[0] != '\0') {
        fields[count++] = (http_field){ops->key_field, key};
    }
    if (ops->version_field != NULL) {
        fields[count++] = (http_field){ops->version_field, self->terms.family->api};
    }
    fields[count++] = (http_field){"Accept", "application/json, text/event-stream"};
    sse_init(&events, REMOTE_EVENT_MAX, on_event, a);
    /* A server that does not stream is silent while its model thinks. */
    int64_t idle_ms = self->terms.family->stream ? self->rules->idle_ms : self->rules->total_ms;
    const http_request request = {.url = buf_text(&q->url),
                                  .fields = fields,
                                  .field_count = count,
                                  .body = q->body,
                                  .body_size = strlen(q->body),
                                  .body_max = REMOTE_BODY_MAX,
                                  .connect_ms = self->rules->connect_ms,
                                  .idle_ms = idle_ms,
                                  .total_ms = self->rules->total_ms,
                                  .cancelled = q->request->cancelled,
                                  .stream = on_stream,
                                  .arg = &events};
    http_post(client, &request, &a->http, e);
    explicit_bzero(key, strlen(key));
}

static void read_body(attempt *a)
{
    const http_reply *got = &a->http;
    SCOPED(json_destroy)
    json *body = json_parse_tree(buf_text(&got->body), got->body.size, "reply", NULL);
    if (got->status != 200) {
        a->ops->classify(&a->reply, got->status, body);
        return;
    }
    if (body == NULL) {
        reply_bad(&a->reply,
                  got->body.size == 0 ? "the answer is empty" : "the answer is not JSON");
        return;
    }
    a->ops->read_whole(&a->reply, body);
    if (a->reply.fault.class == FAULT_NONE && !a->reply.stopped) {
        reply_bad(&a->reply, "the answer does not say why it ended");
    }
}

static void read_stream_end(attempt *a)
{
    if (a->ops->read_end != NULL && a->reply.fault.class == FAULT_NONE) {
        a->ops->read_end(&a->reply);
    }
    if (a->reply.fault.class == FAULT_NONE && !a->reply.ended) {
        fault_set(&a->reply.fault, FAULT_SERVER, "the stream was cut before its end");
    }
}

static void transfer_fault(attempt *a, const err *why)
{
    static const fault_class classes[] = {
        [HTTP_END_UNREACHABLE] = FAULT_SERVER,   [HTTP_END_CERTIFICATE] = FAULT_SERVER,
        [HTTP_END_CUT] = FAULT_SERVER,           [HTTP_END_IDLE] = FAULT_TIMEOUT,
        [HTTP_END_LATE] = FAULT_TIMEOUT,         [HTTP_END_TOO_BIG] = FAULT_BAD_RESPONSE,
        [HTTP_END_STOPPED] = FAULT_BAD_RESPONSE, [HTTP_END_CANCELLED] = FAULT_SERVER,
        [HTTP_END_FAILED] = FAULT_SERVER};
    http_end end = a->http.end;
    if (a->http.streamed && a->ops->read_end != NULL) {
        a->ops->read_end(&a->reply);
    }
    if (a->reply.fault.class != FAULT_NONE || a->reply.ended) {
        return; /* the reply itself said more; or all was there before the connection broke */
    }
    fault_set(&a->reply.fault, classes[end], "%s", why->text);
    a->reply.fault.final = end == HTTP_END_CERTIFICATE || end == HTTP_END_FAILED;
    a->reply.fault.cancelled = end == HTTP_END_CANCELLED;
}

/* A server with a small window cuts a long prompt in silence; what it answers then is worth nothing.
 * A count below any window is no cut but a server that does not count. */
static void check_window(const question *q, attempt *a)
{
    enum { LONG_PROMPT = 8192, BYTES_PER_TOKEN_MAX = 12, WINDOW_MIN = 512 };
    const price_tokens *used = &a->reply.used;
    int64_t read = used->in + (used->cache_read > 0 ? used->cache_read : 0) +
                   (used->cache_write > 0 ? used->cache_write : 0);
    if (a->reply.fault.class == FAULT_NONE && used->in >= 0 && q->prompt_bytes > LONG_PROMPT &&
        read >= WINDOW_MIN && (int64_t)q->prompt_bytes > read * BYTES_PER_TOKEN_MAX) {
        fault_set(&a->reply.fault, FAULT_REQUEST,
                  "the server read only %lld tokens of a prompt of %zu bytes: its context window "
                  "is too small",
                  (long long)read, q->prompt_bytes);
    }
}

/* Work begins when a provider says 200, whatever it says after; who says nothing may have begun. Only a
 * status that refuses the request tells that nothing is owed. */
static bool may_be_billed(const http_reply *got)
{
    enum { FIRST_REFUSAL = 300 };
    return got->sent && got->status < FIRST_REFUSAL;
}

/* The request id helps whoever asks the provider about it. */
static void name_request(const remote *self, attempt *a)
{
    fault *why = &a->reply.fault;
    const char *id = http_reply_field(&a->http, self->ops->id_field);
    size_t used = strlen(why->text);
    if (why->class != FAULT_NONE && id != NULL && used + strlen(id) + 16 < sizeof(why->text)) {
        snprintf(why->text + used, sizeof(why->text) - used, " (request %s)", id);
    }
    secret_hide(&self->key, why->text);
}

static void try_once(question *q, attempt *a)
{
    err why = {0};
    *a = (attempt){.ops = q->from->ops, .begun_ms = clock_mono_ms()};
    reply_init(&a->reply);
    post(q, a, &why);
    a->told = hint_of_reply(&a->http, clock_wall_ms());
    if (a->http.end != HTTP_END_WHOLE) {
        transfer_fault(a, &why);
    } else if (a->http.streamed) {
        read_stream_end(a);
    } else {
        read_body(a);
    }
    check_window(q, a);
    fault *found = &a->reply.fault;
    if (found->wait_ms < 0 && fault_may_retry(found)) {
        found->wait_ms = a->told.retry_ms;
    }
    name_request(q->from, a);
    found->billed = found->class != FAULT_NONE && may_be_billed(&a->http);
    q->attempts++;
    q->unknown_bills += found->billed;
}

static void attempt_fini(attempt *a)
{
    reply_fini(&a->reply);
    http_reply_fini(&a->http);
}

/* ---- the question ---- */

const char *remote_turn(const provider_turn *turn)
{
    return str_trim(str_of(turn->text)).size > 0 ? turn->text : "(no answer)";
}

void remote_set_sampling(json *object, const ability_terms *terms, const char *top_p_key)
{
    if (!isnan(terms->temperature)) {
        json_set_real(object, "temperature", terms->temperature);
    }
    if (!isnan(terms->top_p)) {
        json_set_real(object, top_p_key, terms->top_p);
    }
}

const ability_terms *remote_terms(const remote *self)
{
    return &self->terms;
}

static void question_fini(question *q)
{
    buf_fini(&q->url);
    free(q->body);
}

/* The schema of the format asked for, NULL where answers cannot be bound to one. */
static int read_format(const remote *self, const provider_request *request, json **out, err *e)
{
    const provider_format *format = request->format;
    if (format == NULL || !self->terms.family->schema) {
        return 0;
    }
    *out = json_parse_tree(format->schema, strlen(format->schema), format->name, e);
    return *out != NULL ? 0 : -1;
}

static int build(const remote *self, const provider_request *request, question *q, err *e)
{
    SCOPED(json_destroy) json *schema = NULL;
    if (read_format(self, request, &schema, e) != 0) {
        return -1;
    }
    const remote_call call = {
        .model = self->address.model, .terms = &self->terms, .request = request, .schema = schema};
    *q = (question){.from = self, .request = request, .prompt_bytes = strlen(request->system)};
    for (size_t i = 0; i < request->turn_count; i++) {
        q->prompt_bytes += strlen(request->turns[i].text);
    }
    if (q->prompt_bytes > QUESTION_MAX) {
        return err_set(e, ERR_LIMIT, "a question has at most %d bytes", QUESTION_MAX);
    }
    buf_init(&q->url, URL_MAX);
    buf_puts(&q->url, self->address.url);
    SCOPED(json_destroy) json *body = self->ops->build(&call, &q->url);
    q->body = json_dump(body);
    return q->url.overflow ? err_set(e, ERR_LIMIT, "the address is too long") : 0;
}

/* What was asked for and what of it was left out. */
static json *describe_asked(const question *q)
{
    const ability_terms *terms = &q->from->terms;
    const provider_format *format = q->request->format;
    SCOPED(buf_fini) buf degraded;
    buf_init(&degraded, ERR_TEXT_MAX);
    buf_puts(&degraded, terms->degraded);
    if (format != NULL && !terms->family->schema) {
        buf_printf(&degraded, "%sanswers are not bound to a schema", degraded.size > 0 ? "; " : "");
    }
    if (terms->family->cache == ABILITY_CACHE_NONE) {
        buf_printf(&degraded, "%sno prompt cache is counted on", degraded.size > 0 ? "; " : "");
    }
    json *asked = json_new_object();
    json_set_str(asked, "api", terms->family->api);
    json_set_int(asked, "output_max", terms->family->output_max);
    json_set_str(asked, "effort", terms->effort);
    json_set_real(asked, "temperature", terms->temperature);
    json_set_real(asked, "top_p", terms->top_p);
    json_set_str(asked, "format", format != NULL && terms->family->schema ? format->name : NULL);
    json_set_str(asked, "degraded", degraded.size > 0 ? buf_text(&degraded) : NULL);
    return asked;
}

/* What came with the answer, for the record. */
static char *describe(const question *q, const attempt *a)
{
    SCOPED(json_destroy) json *told = json_new_object();
    json *usage = a->reply.usage != NULL ? json_copy(a->reply.usage) : json_new_null();
    const char *request = http_reply_field(&a->http, q->from->ops->id_field);
    json *asked = describe_asked(q);
    json_set(told, "usage", &usage);
    json_set(told, "asked", &asked);
    json_set_str(told, "model", a->reply.served[0] != '\0' ? a->reply.served : NULL);
    json_set_str(told, "id", a->reply.id[0] != '\0' ? a->reply.id : NULL);
    json_set_str(told, "request", request);
    json_set_int(told, "attempts", q->attempts);
    json_set_int(told, "unknown_bills", q->unknown_bills);
    json_set_real(told, "first_byte_ms", a->http.first_byte_ms);
    return json_dump(told);
}

static void fill_answer(const question *q, attempt *a, provider_answer *out)
{
    const remote *self = q->from;
    const price_tokens *used = &a->reply.used;
    const char *model = a->reply.served[0] != '\0' ? a->reply.served : self->address.model;
    out->stop = a->reply.stop;
    out->tokens_in = used->in;
    out->tokens_out = used->out;
    out->tokens_cache_read = used->cache_read;
    out->tokens_cache_write = used->cache_write;
    out->cost_usd = isnan(a->reply.cost_usd)
                        ? price_of_call(self->ops->name, model, clock_wall_ms(), used)
                        : a->reply.cost_usd;
    out->latency_ms = (double)(clock_mono_ms() - a->begun_ms);
    out->usage = describe(q, a);
    out->text = buf_take(&a->reply.text);
}

static void pause_for(const atomic_bool *cancelled, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    for (int64_t left = ms; left > 0; left = until - clock_mono_ms()) {
        if (cancelled != NULL && atomic_load(cancelled)) {
            return; /* the limit says so */
        }
        int64_t slice = left < WAIT_SLICE_MS ? left : WAIT_SLICE_MS;
        const struct timespec sleep = {.tv_nsec = slice * 1000000};
        nanosleep(&sleep, NULL);
    }
}

static double draw(void)
{
    uint32_t bits = 0;
    id_random(&bits, sizeof(bits));
    return (double)bits / 4294967296.0;
}

static void note_fault(const fault *why, provider_trouble *out)
{
    out->terminal = fault_is_terminal(why);
    out->throttled = fault_throttles(why);
    out->hold_ms = why->wait_ms > 0 ? why->wait_ms : 0;
}

/* The door was not opened: for this long, or (a terminal fault) for good. */
static void note_closed(const err *why, provider_trouble *out)
{
    out->terminal = why->code != ERR_CONFLICT && !why->retry;
    out->throttled = why->code == ERR_LIMIT && why->retry;
    out->hold_ms = why->retry_after_ms;
}

/* 1: answered, 0: again, -1: e. */
static int step(question *q, retry *again, provider_answer *out, err *e)
{
    const remote *self = q->from;
    int64_t wait = 0;
    SCOPED(attempt_fini) attempt a = {0};
    int64_t deadline = again->start_ms + self->rules->retry.elapsed_ms;
    err closed = {0};
    if (limit_enter(self->limit, q->request->cancelled, deadline, &closed) != 0) {
        note_closed(&closed, &out->trouble);
        if (e != NULL) {
            *e = closed;
        }
        return -1;
    }
    try_once(q, &a);
    const fault *why = &a.reply.fault;
    limit_leave(self->limit, why, &a.told, a.begun_ms);
    if (why->class == FAULT_NONE) {
        fill_answer(q, &a, out);
        return 1;
    }
    bool fail = q->request->impatient && fault_throttles(why);
    if (fail || !retry_next(again, why, clock_mono_ms(), draw(), &wait)) {
        note_fault(why, &out->trouble);
        return fault_to_err(why, e);
    }
    log_line(LOG_DEBUG, "providers", "%s: %s: %s; again in %lld ms", self->ops->name,
             fault_class_name(why->class), why->text, (long long)wait);
    pause_for(q->request->cancelled, wait);
    return 0;
}

int remote_weigh(remote *self, const provider_request *request, provider_weight *out, err *e)
{
    SCOPED(question_fini) question q = {0};
    if (build(self, request, &q, e) != 0) {
        return -1;
    }
    out->prompt_bytes = (int64_t)strlen(q.body);
    out->output_max = self->terms.family->output_max;
    return 0;
}

int remote_ask(remote *self, const provider_request *request, provider_answer *out, err *e)
{
    SCOPED(question_fini) question q = {0};
    retry again;
    int rc = 0;
    if (build(self, request, &q, e) != 0) {
        return -1;
    }
    retry_init(&again, &self->rules->retry, clock_mono_ms());
    while (rc == 0) {
        rc = step(&q, &again, out, e);
    }
    out->trouble.attempts = q.attempts;
    out->trouble.unknown_bills = q.unknown_bills;
    return rc > 0 ? 0 : -1;
}
