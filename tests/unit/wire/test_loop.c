/* test_loop - descriptors, sockets and timers in one place
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/loop.h"

enum { FLOOD = 4000, GIVE_UP_MS = 20000 };

typedef struct fixture {
    loop *l;
    sock_ctx *ctx;
    sock *router, *dealer;
    char folder[64];
    int event;
    int calls, others;      /* of handlers */
    int limit;              /* stop after so many calls; 0: never */
    int remove;             /* id to remove when called */
    int64_t last;           /* credit of the last PULL */
    bool answer;            /* answer each PULL */
    bool gave_up;           /* the watchdog stopped the loop */
    char why[ERR_TEXT_MAX]; /* what `bad` was told */
} fixture;

static void give_up(void *arg)
{
    fixture *f = arg;
    f->gave_up = true;
    loop_stop(f->l);
}

static int open_loop(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    *state = f;
    f->l = loop_create();
    f->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(f->folder, sizeof(f->folder), "/tmp/ce-test-XXXXXX");
    if (mkdtemp(f->folder) == NULL)
        return -1;
    char endpoint[128];
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/s", f->folder);
    f->ctx = sock_ctx_create(NULL);
    sock_options options = {.queue = FLOOD * 2};
    f->router = sock_create(f->ctx, SOCK_ROUTER, &options, NULL);
    f->dealer = sock_create(f->ctx, SOCK_DEALER, &options, NULL);
    loop_add_timer(f->l, GIVE_UP_MS, 0, give_up, f);
    return sock_bind(f->router, endpoint, NULL) == 0 && sock_connect(f->dealer, endpoint, NULL) == 0
               ? 0
               : -1;
}

static int close_loop(void **state)
{
    fixture *f = *state;
    loop_destroy(&f->l);
    sock_destroy(&f->dealer);
    sock_destroy(&f->router);
    sock_ctx_destroy(&f->ctx);
    scoped_close(&f->event);
    rmdir(f->folder);
    free(f);
    return 0;
}

static void run(fixture *f)
{
    err e = {0};
    if (loop_run(f->l, &e) < 0)
        fail_msg("%s", e.text);
    assert_false(f->gave_up);
}

static void count_call(void *arg)
{
    fixture *f = arg;
    f->calls++;
    if (f->remove != 0)
        loop_remove(f->l, f->remove);
    if (f->calls == f->limit)
        loop_stop(f->l);
}

static void drain_event(void *arg)
{
    fixture *f = arg;
    uint64_t value;
    assert_int_equal(read(f->event, &value, sizeof(value)), 8);
    count_call(arg);
}

static void signal_event(fixture *f)
{
    assert_int_equal(eventfd_write(f->event, 1), 0);
}

/* ---- descriptors ---- */

static void *signal_later(void *arg)
{
    for (int i = 0; i < 10; i++) {
        usleep(1000);
        signal_event(arg);
    }
    return NULL;
}

static void another_thread_wakes_it_by_an_eventfd(void **state)
{
    fixture *f = *state;
    loop_add_fd(f->l, f->event, drain_event, f);
    f->limit = 1;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, signal_later, f), 0);
    run(f);
    pthread_join(thread, NULL);
    assert_int_equal(f->calls, 1);
}

static void an_unread_descriptor_calls_again(void **state)
{
    fixture *f = *state;
    loop_add_fd(f->l, f->event, count_call, f);
    signal_event(f);
    f->limit = 3;
    run(f);
    assert_int_equal(f->calls, 3);
}

static void a_closed_peer_counts_as_readable(void **state)
{
    fixture *f = *state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    loop_add_fd(f->l, fds[0], count_call, f);
    close(fds[1]);
    f->limit = 1;
    run(f);
    assert_int_equal(f->calls, 1);
    close(fds[0]);
}

