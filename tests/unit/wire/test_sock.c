/* test_sock - ROUTER and DEALER over ipc and loopback tcp, with real threads
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/sock.h"

enum { PATIENCE_MS = 20000, CLIENTS = 4, MESSAGES = 200 };

typedef struct fixture {
    sock_ctx *ctx;
    sock *router;
    sock *others[8]; /* closed by the teardown, also after a failed assertion */
    size_t count;
    char folder[64];
    char endpoint[128];
} fixture;

static int open_router(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    *state = f;
    snprintf(f->folder, sizeof(f->folder), "/tmp/ce-test-XXXXXX");
    if (mkdtemp(f->folder) == NULL)
        return -1;
    snprintf(f->endpoint, sizeof(f->endpoint), "ipc://%s/s", f->folder);
    f->ctx = sock_ctx_create(NULL);
    f->router = sock_create(f->ctx, SOCK_ROUTER, NULL, NULL);
    return f->router != NULL && sock_bind(f->router, f->endpoint, NULL) == 0 ? 0 : -1;
}

static int close_router(void **state)
{
    fixture *f = *state;
    sock_destroy(&f->router);
    for (size_t i = 0; i < f->count; i++)
        sock_destroy(&f->others[i]);
    sock_ctx_destroy(&f->ctx);
    file_remove_tree(f->folder, NULL);
    free(f);
    return 0;
}

/* open_sock makes a socket that the teardown closes. */
static sock *open_sock(fixture *f, sock_kind kind, const sock_options *options)
{
    assert_true(f->count < sizeof(f->others) / sizeof(f->others[0]));
    sock *s = sock_create(f->ctx, kind, options, NULL);
    assert_non_null(s);
    f->others[f->count++] = s;
    return s;
}

static sock *dealer(fixture *f, const char *endpoint)
{
    sock *s = open_sock(f, SOCK_DEALER, NULL);
    assert_int_equal(sock_connect(s, endpoint, NULL), 0);
    return s;
}

/* send_soon sends as soon as there is a connection. */
static int send_soon(sock *s, const message *m)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        err e = {0};
        if (sock_send(s, NULL, m, &e) == 0)
            return 0;
        if (e.code != ERR_UNAVAILABLE || !e.retry)
            return -1;
        usleep(1000);
    }
    return -1;
}

static int say(sock *s, int64_t credit)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_PULL);
    m.seq = (uint64_t)credit;
    m.body.pull.credit = credit;
    return send_soon(s, &m);
}

static int answer(sock *router, const peer_id *to, uint64_t ref, err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_ACK);
    m.body.ack.ref = (int64_t)ref;
    return sock_send(router, to, &m, e);
}

static int receive(sock *s, peer_id *from, message *out, err *e)
{
    if (!sock_wait(s, PATIENCE_MS))
        return 0;
    return sock_recv(s, from, out, e);
}

/* ---- conversation ---- */

static void ask_and_answer(sock *router, sock *client)
{
    peer_id from = {.size = 0};
    SCOPED(message_fini) message got = {0}, back = {0};
    assert_int_equal(say(client, 17), 0);
    assert_int_equal(receive(router, &from, &got, NULL), 1);
    assert_int_equal(got.type, MSG_PULL);
    assert_int_equal(got.body.pull.credit, 17);
    assert_true(from.size > 0);
    assert_int_equal(answer(router, &from, got.seq, NULL), 0);
    assert_int_equal(receive(client, NULL, &back, NULL), 1);
    assert_int_equal(back.body.ack.ref, 17);
    assert_int_equal(sock_recv(client, NULL, &back, NULL), 0);
    assert_false(sock_readable(client));
}

static void they_talk_over_a_local_socket(void **state)
{
    fixture *f = *state;
    sock *client = dealer(f, f->endpoint);
    ask_and_answer(f->router, client);
}

static void they_talk_over_loopback_tcp(void **state)
{
    fixture *f = *state;
    static const char *const hosts[] = {"tcp://127.0.0.1:*", "tcp://localhost:*"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        sock *router = open_sock(f, SOCK_ROUTER, NULL);
        assert_string_equal(sock_endpoint(router), "");
        assert_int_equal(sock_bind(router, hosts[i], NULL), 0);
        assert_null(strchr(sock_endpoint(router), '*'));
        sock *client = dealer(f, sock_endpoint(router));
        ask_and_answer(router, client);
    }
}

