/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "providers/http.h"
#include "tests/support/fake_provider.h"

typedef struct place {
    fake_provider *server;
    http *client;
} place;

static int enter(void **state)
{
    place *p = xcalloc(1, sizeof(*p));
    err e;
    p->server = fake_provider_start();
    p->client = http_create(NULL, &e);
    *state = p;
    return p->client != NULL ? 0 : -1;
}

static int leave(void **state)
{
    place *p = *state;
    http_destroy(&p->client);
    fake_provider_stop(&p->server);
    free(p);
    return 0;
}

static const char body[] =
    "{\"model\": \"llama\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}";
static const http_field key = {"Authorization", "Bearer " FAKE_PROVIDER_KEY};

static http_request request_to(const char *url)
{
    return (http_request){.url = url,
                          .fields = &key,
                          .field_count = 1,
                          .body = body,
                          .body_size = sizeof(body) - 1,
                          .body_max = 1024 * 1024,
                          .connect_ms = 5000,
                          .idle_ms = 5000,
                          .total_ms = 10000};
}

static int post(const place *p, const char *steps, http_request *request, http_reply *reply, err *e)
{
    char url[128];
    snprintf(url, sizeof(url), "%s/v1/chat/completions", fake_provider_base(p->server));
    fake_provider_steps(p->server, steps);
    request->url = url;
    int rc = http_post(p->client, request, reply, e);
    request->url = "";
    return rc;
}

static void a_reply_comes_with_status_fields_and_body(void **state)
{
    http_request request = request_to("");
    http_reply reply SCOPED(http_reply_fini);
    err e = {0};
    assert_int_equal(post(*state, "{\"text\": \"hello\", \"headers\": {\"X-Two\": \"a: b\"}}",
                          &request, &reply, &e),
                     0);
    assert_int_equal(reply.end, HTTP_END_WHOLE);
    assert_int_equal(reply.status, 200);
    assert_string_equal(http_reply_field(&reply, "content-type"), "application/json");
    assert_string_equal(http_reply_field(&reply, "x-two"), "a: b");
    assert_null(http_reply_field(&reply, "X-Two"));
    assert_non_null(strstr(buf_text(&reply.body), "hello"));
    assert_true(reply.sent && !reply.streamed && reply.first_byte_ms >= 0.0);
}

static void any_status_is_a_reply_and_redirects_are_not_followed(void **state)
{
    static const int statuses[] = {302, 307, 400, 429, 500, 529};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        const place *p = *state;
        http_request request = request_to("");
        http_reply reply SCOPED(http_reply_fini);
        char steps[256];
        err e = {0};
        snprintf(steps, sizeof(steps),
                 "{\"status\": %d, \"body\": \"moved\", \"headers\": {\"Location\": "
                 "\"%s/v1/messages\"}}",
                 statuses[i], fake_provider_base(p->server));
        assert_int_equal(post(p, steps, &request, &reply, &e), 0);
        assert_int_equal(reply.status, statuses[i]);
        assert_string_equal(buf_text(&reply.body), "moved");
        assert_int_equal(fake_provider_served(p->server), 1);
    }
}

static void a_packed_body_is_unpacked(void **state)
{
    http_request request = request_to("");
    http_reply reply SCOPED(http_reply_fini);
    err e = {0};
    assert_int_equal(
        post(*state, "{\"text\": \"hello\", \"mode\": \"gzip\"}", &request, &reply, &e), 0);
    assert_non_null(strstr(buf_text(&reply.body), "hello"));
}

static void a_body_past_its_limit_ends_the_transfer(void **state)
{
    http_request request = request_to("");
    http_reply reply SCOPED(http_reply_fini);
    err e = {0};
    assert_int_equal(post(*state, "{\"mode\": \"huge\"}", &request, &reply, &e), -1);
    assert_int_equal(reply.end, HTTP_END_TOO_BIG);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_true(reply.body.size <= request.body_max);
}