static void a_descriptor_closed_behind_its_back_is_an_error(void **state)
{
    fixture *f = *state;
    loop_add_fd(f->l, f->event, count_call, f);
    scoped_close(&f->event);
    err e = {0};
    assert_int_equal(loop_step(f->l, 0, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
}

static void a_step_without_events_returns_at_its_limit(void **state)
{
    fixture *f = *state;
    loop_add_fd(f->l, f->event, count_call, f);
    int64_t before = clock_mono_ms();
    assert_int_equal(loop_step(f->l, 20, NULL), 0);
    assert_true(clock_mono_ms() - before >= 19);
    assert_int_equal(f->calls, 0);
}

static void a_handler_may_remove_itself_and_others(void **state)
{
    fixture *f = *state;
    loop_add_fd(f->l, f->event, count_call, f);
    f->remove = loop_add_fd(f->l, f->event, count_call, f);
    signal_event(f);
    assert_int_equal(loop_step(f->l, 1000, NULL), 0);
    assert_int_equal(f->calls, 1); /* the other was removed before its turn */
    f->remove = 0;
    assert_int_equal(loop_step(f->l, 1000, NULL), 0);
    assert_int_equal(f->calls, 2);
}

static void add_twenty(void *arg)
{
    fixture *f = arg;
    f->others++;
    for (int i = 0; i < 20; i++)
        loop_add_timer(f->l, 0, 0, count_call, f);
}

static void a_handler_may_add_while_the_table_grows(void **state)
{
    fixture *f = *state;
    loop_add_timer(f->l, 0, 0, add_twenty, f);
    f->limit = 20;
    run(f);
    assert_int_equal(f->others, 1);
    assert_int_equal(f->calls, 20);
}

/* ---- timers ---- */

static void a_timer_fires_once_and_not_early(void **state)
{
    fixture *f = *state;
    int64_t before = clock_mono_ms();
    loop_add_timer(f->l, 15, 0, count_call, f);
    f->limit = 1;
    run(f);
    assert_true(clock_mono_ms() - before >= 15);
    f->limit = 0;
    assert_int_equal(loop_step(f->l, 20, NULL), 0);
    assert_int_equal(f->calls, 1);
}

static void a_periodic_timer_goes_on_until_removed(void **state)
{
    fixture *f = *state;
    int64_t before = clock_mono_ms();
    int id = loop_add_timer(f->l, 0, 5, count_call, f);
    f->limit = 4;
    run(f);
    assert_true(clock_mono_ms() - before >= 15);
    loop_remove(f->l, id);
    assert_int_equal(loop_step(f->l, 15, NULL), 0);
    assert_int_equal(f->calls, 4);
}

static void dawdle(void *arg)
{
    fixture *f = arg;
    usleep(50000);
    f->others++;
    if (f->others == 2)
        loop_stop(f->l);
}

static void a_late_timer_does_not_burst(void **state)
{
    fixture *f = *state;
    loop_add_timer(f->l, 0, 1, count_call, f);
    loop_add_timer(f->l, 0, 0, dawdle, f);
    loop_add_timer(f->l, 0, 0, dawdle, f);
    run(f);
    assert_in_range(f->calls, 1, 2); /* 100 ms went by, not 100 calls */
}

static void a_stop_before_the_run_counts(void **state)
{
    fixture *f = *state;
    loop_stop(f->l);
    run(f);
}

/* ---- sockets ---- */

static int pull(sock *s, int64_t credit)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_PULL);
    m.body.pull.credit = credit;
    return sock_send(s, NULL, &m, NULL);
}

static void pull_soon(fixture *f, int64_t credit)
{
    int tries = 0;
    while (pull(f->dealer, credit) < 0 && tries++ < GIVE_UP_MS)
        usleep(1000);
    assert_true(tries < GIVE_UP_MS);
}

static void on_pull(void *arg, const peer_id *from, message *m)
{
    fixture *f = arg;
    assert_non_null(from);
    if (f->last + 1 != m->body.pull.credit)
        fail_msg("%d came after %d", (int)m->body.pull.credit, (int)f->last);
    f->last = m->body.pull.credit;
    if (f->answer) {
        SCOPED(message_fini) message ack;
        message_init(&ack, MSG_ACK);
        assert_int_equal(sock_send(f->router, from, &ack, NULL), 0);
    }
    count_call(f);
}

static void on_bad(void *arg, const peer_id *from, const err *why)
{
    fixture *f = arg;
    assert_non_null(from);
    assert_int_equal(why->code, ERR_PROTOCOL);
    memcpy(f->why, why->text, sizeof(f->why));
    f->others++;
    loop_stop(f->l);
}

static const loop_route router_table[] = {{MSG_PULL, on_pull}, {0, NULL}};
static const loop_routes router_routes = {router_table, on_bad};

/* All edges happen before the loop first looks: each of the FLOOD messages must still come out. */
static void a_flood_behind_one_edge_is_drained(void **state)
{
    fixture *f = *state;
    loop_add_sock(f->l, f->router, &router_routes, f);
    for (int i = 1; i <= FLOOD; i++)
        pull_soon(f, i);
    f->limit = FLOOD;
    run(f);
    assert_int_equal(f->calls, FLOOD);
}

static void on_ack(void *arg, const peer_id *from, message *m)
{
    fixture *f = arg;
    (void)m;
    assert_null(from);
    f->others++;
    if (f->others == FLOOD) {
        loop_stop(f->l);
        return;
    }
    assert_int_equal(pull(f->dealer, f->last + 1), 0);
}

static const loop_route dealer_table[] = {{MSG_ACK, on_ack}, {0, NULL}};
static const loop_routes dealer_routes = {dealer_table, NULL};

