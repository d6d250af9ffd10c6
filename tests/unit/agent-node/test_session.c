/* test_session - a node's connection, against a coordinator by hand
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent-node/session.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "tests/support/desk.h"

enum { EVENTS_MAX = 64, POSTS = 3000 };

/* The node under test, its loop in a thread of its own. */
typedef struct fixture {
    desk *desk;
    session *session;
    pthread_t thread;
    bool joined;
    int rc; /* of session_run */
    err e;
    queue *events; /* "lease TASK", "cancel TASK", "cancel all", "watched" */
} fixture;

static void note(fixture *f, const char *what, const char *task)
{
    queue_push(f->events, xasprintf("%s %s", what, task), NULL);
}

static void on_lease(void *arg, message *lease)
{
    note(arg, "lease", lease->body.lease.task);
}

static void on_cancel(void *arg, const char *task)
{
    note(arg, "cancel", task != NULL ? task : "all");
}

static void on_claim(void *arg)
{
    note(arg, "claim", "all");
}

static void expect_event(fixture *f, const char *wanted)
{
    SCOPED(scoped_free) char *event = queue_pop(f->events, DESK_PATIENCE_MS);
    assert_non_null(event);
    assert_string_equal(event, wanted);
}

static void *run_session(void *arg)
{
    fixture *f = arg;
    f->rc = session_run(f->session, &f->e);
    return NULL;
}

static void join(fixture *f)
{
    if (!f->joined) {
        pthread_join(f->thread, NULL);
        f->joined = true;
    }
}

static int set_up_with(void **state, int64_t patience_ms)
{
    static char kind[] = "fake", name[] = "f", empty[] = "", arch[] = "sm_90a";
    static const struct row_device device = {kind, name, empty, arch, 4096, empty};
    fixture *f = xcalloc(1, sizeof(*f));
    err e = {0};
    f->desk = desk_create();
    f->events = queue_create(EVENTS_MAX, free);
    session_options options = {
        .coordinator = desk_endpoint(f->desk),
        .node = "n1",
        .slots = 3,
        .software = "{\"ce\":\"0\"}",
        .devices = &device,
        .device_count = 1,
        .patience_ms = patience_ms,
        .events = {.lease = on_lease, .cancel = on_cancel, .claim = on_claim, .arg = f}};
    f->session = session_create(&options, &e);
    assert_non_null(f->session);
    assert_int_equal(pthread_create(&f->thread, NULL, run_session, f), 0);
    *state = f;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, 0);
}

static int set_up_impatient(void **state)
{
    return set_up_with(state, 400);
}

static int tear_down(void **state)
{
    fixture *f = *state;
    session_stop(f->session);
    join(f);
    session_destroy(&f->session);
    queue_destroy(&f->events);
    desk_destroy(&f->desk);
    free(f);
    return 0;
}

static void expect_pull(fixture *f, int64_t credit)
{
    SCOPED(message_fini) message m = {0};
    desk_next(f->desk, MSG_PULL, &m);
    assert_int_equal(m.body.pull.credit, credit);
}

static void admit(fixture *f)
{
    SCOPED(message_fini) message m = {0};
    desk_admit(f->desk, "c1");
    desk_await(f->desk, MSG_PULL, &m);
}

/* ---- calls from another thread ---- */

typedef struct caller {
    session *session;
    message ask, answer;
    int rc;
    err e;
    pthread_t thread;
} caller;

static void *call(void *arg)
{
    caller *c = arg;
    c->rc = session_call(c->session, &c->ask, &c->answer, &c->e);
    return NULL;
}

static void ask(caller *c, message_type type)
{
    message_init(&c->ask, type);
    if (type == MSG_STAGE) {
        c->ask.body.stage.token = 1;
    } else if (type == MSG_RESULT) {
        c->ask.body.result.token = 1;
    }
}

static void call_start(fixture *f, caller *c, message_type type)
{
    *c = (caller){.session = f->session};
    ask(c, type);
    assert_int_equal(pthread_create(&c->thread, NULL, call, c), 0);
}