typedef struct talker {
    sock_ctx *ctx;
    const char *endpoint;
    int64_t first;
} talker;

/* Sends MESSAGES numbers and wants each acknowledged, in order. */
static void *client_main(void *arg)
{
    talker *c = arg;
    SCOPED(sock_destroy) sock *s = sock_create(c->ctx, SOCK_DEALER, NULL, NULL);
    if (s == NULL || sock_connect(s, c->endpoint, NULL) < 0)
        return NULL;
    for (int64_t i = 0; i < MESSAGES; i++)
        if (say(s, c->first + i) < 0)
            return NULL;
    for (int64_t i = 0; i < MESSAGES; i++) {
        SCOPED(message_fini) message m = {0};
        if (receive(s, NULL, &m, NULL) != 1 || m.body.ack.ref != c->first + i)
            return NULL;
    }
    return c;
}

static void many_threads_are_served_each_its_own_answers(void **state)
{
    fixture *f = *state;
    pthread_t threads[CLIENTS];
    talker clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (talker){f->ctx, f->endpoint, (int64_t)i * 1000};
        assert_int_equal(pthread_create(&threads[i], NULL, client_main, &clients[i]), 0);
    }
    int served = 0;
    for (; served < CLIENTS * MESSAGES; served++) {
        peer_id from;
        SCOPED(message_fini) message m = {0};
        if (receive(f->router, &from, &m, NULL) != 1 || answer(f->router, &from, m.seq, NULL) < 0)
            break;
    }
    for (int i = 0; i < CLIENTS; i++) {
        void *ok;
        pthread_join(threads[i], &ok);
        assert_non_null(ok);
    }
    assert_int_equal(served, CLIENTS * MESSAGES);
}

static void two_sockets_have_two_identities(void **state)
{
    fixture *f = *state;
    sock *one = dealer(f, f->endpoint);
    sock *two = dealer(f, f->endpoint);
    peer_id a = {.size = 0}, b = {.size = 0};
    SCOPED(message_fini) message x = {0}, y = {0};
    assert_int_equal(say(one, 1), 0);
    assert_int_equal(receive(f->router, &a, &x, NULL), 1);
    assert_int_equal(say(two, 2), 0);
    assert_int_equal(receive(f->router, &b, &y, NULL), 1);
    assert_false(peer_id_equal(&a, &b));
    assert_true(peer_id_equal(&a, &a));
}

/* ---- absence ---- */

