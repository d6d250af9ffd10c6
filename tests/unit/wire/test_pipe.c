/* test_pipe - messages over a socketpair
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/pipe.h"

enum { PAYLOAD = 20 * 1024 * 1024, PATIENCE_MS = 20000 };

typedef struct ends {
    int a, b;
} ends;

static void ends_close(ends *self)
{
    scoped_close(&self->a);
    scoped_close(&self->b);
}

static ends ends_open(void)
{
    int fds[2];
    assert_int_equal(pipe_pair(fds, NULL), 0);
    return (ends){fds[0], fds[1]};
}

static void fill_payload(message *m)
{
    message_init(m, MSG_RUNNER_LOAD);
    m->seq = 77;
    uint8_t *data = xmalloc(PAYLOAD);
    for (size_t i = 0; i < PAYLOAD; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    m->body.runner_load.cubin = (message_bytes){data, PAYLOAD};
}

static void a_small_message_arrives(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    SCOPED(message_fini) message in, out = {0};
    message_init(&in, MSG_BYE);
    in.seq = 3;
    message_set_str(&in.body.bye.text, "so long");
    assert_int_equal(pipe_send(p.a, &in, NULL), 0);
    assert_int_equal(pipe_send(p.a, &in, NULL), 0);
    for (int i = 0; i < 2; i++) {
        message_fini(&out);
        assert_int_equal(pipe_recv(p.b, PATIENCE_MS, &out, NULL), 0);
        assert_int_equal(out.seq, 3);
        assert_string_equal(out.body.bye.text, "so long");
    }
}

static void descriptors_do_not_leak_into_children(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    assert_true(fcntl(p.a, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(p.b, F_GETFD) & FD_CLOEXEC);
}

static void *send_payload(void *arg)
{
    SCOPED(message_fini) message m;
    fill_payload(&m);
    err e = {0};
    return pipe_send(*(int *)arg, &m, &e) == 0 ? arg : NULL;
}

static void twenty_mebibytes_pass_through_a_small_buffer(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    int small = 4096;
    assert_int_equal(setsockopt(p.a, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_payload, &p.a), 0);
    SCOPED(message_fini) message wanted, out = {0};
    fill_payload(&wanted);
    err e = {0};
    int rc = pipe_recv(p.b, PATIENCE_MS, &out, &e);
    void *sent;
    pthread_join(thread, &sent);
    assert_int_equal(rc, 0);
    assert_non_null(sent);
    assert_int_equal(out.body.runner_load.cubin.size, PAYLOAD);
    assert_memory_equal(out.body.runner_load.cubin.data, wanted.body.runner_load.cubin.data,
                        PAYLOAD);
}

/* encoded is a BYE as it lies on the stream, prefix included. */
static size_t encoded(char *out, size_t room)
{
    SCOPED(ends_close) ends p = ends_open();
    SCOPED(message_fini) message m;
    message_init(&m, MSG_BYE);
    message_set_str(&m.body.bye.text, "piece by piece");
    assert_int_equal(pipe_send(p.a, &m, NULL), 0);
    ssize_t n = recv(p.b, out, room, 0);
    assert_true(n > 10);
    return (size_t)n;
}

typedef struct dribble {
    int fd;
    char bytes[256];
    size_t size;
} dribble;

static void *send_by_single_bytes(void *arg)
{
    dribble *d = arg;
    for (size_t i = 0; i < d->size; i++)
        if (send(d->fd, d->bytes + i, 1, MSG_NOSIGNAL) != 1)
            return NULL;
    return d;
}

static void a_message_in_single_bytes_is_whole(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    dribble d = {.fd = p.a};
    d.size = encoded(d.bytes, sizeof(d.bytes));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_by_single_bytes, &d), 0);
    SCOPED(message_fini) message out = {0};
    int rc = pipe_recv(p.b, PATIENCE_MS, &out, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(rc, 0);
    assert_string_equal(out.body.bye.text, "piece by piece");
}

static void a_peer_that_dies_in_mid_message_is_noticed_at_every_byte(void **state)
{
    (void)state;
    char bytes[256];
    size_t size = encoded(bytes, sizeof(bytes));
    for (size_t cut = 0; cut < size; cut++) {
        SCOPED(ends_close) ends p = ends_open();
        if (cut > 0)
            assert_int_equal(send(p.a, bytes, cut, 0), (ssize_t)cut);
        scoped_close(&p.a);
        err e = {0};
        message out = {.seq = 42};
        assert_int_equal(pipe_recv(p.b, PATIENCE_MS, &out, &e), -1);
        assert_int_equal(e.code, ERR_UNAVAILABLE);
        assert_string_equal(e.text, "peer closed");
        assert_true(out.seq == 42);
    }
}

static void sending_to_a_dead_peer_is_an_error_not_a_signal(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    SCOPED(message_fini) message m;
    message_init(&m, MSG_BYE);
    scoped_close(&p.b);
    err e = {0};
    assert_int_equal(pipe_send(p.a, &m, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
}

static void silence_ends_at_the_deadline(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    assert_int_equal(send(p.a, "\0\0\0\x10", 4, 0), 4); /* announced, never sent */
    int64_t before = clock_mono_ms();
    err e = {0};
    message out;
    assert_int_equal(pipe_recv(p.b, 20, &out, &e), -1);
    assert_int_equal(e.code, ERR_TIMEOUT);
    assert_true(clock_mono_ms() - before >= 19);
}

static void no_wait_means_no_wait(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    err e = {0};
    message out;
    assert_int_equal(pipe_recv(p.b, 0, &out, &e), -1);
    assert_int_equal(e.code, ERR_TIMEOUT);
}

static void an_absurd_length_is_refused(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"\xff\xff\xff\xff", "\x05\x00\x00\x01", "\0\0\0\0"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        SCOPED(ends_close) ends p = ends_open();
        assert_int_equal(send(p.a, prefixes[i], 4, 0), 4);
        err e = {0};
        message out;
        assert_int_equal(pipe_recv(p.b, PATIENCE_MS, &out, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
    }
}

static void garbage_is_refused(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    assert_int_equal(send(p.a, "\0\0\0\x05hello", 9, 0), 9);
    err e = {0};
    message out;
    assert_int_equal(pipe_recv(p.b, PATIENCE_MS, &out, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void what_cannot_be_encoded_sends_nothing(void **state)
{
    (void)state;
    SCOPED(ends_close) ends p = ends_open();
    SCOPED(message_fini) message m;
    message_init(&m, MSG_PULL);
    m.body.pull.credit = -1;
    err e = {0};
    assert_int_equal(pipe_send(p.a, &m, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    char byte;
    assert_int_equal(recv(p.b, &byte, 1, MSG_DONTWAIT), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_message_arrives),
        cmocka_unit_test(descriptors_do_not_leak_into_children),
        cmocka_unit_test(twenty_mebibytes_pass_through_a_small_buffer),
        cmocka_unit_test(a_message_in_single_bytes_is_whole),
        cmocka_unit_test(a_peer_that_dies_in_mid_message_is_noticed_at_every_byte),
        cmocka_unit_test(sending_to_a_dead_peer_is_an_error_not_a_signal),
        cmocka_unit_test(silence_ends_at_the_deadline),
        cmocka_unit_test(no_wait_means_no_wait),
        cmocka_unit_test(an_absurd_length_is_refused),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(what_cannot_be_encoded_sends_nothing),
    };
    return cmocka_run_group_tests_name("pipe", tests, NULL, NULL);
}