static void silence_has_a_limit(void **state)
{
    http_request request = request_to("");
    http_reply reply SCOPED(http_reply_fini);
    err e = {0};
    request.idle_ms = 1000;
    int64_t before = clock_mono_ms();
    assert_int_equal(post(*state,
                          "{\"text\": \"x\", \"mode\": \"stall\", \"at\": 10, \"ms\": 20000}",
                          &request, &reply, &e),
                     -1);
    assert_int_equal(reply.end, HTTP_END_IDLE);
    assert_int_equal(e.code, ERR_TIMEOUT);
    assert_true(reply.sent && reply.status == 200);
    assert_true(clock_mono_ms() - before < 15000);
}

static void the_whole_transfer_has_a_limit(void **state)
{
    http_request request = request_to("");
    http_reply reply SCOPED(http_reply_fini);
    err e = {0};
    request.total_ms = 1000;
    assert_int_equal(post(*state, "{\"mode\": \"slow\", \"ms\": 20000}", &request, &reply, &e), -1);
    assert_int_equal(reply.end, HTTP_END_LATE);
    assert_int_equal(e.code, ERR_TIMEOUT);
    assert_int_equal(reply.status, 0);
    assert_true(isnan(reply.first_byte_ms));
}

static void a_cut_connection_is_no_reply(void **state)
{
    static const char *const steps[] = {"{\"text\": \"hello\", \"mode\": \"cut\", \"at\": 20}",
                                        "{\"text\": \"hello\", \"mode\": \"reset\", \"at\": 20}"};
    for (size_t i = 0; i < 2; i++) {
        http_request request = request_to("");
        http_reply reply SCOPED(http_reply_fini);
        err e = {0};
        assert_int_equal(post(*state, steps[i], &request, &reply, &e), -1);
        assert_int_equal(reply.end, HTTP_END_CUT);
        assert_int_equal(e.domain, ERR_DOMAIN_CURL);
    }
}

/* A port on which nobody listens. */
static int closed_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    close(fd);
    return ntohs(at.sin_port);
}

static void nobody_there_is_unreachable(void **state)
{
    const place *p = *state;
    char url[64];
    http_reply reply SCOPED(http_reply_fini);
    err e = {0};
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", closed_port());
    const http_request request = request_to(url);
    assert_int_equal(http_post(p->client, &request, &reply, &e), -1);
    assert_int_equal(reply.end, HTTP_END_UNREACHABLE);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_false(reply.sent);
}

static void other_protocols_are_not_spoken(void **state)
{
    const place *p = *state;
    static const char *const urls[] = {"file:///etc/hostname", "ftp://127.0.0.1/x",
                                       "gopher://127.0.0.1/"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        http_reply reply SCOPED(http_reply_fini);
        err e = {0};
        const http_request request = request_to(urls[i]);
        assert_int_equal(http_post(p->client, &request, &reply, &e), -1);
        assert_int_equal(reply.end, HTTP_END_FAILED);
    }
}

static int gather(void *arg, const char *bytes, size_t size, err *e)
{
    (void)e;
    return buf_add(arg, bytes, size);
}

static int refuse(void *arg, const char *bytes, size_t size, err *e)
{
    (void)arg;
    (void)bytes;
    (void)size;
    return err_set(e, ERR_PROTOCOL, "not like this");
}

static void only_an_event_stream_goes_to_the_stream_function(void **state)
{
    SCOPED(buf_fini) buf seen;
    http_request request = request_to("");
    err e = {0};
    buf_init(&seen, 1 << 20);
    request.stream = gather;
    request.arg = &seen;
    http_reply whole SCOPED(http_reply_fini);
    assert_int_equal(post(*state, "{\"text\": \"hello\"}", &request, &whole, &e), 0);
    assert_true(!whole.streamed && whole.body.size > 0 && seen.size == 0);
    http_reply events SCOPED(http_reply_fini);
    assert_int_equal(post(*state, "{\"text\": \"hello\", \"stream\": true, \"chunk\": 3}", &request,
                          &events, &e),
                     0);
    assert_true(events.streamed && events.body.size == 0);
    assert_non_null(strstr(buf_text(&seen), "data: [DONE]"));
    request.stream = refuse;
    http_reply refused SCOPED(http_reply_fini);
    assert_int_equal(
        post(*state, "{\"text\": \"hello\", \"stream\": true}", &request, &refused, &e), -1);
    assert_int_equal(refused.end, HTTP_END_STOPPED);
    assert_string_equal(e.text, "not like this");
}

