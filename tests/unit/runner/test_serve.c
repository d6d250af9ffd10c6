/* test_serve - the runner's side of the protocol, on the fake device
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "agent-node/runner/serve.h"
#include "common/scoped.h"
#include "mock_rig.h"
#include "wire/message.h"
#include "wire/pipe.h"

enum { PATIENCE_MS = 10000 };

typedef struct rig {
    int ours, theirs;
    gpu *device;
    pthread_t thread;
    int rc;
    err e;
} rig;

static rig r;

static void *serve(void *arg)
{
    (void)arg;
    r.rc = serve_run(r.theirs, r.device, &r.e);
    return NULL;
}

static int set_up(void **state)
{
    (void)state;
    int ends[2];
    gpu_options o = {.device = "fake"};
    memset(&r, 0, sizeof r);
    r.device = gpu_open(&o, NULL);
    if (r.device == NULL || pipe_pair(ends, NULL) < 0)
        return -1;
    r.ours = ends[0];
    r.theirs = ends[1];
    return pthread_create(&r.thread, NULL, serve, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    scoped_close(&r.theirs);
    gpu_close(&r.device);
    return 0;
}

static void expect(message_type type, message *m)
{
    err e = {0};
    if (pipe_recv(r.ours, PATIENCE_MS, m, &e) < 0)
        fail_msg("no %s: %s", message_name(type), e.text);
    assert_string_equal(message_name(m->type), message_name(type));
}

static void send_plain(message_type type)
{
    SCOPED(message_fini) message m;
    message_init(&m, type);
    assert_int_equal(pipe_send(r.ours, &m, NULL), 0);
}

static void send_load(const char *plan_text)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_RUNNER_LOAD);
    message_set_str(&m.body.runner_load.contract, mock_rig_contract);
    message_set_str(&m.body.runner_load.plan, plan_text);
    assert_int_equal(pipe_send(r.ours, &m, NULL), 0);
}

static void hang_up_and_join(void)
{
    scoped_close(&r.ours);
    pthread_join(r.thread, NULL);
}

static void a_closed_peer_ends_the_service_well(void **state)
{
    (void)state;
    SCOPED(message_fini) message m = {0};
    expect(MSG_RUNNER_HELLO, &m);
    assert_int_equal(m.body.runner_hello.cc, 90);
    hang_up_and_join();
    assert_int_equal(r.rc, 0);
}

static void launching_comes_before_done(void **state)
{
    (void)state;
    message m = {0};
    SCOPED(scoped_free) char *text = mock_rig_plan("add");
    expect(MSG_RUNNER_HELLO, &m);
    message_fini(&m);
    send_load(text);
    expect(MSG_RUNNER_LAUNCHING, &m);
    assert_true(m.body.runner_launching.candidate);
    message_fini(&m);
    expect(MSG_RUNNER_DONE, &m);
    assert_int_equal(m.body.runner_done.outcome, OUTCOME_OK);
    message_fini(&m);
    hang_up_and_join();
    assert_int_equal(r.rc, 0);
}

static void another_message_is_refused_and_ends_the_service(void **state)
{
    (void)state;
    message m = {0};
    expect(MSG_RUNNER_HELLO, &m);
    message_fini(&m);
    send_plain(MSG_BYE);
    expect(MSG_RUNNER_FAILED, &m);
    assert_int_equal(m.body.runner_failed.code, ERR_PROTOCOL);
    assert_non_null(strstr(m.body.runner_failed.text, "bye"));
    message_fini(&m);
    hang_up_and_join();
    assert_int_equal(r.rc, -1);
}

static void a_verdict_other_than_ok_is_the_last_word(void **state)
{
    (void)state;
    err e = {0};
    message m = {0};
    expect(MSG_RUNNER_HELLO, &m);
    message_fini(&m);
    send_load("no plan");
    expect(MSG_RUNNER_DONE, &m);
    assert_int_equal(m.body.runner_done.outcome, OUTCOME_PLAN_INVALID);
    message_fini(&m);
    pthread_join(r.thread, NULL);
    assert_int_equal(r.rc, 0);
    scoped_close(&r.theirs);
    assert_int_equal(pipe_recv(r.ours, PATIENCE_MS, &m, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    scoped_close(&r.ours);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_closed_peer_ends_the_service_well),
        CASE(launching_comes_before_done),
        CASE(another_message_is_refused_and_ends_the_service),
        CASE(a_verdict_other_than_ok_is_the_last_word),
    };
    return cmocka_run_group_tests_name("serve", tests, NULL, NULL);
}