static void a_dealer_without_a_peer_says_so_at_once(void **state)
{
    fixture *f = *state;
    char nobody[256];
    snprintf(nobody, sizeof(nobody), "%s-nobody", f->endpoint);
    sock *s = dealer(f, nobody);
    SCOPED(message_fini) message m;
    message_init(&m, MSG_PULL);
    err e = {0};
    assert_int_equal(sock_send(s, NULL, &m, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_true(e.retry);
}

static void a_router_knows_that_a_peer_is_gone(void **state)
{
    fixture *f = *state;
    peer_id nobody = {.bytes = "nobody", .size = 6};
    err e = {0};
    assert_int_equal(answer(f->router, &nobody, 1, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void a_dealer_finds_a_router_that_starts_later(void **state)
{
    fixture *f = *state;
    sock *client = dealer(f, f->endpoint);
    ask_and_answer(f->router, client);
    sock_destroy(&f->router); /* the coordinator restarts */
    f->router = sock_create(f->ctx, SOCK_ROUTER, NULL, NULL);
    err e = {0};
    int tries = 0; /* a destroyed socket goes on listening for a moment */
    while (sock_bind(f->router, f->endpoint, &e) < 0 && e.code == ERR_CONFLICT &&
           tries++ < PATIENCE_MS)
        usleep(1000);
    assert_string_equal(sock_endpoint(f->router), f->endpoint);
    /* What went into the dying connection is lost: nodes say hello again until they are answered. */
    int said = 0;
    do
        assert_int_equal(say(client, 5), 0);
    while (++said < 1000 && !sock_wait(f->router, 10));
    peer_id from = {.size = 0};
    SCOPED(message_fini) message got = {0};
    assert_int_equal(receive(f->router, &from, &got, NULL), 1);
    assert_int_equal(got.body.pull.credit, 5);
}

static void a_peer_that_does_not_read_fills_its_queue_only(void **state)
{
    fixture *f = *state;
    sock *client = open_sock(f, SOCK_DEALER, &(sock_options){.queue = 2});
    assert_int_equal(sock_connect(client, f->endpoint, NULL), 0);
    assert_int_equal(say(client, 1), 0);
    peer_id from;
    SCOPED(message_fini) message m = {0};
    assert_int_equal(receive(f->router, &from, &m, NULL), 1);
    SCOPED(message_fini) message big;
    message_init(&big, MSG_BLOB_DATA);
    big.body.blob_data.data = (message_bytes){xcalloc(1048576, 1), 1048576};
    err e = {0};
    int sent = 0;
    while (sent < 10000 && sock_send(f->router, &from, &big, &e) == 0)
        sent++;
    assert_in_range(sent, 1, 9999);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    sock *other = dealer(f, f->endpoint);
    ask_and_answer(f->router, other);
}

/* ---- endpoints ---- */

static void plain_transport_stays_inside_this_host(void **state)
{
    fixture *f = *state;
    static const char *const refused[] = {
        "tcp://0.0.0.0:5000",   "tcp://*:5000",         "tcp://192.168.1.7:5000",
        "tcp://[::]:5000",      "tcp://example.org:80", "tcp://127.evil.org:80",
        "tcp://127.0.0.1.x:80", "tcp://eth0:5000",
    };
    sock *s = open_sock(f, SOCK_DEALER, NULL);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        err e = {0};
        assert_int_equal(sock_bind(f->router, refused[i], &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "leaves this host"));
        assert_int_equal(sock_connect(s, refused[i], &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
    }
}

static void an_endpoint_of_a_wrong_form_is_explained(void **state)
{
    fixture *f = *state;
    static const char *const refused[] = {
        "",
        "localhost:5000",
        "ipc://",
        "tcp://127.0.0.1",
        "tcp://:5000",
        "tcp://127.0.0.1:",
        "inproc://x",
        "udp://127.0.0.1:5",
        "tcp://127.0.0.1:99999999",
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        err e = {0};
        assert_int_equal(sock_bind(f->router, refused[i], &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        assert_true(strlen(e.text) > 10);
    }
    char deep[400] = "ipc:///tmp/";
    memset(deep + strlen(deep), 'x', 110);
    err e = {0};
    assert_int_equal(sock_bind(f->router, deep, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    memset(deep + strlen(deep), 'x', 200);
    assert_int_equal(sock_bind(f->router, deep, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
}

static void an_endpoint_in_use_is_not_taken_over(void **state)
{
    fixture *f = *state;
    sock *second = open_sock(f, SOCK_ROUTER, NULL);
    err e = {0};
    assert_int_equal(sock_bind(second, f->endpoint, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(sock_bind(second, "tcp://127.0.0.1:*", NULL), 0);
    sock *third = open_sock(f, SOCK_ROUTER, NULL);
    assert_int_equal(sock_bind(third, sock_endpoint(second), &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    sock *client = dealer(f, f->endpoint);
    ask_and_answer(f->router, client);
}

static void a_leftover_socket_file_is_replaced(void **state)
{
    fixture *f = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/left", f->folder);
    char endpoint[160];
    snprintf(endpoint, sizeof(endpoint), "ipc://%s", path);
    assert_int_equal(file_write(path, "", 0, NULL), 0);
    sock *router = open_sock(f, SOCK_ROUTER, NULL);
    assert_int_equal(sock_bind(router, endpoint, NULL), 0);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

/* ---- malformed input: raw ZeroMQ plays the peer ---- */

typedef struct raw_peer {
    void *ctx, *zmq;
} raw_peer;

static void raw_close(raw_peer *self)
{
    if (self->zmq != NULL)
        zmq_close(self->zmq);
    zmq_ctx_term(self->ctx);
}

static raw_peer raw_open(const char *endpoint, const char *identity)
{
    raw_peer p = {.ctx = zmq_ctx_new()};
    p.zmq = zmq_socket(p.ctx, ZMQ_DEALER);
    int linger = 1000;
    zmq_setsockopt(p.zmq, ZMQ_LINGER, &linger, sizeof(linger));
    if (identity != NULL)
        zmq_setsockopt(p.zmq, ZMQ_ROUTING_ID, identity, strlen(identity));
    assert_int_equal(zmq_connect(p.zmq, endpoint), 0);
    return p;
}

static void a_malformed_frame_names_its_peer_and_harms_nobody(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *data;
        size_t size;
    } rows[] = {{"", 0},
                {"hello", 5},
                {"ce\x01\0\1\0\0\0\0\0\0\0\1\xc0", 14},
                {"ce\x02\0\1\0\0\0\0\0\0\0\1\x80", 14}};
    SCOPED(raw_close) raw_peer raw = raw_open(f->endpoint, "raw");
    sock *client = dealer(f, f->endpoint);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zmq_send(raw.zmq, rows[i].data, rows[i].size, 0);
        peer_id from = {.size = 0};
        message m;
        err e = {0};
        assert_int_equal(receive(f->router, &from, &m, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
        assert_int_equal(from.size, 3);
        assert_memory_equal(from.bytes, "raw", 3);
        ask_and_answer(f->router, client);
    }
}

static void a_message_of_several_parts_is_refused_whole(void **state)
{
    fixture *f = *state;
    SCOPED(raw_close) raw_peer raw = raw_open(f->endpoint, "raw");
    for (int parts = 2; parts < 5; parts++) {
        for (int i = 0; i < parts; i++)
            zmq_send(raw.zmq, "ce", 2, i + 1 < parts ? ZMQ_SNDMORE : 0);
        peer_id from = {.size = 0};
        message m;
        err e = {0};
        assert_int_equal(receive(f->router, &from, &m, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
        assert_int_equal(from.size, 3);
        assert_int_equal(sock_recv(f->router, &from, &m, NULL), 0);
    }
}

static void an_identity_that_is_too_long_is_refused(void **state)
{
    fixture *f = *state;
    SCOPED(raw_close)
    raw_peer raw = raw_open(f->endpoint, "0123456789012345678901234567890123456789");
    zmq_send(raw.zmq, "x", 1, 0);
    peer_id from = {.size = 5};
    message m;
    err e = {0};
    assert_int_equal(receive(f->router, &from, &m, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(from.size, 0);
}

static void an_oversized_message_costs_its_sender_the_connection(void **state)
{
    fixture *f = *state;
    SCOPED(raw_close) raw_peer raw = raw_open(f->endpoint, "raw");
    sock *client = dealer(f, f->endpoint);
    SCOPED(scoped_free) char *big = xcalloc(SOCK_MESSAGE_MAX + 1, 1);
    zmq_send(raw.zmq, big, SOCK_MESSAGE_MAX + 1, 0);
    for (int i = 0; i < 20; i++)
        ask_and_answer(f->router, client);
    zmq_close(raw.zmq);
    raw.zmq = NULL;
}

int main(void)
{
#define WITH_ROUTER(test) cmocka_unit_test_setup_teardown(test, open_router, close_router)
    static const struct CMUnitTest tests[] = {
        WITH_ROUTER(they_talk_over_a_local_socket),
        WITH_ROUTER(they_talk_over_loopback_tcp),
        WITH_ROUTER(many_threads_are_served_each_its_own_answers),
        WITH_ROUTER(two_sockets_have_two_identities),
        WITH_ROUTER(a_dealer_without_a_peer_says_so_at_once),
        WITH_ROUTER(a_router_knows_that_a_peer_is_gone),
        WITH_ROUTER(a_dealer_finds_a_router_that_starts_later),
        WITH_ROUTER(a_peer_that_does_not_read_fills_its_queue_only),
        WITH_ROUTER(plain_transport_stays_inside_this_host),
        WITH_ROUTER(an_endpoint_of_a_wrong_form_is_explained),
        WITH_ROUTER(an_endpoint_in_use_is_not_taken_over),
        WITH_ROUTER(a_leftover_socket_file_is_replaced),
        WITH_ROUTER(a_malformed_frame_names_its_peer_and_harms_nobody),
        WITH_ROUTER(a_message_of_several_parts_is_refused_whole),
        WITH_ROUTER(an_identity_that_is_too_long_is_refused),
        WITH_ROUTER(an_oversized_message_costs_its_sender_the_connection),
    };
    return cmocka_run_group_tests_name("sock", tests, NULL, NULL);
}