static void call_join(caller *c)
{
    pthread_join(c->thread, NULL);
    message_fini(&c->answer);
}

static uint64_t expect_call(fixture *f, message_type type)
{
    SCOPED(message_fini) message m = {0};
    desk_next(f->desk, type, &m);
    return m.seq;
}

/* ---- registration ---- */

static void hello_is_said_until_somebody_answers(void **state)
{
    fixture *f = *state;
    char instance[40] = "";
    for (int i = 0; i < 2; i++) {
        SCOPED(message_fini) message m = {0};
        desk_next(f->desk, MSG_HELLO, &m);
        const struct msg_hello *h = &m.body.hello;
        assert_int_equal(h->protocol, MESSAGE_PROTOCOL);
        assert_string_equal(h->node, "n1");
        assert_int_equal(h->slots, 3);
        assert_string_equal(h->software, "{\"ce\":\"0\"}");
        assert_int_equal(h->devices_count, 1);
        assert_string_equal(h->devices[0].kind, "fake");
        assert_int_equal(h->devices[0].memory_bytes, 4096);
        assert_true(i == 0 || strcmp(h->instance, instance) == 0);
        snprintf(instance, sizeof(instance), "%s", h->instance);
    }
    desk_welcome(f->desk, "c1", false);
    SCOPED(message_fini) message m = {0};
    desk_await(f->desk, MSG_PULL, &m);
    assert_int_equal(m.body.pull.credit, 3);
}

static void a_refusal_ends_the_node_with_the_sentence(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message m = {0};
    desk_next(f->desk, MSG_HELLO, &m);
    desk_refuse(f->desk, ERR_PROTOCOL, "protocol 2 here, 3 there");
    join(f);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_PROTOCOL);
    assert_string_equal(f->e.text, "refused by the coordinator: protocol 2 here, 3 there");
}

/* What is here is claimed, the call goes out again, and its caller has noticed nothing. */
static void finish_again(fixture *f, caller *c)
{
    expect_event(f, "claim all");
    desk_ack(f->desk, expect_call(f, MSG_STAGE), ERR_NONE, "");
    call_join(c);
    assert_int_equal(c->rc, 0);
    expect_pull(f, 3);
}

static void who_is_not_known_registers_again(void **state)
{
    fixture *f = *state;
    caller c;
    admit(f);
    call_start(f, &c, MSG_STAGE);
    expect_call(f, MSG_STAGE);
    desk_refuse(f->desk, ERR_NOT_FOUND, "register again");
    SCOPED(message_fini) message m = {0};
    desk_next(f->desk, MSG_HELLO, &m);
    desk_welcome(f->desk, "c1", true);
    finish_again(f, &c);
}

static void a_refused_beat_registers_again_and_cancels_nothing(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message beat = {0};
    SCOPED(message_fini) message hello = {0};
    admit(f);
    desk_await(f->desk, MSG_BEAT, &beat);
    assert_string_equal(beat.body.beat.node, "n1");
    desk_refuse(f->desk, ERR_NOT_FOUND, "register again");
    desk_await(f->desk, MSG_HELLO, &hello);
    assert_string_equal(hello.body.hello.instance, beat.body.beat.instance);
    desk_welcome(f->desk, "c1", false);
    SCOPED(message_fini) message m = {0};
    desk_await(f->desk, MSG_PULL, &m);
    assert_int_equal(queue_size(f->events), 0);
}

static void beats_tell_how_old_the_last_tick_is(void **state)
{
    fixture *f = *state;
    admit(f);
    session_free_slot(f->session, 1, 2, true);
    for (int64_t in_flight = -1; in_flight != 2;) {
        SCOPED(message_fini) message m = {0};
        desk_await(f->desk, MSG_BEAT, &m);
        in_flight = m.body.beat.in_flight;
        assert_in_range(m.body.beat.tick_age_ms, 0, DESK_PATIENCE_MS);
    }
}

/* ---- calls ---- */