typedef struct caller {
    const place *place;
    const char *url;
    const atomic_bool *cancelled;
    pthread_t thread;
    http_end end;
    err e;
} caller;

static void *call(void *arg)
{
    caller *self = arg;
    http_request request = request_to(self->url);
    http_reply reply SCOPED(http_reply_fini);
    request.cancelled = self->cancelled;
    http_post(self->place->client, &request, &reply, &self->e);
    self->end = reply.end;
    return NULL;
}

static void a_transfer_can_be_cancelled(void **state)
{
    const place *p = *state;
    char url[128];
    atomic_bool cancelled = false;
    snprintf(url, sizeof(url), "%s/v1/chat/completions", fake_provider_base(p->server));
    fake_provider_steps(p->server, "{\"mode\": \"slow\", \"ms\": 4000}");
    caller c = {.place = p, .url = url, .cancelled = &cancelled};
    assert_int_equal(pthread_create(&c.thread, NULL, call, &c), 0);
    while (fake_provider_served(p->server) == 0) {
        usleep(1000);
    }
    int64_t before = clock_mono_ms();
    atomic_store(&cancelled, true);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.end, HTTP_END_CANCELLED);
    assert_int_equal(c.e.code, ERR_CONFLICT);
    assert_true(clock_mono_ms() - before < 2000);
}

static void many_callers_share_the_thread_and_connections_are_kept(void **state)
{
    enum { CALLERS = 32, ROUNDS = 3 };
    const place *p = *state;
    static caller callers[CALLERS];
    char url[128];
    snprintf(url, sizeof(url), "%s/v1/chat/completions", fake_provider_base(p->server));
    fake_provider_steps(p->server, "{\"text\": \"hello\"}");
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CALLERS; i++) {
            callers[i] = (caller){.place = p, .url = url};
            assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
        }
        for (size_t i = 0; i < CALLERS; i++) {
            pthread_join(callers[i].thread, NULL);
            assert_int_equal(callers[i].end, HTTP_END_WHOLE);
        }
    }
    SCOPED(json_destroy) json *log = fake_provider_log(p->server);
    SCOPED(json_destroy) json *ports = json_new_object();
    assert_int_equal(json_size(log), CALLERS * ROUNDS);
    for (size_t i = 0; i < json_size(log); i++) {
        char port[16];
        snprintf(port, sizeof(port), "%d", (int)json_int(json_get(json_at(log, i), "port"), 0));
        json_set_bool(ports, port, true);
    }
    assert_true(json_size(ports) <= CALLERS);
}

static void ending_the_client_ends_what_is_in_flight(void **state)
{
    const place *p = *state;
    char url[128];
    err e;
    place own = {.server = p->server, .client = http_create(NULL, &e)};
    snprintf(url, sizeof(url), "%s/v1/chat/completions", fake_provider_base(p->server));
    fake_provider_steps(p->server, "{\"mode\": \"slow\", \"ms\": 4000}");
    caller c = {.place = &own, .url = url};
    assert_int_equal(pthread_create(&c.thread, NULL, call, &c), 0);
    while (fake_provider_served(p->server) == 0) {
        usleep(1000);
    }
    http *client = own.client;
    http_destroy(&client);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.end, HTTP_END_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_comes_with_status_fields_and_body),
        cmocka_unit_test(any_status_is_a_reply_and_redirects_are_not_followed),
        cmocka_unit_test(a_packed_body_is_unpacked),
        cmocka_unit_test(a_body_past_its_limit_ends_the_transfer),
        cmocka_unit_test(silence_has_a_limit),
        cmocka_unit_test(the_whole_transfer_has_a_limit),
        cmocka_unit_test(a_cut_connection_is_no_reply),
        cmocka_unit_test(nobody_there_is_unreachable),
        cmocka_unit_test(other_protocols_are_not_spoken),
        cmocka_unit_test(only_an_event_stream_goes_to_the_stream_function),
        cmocka_unit_test(a_transfer_can_be_cancelled),
        cmocka_unit_test(many_callers_share_the_thread_and_connections_are_kept),
        cmocka_unit_test(ending_the_client_ends_what_is_in_flight)};
    return cmocka_run_group_tests_name("http", tests, enter, leave);
}