/* Both ends in one loop: every message arrives while the loop is busy sending, which is when an edge-
 * triggered descriptor loses wake-ups. */
static void ping_pong_never_falls_asleep(void **state)
{
    fixture *f = *state;
    f->answer = true;
    loop_add_sock(f->l, f->router, &router_routes, f);
    loop_add_sock(f->l, f->dealer, &dealer_routes, f);
    pull_soon(f, 1);
    run(f);
    assert_int_equal(f->others, FLOOD);
    assert_int_equal(f->calls, FLOOD);
}

static void *pull_from_thread(void *arg)
{
    fixture *f = arg;
    for (int i = 1; i <= FLOOD; i++) {
        int tries = 0;
        while (pull(f->dealer, i) < 0 && tries++ < GIVE_UP_MS)
            usleep(1000);
        if (i % 100 == 0)
            usleep(500); /* let the loop fall asleep now and then */
    }
    return NULL;
}

static void a_stream_from_another_thread_never_stalls(void **state)
{
    fixture *f = *state;
    loop_add_sock(f->l, f->router, &router_routes, f);
    f->limit = FLOOD;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, pull_from_thread, f), 0);
    run(f);
    pthread_join(thread, NULL);
    assert_int_equal(f->calls, FLOOD);
}

static void a_flooded_socket_does_not_starve_a_timer(void **state)
{
    fixture *f = *state;
    for (int i = 1; i <= FLOOD; i++)
        pull_soon(f, i);
    loop_add_sock(f->l, f->router, &router_routes, f);
    loop_add_timer(f->l, 0, 0, dawdle, f);
    while (f->others == 0 && !f->gave_up)
        assert_int_equal(loop_step(f->l, -1, NULL), 0);
    assert_true(f->calls < FLOOD);
}

static void a_message_outside_the_table_goes_to_bad(void **state)
{
    fixture *f = *state;
    loop_add_sock(f->l, f->router, &router_routes, f);
    pull_soon(f, 1);
    SCOPED(message_fini) message m;
    message_init(&m, MSG_WELCOME);
    m.body.welcome.beat_ms = m.body.welcome.lost_ms = 1;
    assert_int_equal(sock_send(f->dealer, NULL, &m, NULL), 0);
    run(f);
    assert_int_equal(f->calls, 1);
    assert_string_equal(f->why, "welcome is not expected here");
}

static void take_text(void *arg, const peer_id *from, message *m)
{
    fixture *f = arg;
    (void)from;
    SCOPED(scoped_free) char *text = TAKE(m->body.bye.text);
    snprintf(f->why, sizeof(f->why), "%s", text);
    loop_stop(f->l);
}

static void a_handler_may_keep_a_field(void **state)
{
    fixture *f = *state;
    static const loop_route table[] = {{MSG_BYE, take_text}, {0, NULL}};
    static const loop_routes routes = {table, NULL};
    loop_add_sock(f->l, f->router, &routes, f);
    pull_soon(f, 1); /* not in the table and nobody to tell: dropped */
    SCOPED(message_fini) message m;
    message_init(&m, MSG_BYE);
    message_set_str(&m.body.bye.text, "kept");
    assert_int_equal(sock_send(f->dealer, NULL, &m, NULL), 0);
    run(f);
    assert_string_equal(f->why, "kept");
}

int main(void)
{
#define IN_LOOP(test) cmocka_unit_test_setup_teardown(test, open_loop, close_loop)
    static const struct CMUnitTest tests[] = {
        IN_LOOP(another_thread_wakes_it_by_an_eventfd),
        IN_LOOP(an_unread_descriptor_calls_again),
        IN_LOOP(a_closed_peer_counts_as_readable),
        IN_LOOP(a_descriptor_closed_behind_its_back_is_an_error),
        IN_LOOP(a_step_without_events_returns_at_its_limit),
        IN_LOOP(a_handler_may_remove_itself_and_others),
        IN_LOOP(a_handler_may_add_while_the_table_grows),
        IN_LOOP(a_timer_fires_once_and_not_early),
        IN_LOOP(a_periodic_timer_goes_on_until_removed),
        IN_LOOP(a_late_timer_does_not_burst),
        IN_LOOP(a_stop_before_the_run_counts),
        IN_LOOP(a_flood_behind_one_edge_is_drained),
        IN_LOOP(ping_pong_never_falls_asleep),
        IN_LOOP(a_stream_from_another_thread_never_stalls),
        IN_LOOP(a_flooded_socket_does_not_starve_a_timer),
        IN_LOOP(a_message_outside_the_table_goes_to_bad),
        IN_LOOP(a_handler_may_keep_a_field),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