static void an_ack_is_success_or_that_very_error(void **state)
{
    fixture *f = *state;
    caller good, bad;
    admit(f);
    call_start(f, &good, MSG_STAGE);
    uint64_t first = expect_call(f, MSG_STAGE);
    call_start(f, &bad, MSG_RESULT);
    uint64_t second = expect_call(f, MSG_RESULT);
    /* In the other order: an answer finds its call by number. */
    desk_ack(f->desk, second, ERR_CONFLICT, "token 1 is not 2");
    call_join(&bad);
    desk_ack(f->desk, first, ERR_NONE, "");
    call_join(&good);
    assert_int_equal(good.rc, 0);
    assert_int_equal(bad.rc, -1);
    assert_int_equal(bad.e.code, ERR_CONFLICT);
    assert_string_equal(bad.e.text, "token 1 is not 2");
}

static void an_answer_of_another_kind_is_the_coordinators_fault(void **state)
{
    static const message_type asks[] = {MSG_BLOB_GET, MSG_BASELINE_GET};
    fixture *f = *state;
    admit(f);
    for (size_t i = 0; i < 2; i++) {
        caller c;
        call_start(f, &c, asks[i]);
        desk_ack(f->desk, expect_call(f, asks[i]), ERR_NONE, "");
        call_join(&c);
        assert_int_equal(c.rc, -1);
        assert_int_equal(c.e.code, ERR_PROTOCOL);
    }
    caller c;
    message data;
    call_start(f, &c, MSG_STAGE);
    message_init(&data, MSG_BLOB_DATA);
    data.body.blob_data.ref = (int64_t)expect_call(f, MSG_STAGE);
    desk_say(f->desk, &data);
    call_join(&c);
    assert_int_equal(c.rc, -1);
    assert_int_equal(c.e.code, ERR_PROTOCOL);
}

static void a_blob_request_may_be_refused_by_an_ack(void **state)
{
    fixture *f = *state;
    caller c;
    admit(f);
    call_start(f, &c, MSG_BLOB_GET);
    desk_ack(f->desk, expect_call(f, MSG_BLOB_GET), ERR_SYSTEM, "disk");
    call_join(&c);
    assert_int_equal(c.e.code, ERR_SYSTEM);
}

static void a_message_past_its_bound_fails_alone(void **state)
{
    fixture *f = *state;
    caller c = {.session = f->session};
    admit(f);
    message_init(&c.ask, MSG_CALL);
    c.ask.body.call.token = 1;
    c.ask.body.call.record = xmalloc(300000);
    memset(c.ask.body.call.record, 'x', 299999);
    c.ask.body.call.record[299999] = '\0';
    call(&c);
    assert_int_equal(c.rc, -1);
    assert_non_null(strstr(c.e.text, "call: record"));
    call_start(f, &c, MSG_STAGE);
    desk_ack(f->desk, expect_call(f, MSG_STAGE), ERR_NONE, "");
    call_join(&c);
    assert_int_equal(c.rc, 0);
}

static void a_message_that_is_not_for_nodes_is_dropped(void **state)
{
    fixture *f = *state;
    caller c;
    message odd;
    admit(f);
    message_init(&odd, MSG_PULL);
    desk_say(f->desk, &odd);
    desk_ack(f->desk, 12345, ERR_NONE, ""); /* answers nothing */
    call_start(f, &c, MSG_STAGE);
    desk_ack(f->desk, expect_call(f, MSG_STAGE), ERR_NONE, "");
    call_join(&c);
    assert_int_equal(c.rc, 0);
}

static void *post_many(void *arg)
{
    for (int i = 0; i < POSTS; i++) {
        message m;
        char text[16];
        snprintf(text, sizeof(text), "%d", i);
        message_init(&m, MSG_PROGRESS);
        m.body.progress.token = 1;
        message_set_str(&m.body.progress.stage, text);
        assert_int_equal(session_post(arg, &m, NULL), 0);
    }
    return NULL;
}

/* More than the outbox and every queue on the way hold, to a coordinator that does not read yet. */
static void a_slow_coordinator_gets_everything_in_order(void **state)
{
    fixture *f = *state;
    pthread_t thread;
    admit(f);
    assert_int_equal(pthread_create(&thread, NULL, post_many, f->session), 0);
    for (int i = 0; i < POSTS; i++) {
        SCOPED(message_fini) message m = {0};
        desk_next(f->desk, MSG_PROGRESS, &m);
        int64_t number = -1;
        assert_true(str_to_i64(m.body.progress.stage, &number));
        assert_int_equal(number, i);
    }
    pthread_join(thread, NULL);
}

