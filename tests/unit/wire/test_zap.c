/* test_zap - handshakes over loopback tcp: who comes in, who does not, and who is told
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/sock.h"
#include "wire/zap.h"

enum { PATIENCE = 2000, STEP_MS = 10 };

typedef struct fixture {
    sock_ctx *ctx;
    sock *router, *dealer;
    zap *zap;
    curve_file own, node; /* the coordinator's, a node's */
    curve_key allowed;
} fixture;

static bool guard(void *arg, const curve_key *key)
{
    const fixture *f = arg;
    return key != NULL && curve_equal(key, &f->allowed);
}

static int open_all(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    *state = f;
    if (curve_new(&f->own.pair, NULL) < 0 || curve_new(&f->node.pair, NULL) < 0)
        return -1;
    f->node.coordinator = f->own.pair.open;
    f->allowed = f->node.pair.open;
    f->ctx = sock_ctx_create(NULL);
    f->zap = zap_start(f->ctx, guard, f, NULL);
    f->router = sock_create(f->ctx, SOCK_ROUTER, &(sock_options){.key = &f->own}, NULL);
    if (f->zap == NULL || f->router == NULL || sock_watch(f->router, NULL) < 0)
        return -1;
    return sock_bind(f->router, "curve://127.0.0.1:*", NULL);
}

static int close_all(void **state)
{
    fixture *f = *state;
    sock_destroy(&f->dealer);
    sock_destroy(&f->router);
    zap_stop(&f->zap);
    sock_ctx_destroy(&f->ctx);
    free(f);
    return 0;
}

static void dial(fixture *f, const curve_file *key)
{
    f->dealer = sock_create(f->ctx, SOCK_DEALER, &(sock_options){.key = key}, NULL);
    assert_non_null(f->dealer);
    assert_int_equal(sock_watch(f->dealer, NULL), 0);
    assert_int_equal(sock_connect(f->dealer, sock_endpoint(f->router), NULL), 0);
}

static sock_news next_news(sock *s)
{
    sock_news news = SOCK_QUIET;
    for (int i = 0; i < PATIENCE && news == SOCK_QUIET; i++) {
        news = sock_event(s);
        if (news == SOCK_QUIET)
            usleep(STEP_MS * 1000);
    }
    return news;
}

static void say(fixture *f)
{
    message m;
    message_init(&m, MSG_PULL);
    while (sock_send(f->dealer, NULL, &m, NULL) < 0)
        usleep(STEP_MS * 1000);
    message_fini(&m);
}

static void an_allowed_key_comes_in_and_is_known_with_every_message(void **state)
{
    fixture *f = *state;
    peer_id from;
    message m;
    dial(f, &f->node);
    assert_int_equal(next_news(f->dealer), SOCK_UP);
    for (int i = 0; i < 2; i++) {
        say(f);
        assert_true(sock_wait(f->router, PATIENCE * STEP_MS));
        assert_int_equal(sock_recv(f->router, &from, &m, NULL), 1);
        message_fini(&m);
        assert_true(from.secure);
        assert_true(curve_equal(&from.key, &f->node.pair.open));
    }
    assert_int_equal(zap_refused(f->zap), 0);
}

static void an_unknown_key_is_refused_on_both_sides(void **state)
{
    fixture *f = *state;
    zap_refusal refusal;
    f->allowed = f->own.pair.open;
    dial(f, &f->node);
    assert_int_equal(next_news(f->dealer), SOCK_REFUSED);
    assert_true(zap_next(f->zap, &refusal));
    assert_true(curve_equal(&refusal.key, &f->node.pair.open));
    assert_string_equal(refusal.address, "127.0.0.1");
    assert_true(zap_refused(f->zap) >= 1);
}

static void a_peer_without_a_key_is_told_that_one_is_wanted(void **state)
{
    fixture *f = *state;
    char plain[128];
    snprintf(plain, sizeof(plain), "tcp://%s", strstr(sock_endpoint(f->router), "://") + 3);
    f->dealer = sock_create(f->ctx, SOCK_DEALER, NULL, NULL);
    assert_int_equal(sock_watch(f->dealer, NULL), 0);
    assert_int_equal(sock_connect(f->dealer, plain, NULL), 0);
    assert_int_equal(next_news(f->dealer), SOCK_PLAIN);
    assert_int_not_equal(next_news(f->router), SOCK_UP);
}

static void a_node_of_another_coordinator_sees_its_handshake_fail(void **state)
{
    fixture *f = *state;
    f->node.coordinator = f->node.pair.open;
    dial(f, &f->node);
    assert_int_equal(next_news(f->dealer), SOCK_ODD);
    assert_int_equal(next_news(f->router), SOCK_ODD);
}

static void plain_and_encrypted_endpoints_share_a_socket(void **state)
{
    fixture *f = *state;
    peer_id from;
    message m;
    assert_int_equal(sock_bind(f->router, "tcp://127.0.0.1:*", NULL), 0);
    f->dealer = sock_create(f->ctx, SOCK_DEALER, NULL, NULL);
    assert_int_equal(sock_connect(f->dealer, sock_endpoint(f->router), NULL), 0);
    say(f);
    assert_true(sock_wait(f->router, PATIENCE * STEP_MS));
    assert_int_equal(sock_recv(f->router, &from, &m, NULL), 1);
    message_fini(&m);
    assert_false(from.secure);
}

static void endpoints_beyond_the_host_need_a_key(void **state)
{
    fixture *f = *state;
    err e = {0};
    static const char *const far[] = {"tcp://10.1.2.3:7000", "curve://127.0.0.1:7000",
                                      "tcp://coordinator.example:7000", "tcp://0.0.0.0:7000"};
    f->dealer = sock_create(f->ctx, SOCK_DEALER, NULL, NULL);
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        assert_true(sock_is_secure(far[i]));
        assert_int_equal(sock_connect(f->dealer, far[i], &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "ce-coord keys new"));
    }
    assert_false(sock_is_secure("tcp://127.0.0.1:7000"));
    assert_false(sock_is_secure("tcp://localhost:7000"));
    assert_false(sock_is_secure("ipc:///tmp/x"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(an_allowed_key_comes_in_and_is_known_with_every_message),
        TEST(an_unknown_key_is_refused_on_both_sides),
        TEST(a_peer_without_a_key_is_told_that_one_is_wanted),
        TEST(a_node_of_another_coordinator_sees_its_handshake_fail),
        TEST(plain_and_encrypted_endpoints_share_a_socket),
        TEST(endpoints_beyond_the_host_need_a_key),
    };
    return cmocka_run_group_tests_name("zap", tests, NULL, NULL);
}