/* ---- leases and slots ---- */

static void leases_and_cancels_reach_the_node(void **state)
{
    fixture *f = *state;
    message m;
    admit(f);
    message_init(&m, MSG_LEASE);
    m.body.lease.token = 1;
    message_set_str(&m.body.lease.task, "t1");
    desk_say(f->desk, &m);
    expect_event(f, "lease t1");
    message_init(&m, MSG_CANCEL);
    message_set_str(&m.body.cancel.task, "t1");
    desk_say(f->desk, &m);
    expect_event(f, "cancel t1");
}

static void a_freed_slot_is_asked_for(void **state)
{
    fixture *f = *state;
    admit(f);
    session_free_slot(f->session, 0, 3, false); /* full: nothing to ask for */
    session_free_slot(f->session, 2, 1, true);
    expect_pull(f, 2);
    session_free_slot(f->session, 1, 2,
                      false); /* one was taken: that is no news to the coordinator */
    session_free_slot(f->session, 1, 2, true); /* another, in the moment in which one ended */
    expect_pull(f, 1);
    session_free_slot(f->session, 3, 0, true);
    expect_pull(f, 3);
}

static void a_new_coordinator_hears_what_the_old_one_did_not_answer(void **state)
{
    fixture *f = *state;
    caller c;
    admit(f);
    call_start(f, &c, MSG_STAGE);
    expect_call(f, MSG_STAGE);
    desk_welcome(f->desk, "c1", false); /* the same one: nothing changes */
    expect_pull(f, 3);
    assert_int_equal(queue_size(f->events), 0);
    desk_welcome(f->desk, "c2", true);
    finish_again(f, &c);
}

/* The first copy, or its answer, got lost. */
static void what_is_not_answered_in_time_goes_out_again(void **state)
{
    fixture *f = *state;
    caller c;
    admit(f);
    call_start(f, &c, MSG_STAGE);
    expect_call(f, MSG_STAGE);
    SCOPED(message_fini) message hello = {0};
    desk_await(f->desk, MSG_HELLO, &hello);
    desk_welcome(f->desk, "c1", false); /* it knows the node: nothing is claimed */
    uint64_t again = expect_call(f, MSG_STAGE);
    desk_ack(f->desk, again, ERR_NONE, "");
    call_join(&c);
    assert_int_equal(c.rc, 0);
    assert_int_equal(queue_size(f->events), 0);
}

/* ---- the end ---- */

static void a_stopped_session_wakes_who_waits(void **state)
{
    fixture *f = *state;
    caller c;
    admit(f);
    call_start(f, &c, MSG_STAGE);
    expect_call(f, MSG_STAGE);
    session_stop(f->session);
    join(f);
    call_join(&c);
    assert_int_equal(f->rc, 0);
    assert_int_equal(c.rc, -1);
    assert_int_equal(c.e.code, ERR_UNAVAILABLE);
    ask(&c, MSG_STAGE);
    c.e = (err){0};
    call(&c); /* too late */
    assert_int_equal(c.rc, -1);
    assert_int_equal(c.e.code, ERR_UNAVAILABLE);
    message m;
    message_init(&m, MSG_PROGRESS);
    assert_int_equal(session_post(f->session, &m, NULL), -1);
    message_init(&m, MSG_PROGRESS);
    assert_int_equal(session_try_post(f->session, &m, &c.e), -1);
    assert_int_equal(c.e.code, ERR_UNAVAILABLE);
}

static void a_stopped_session_says_bye(void **state)
{
    fixture *f = *state;
    admit(f);
    session_stop(f->session);
    join(f);
    SCOPED(message_fini) message m = {0};
    desk_next(f->desk, MSG_BYE, &m);
    assert_string_equal(m.body.bye.text, "the node stops");
}

static void what_was_posted_before_the_end_still_goes_out(void **state)
{
    fixture *f = *state;
    admit(f);
    message m;
    message_init(&m, MSG_BYE);
    message_set_str(&m.body.bye.text, "so long");
    assert_int_equal(session_post(f->session, &m, NULL), 0);
    session_stop(f->session);
    join(f);
    SCOPED(message_fini) message got = {0};
    desk_next(f->desk, MSG_BYE, &got);
    assert_string_equal(got.body.bye.text, "so long");
}

static void bye_ends_the_node_in_peace(void **state)
{
    fixture *f = *state;
    message m;
    admit(f);
    message_init(&m, MSG_BYE);
    message_set_str(&m.body.bye.text, "done");
    desk_say(f->desk, &m);
    join(f);
    assert_int_equal(f->rc, 0);
}

static void a_session_without_a_coordinator_can_be_stopped(void **state)
{
    fixture *f = *state;
    session_stop(f->session);
    join(f);
    assert_int_equal(f->rc, 0);
}

/* ---- a session in one thread ---- */

typedef struct watcher {
    session *session;
    int fd;
    uint64_t seen;
} watcher;

static void on_readable(void *arg)
{
    watcher *w = arg;
    assert_int_equal(read(w->fd, &w->seen, sizeof(w->seen)), sizeof(w->seen));
    session_stop(w->session);
}

static void a_watched_descriptor_is_served_by_the_loop(void **state)
{
    (void)state;
    err e = {0};
    desk *d = desk_create();
    session_options options = {.coordinator = desk_endpoint(d),
                               .node = "n",
                               .slots = 1,
                               .software = "{}",
                               .events = {.lease = on_lease, .cancel = on_cancel, .arg = NULL}};
    watcher w = {.session = session_create(&options, &e), .fd = eventfd(7, EFD_CLOEXEC)};
    assert_non_null(w.session);
    session_watch(w.session, w.fd, on_readable, &w);
    assert_int_equal(session_run(w.session, &e), 0);
    assert_int_equal(w.seen, 7);
    session_destroy(&w.session);
    close(w.fd);
    desk_destroy(&d);
}

static void an_endpoint_beyond_this_host_is_refused(void **state)
{
    (void)state;
    err e = {0};
    session_options options = {.coordinator = "nonsense", .node = "n", .slots = 1};
    assert_null(session_create(&options, &e));
    assert_non_null(strstr(e.text, "nonsense"));
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(hello_is_said_until_somebody_answers),
        NODE_TEST(a_refusal_ends_the_node_with_the_sentence),
        NODE_TEST(who_is_not_known_registers_again),
        NODE_TEST(a_refused_beat_registers_again_and_cancels_nothing),
        NODE_TEST(beats_tell_how_old_the_last_tick_is),
        NODE_TEST(an_ack_is_success_or_that_very_error),
        NODE_TEST(an_answer_of_another_kind_is_the_coordinators_fault),
        NODE_TEST(a_blob_request_may_be_refused_by_an_ack),
        NODE_TEST(a_message_past_its_bound_fails_alone),
        NODE_TEST(a_message_that_is_not_for_nodes_is_dropped),
        NODE_TEST(a_slow_coordinator_gets_everything_in_order),
        NODE_TEST(leases_and_cancels_reach_the_node),
        NODE_TEST(a_freed_slot_is_asked_for),
        cmocka_unit_test_setup_teardown(what_is_not_answered_in_time_goes_out_again,
                                        set_up_impatient, tear_down),
        NODE_TEST(a_new_coordinator_hears_what_the_old_one_did_not_answer),
        NODE_TEST(a_stopped_session_wakes_who_waits),
        NODE_TEST(a_stopped_session_says_bye),
        NODE_TEST(what_was_posted_before_the_end_still_goes_out),
        NODE_TEST(bye_ends_the_node_in_peace),
        NODE_TEST(a_session_without_a_coordinator_can_be_stopped),
        cmocka_unit_test(a_watched_descriptor_is_served_by_the_loop),
        cmocka_unit_test(an_endpoint_beyond_this_host_is_refused)};
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
