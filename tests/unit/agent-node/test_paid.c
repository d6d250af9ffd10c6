/* test_paid - no call goes out before the coordinator said so
 *
 * The test's thread is the coordinator (tests/support/desk.h); the task speaks from a thread of its own.
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

#include "agent-node/paid.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/support/desk.h"

typedef struct fixture {
    desk *desk;
    session *session;
    pthread_t loop, task;
    atomic_bool cancelled;
    ledger account;
    provider *model;
    provider_request request;
    bool paid, impatient;
    int rc;
    err e;
} fixture;

static void on_lease(void *arg, message *lease)
{
    (void)arg;
    (void)lease;
}

static void on_cancel(void *arg, const char *task)
{
    (void)arg;
    (void)task;
}

static void *serve(void *arg)
{
    session_run(((fixture *)arg)->session, NULL);
    return NULL;
}

static const provider_turn question = {"user", "a question of some length"};

static int set_up(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    f->desk = desk_create();
    const session_options options = {.coordinator = desk_endpoint(f->desk),
                                     .node = "n",
                                     .slots = 1,
                                     .software = "{}",
                                     .events = {.lease = on_lease, .cancel = on_cancel, .arg = f}};
    f->session = session_create(&options, &f->e);
    f->account =
        (ledger){.session = f->session, .task = "t1", .token = 9, .cancelled = &f->cancelled};
    f->model = provider_create("compat:x@http://127.0.0.1:9/v1", NULL, &f->e);
    assert_non_null(f->model);
    f->request = (provider_request){.stage = "codegen",
                                    .index = 2,
                                    .problem = "p",
                                    .system = "rules",
                                    .turns = &question,
                                    .turn_count = 1};
    assert_int_equal(pthread_create(&f->loop, NULL, serve, f), 0);
    message pull;
    desk_admit(f->desk, "c1");
    desk_await(f->desk, MSG_PULL, &pull);
    message_fini(&pull);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    session_stop(f->session);
    pthread_join(f->loop, NULL);
    session_destroy(&f->session);
    provider_destroy(&f->model);
    desk_destroy(&f->desk);
    free(f);
    return 0;
}

static void *begin(void *arg)
{
    fixture *f = arg;
    const paid_call call = {f->model, &f->request, 3};
    f->rc = paid_begin(&f->account, &call, &f->impatient, &f->paid, &f->e);
    return NULL;
}

static void start(fixture *f, void *(*step)(void *))
{
    assert_int_equal(pthread_create(&f->task, NULL, step, f), 0);
}

static void grant(fixture *f, uint64_t ref, int64_t wait_ms, bool patient)
{
    message m;
    message_init(&m, MSG_GRANT);
    m.body.grant.ref = (int64_t)ref;
    m.body.grant.wait_ms = wait_ms;
    m.body.grant.patient = patient;
    desk_say(f->desk, &m);
}

static void it_asks_until_it_may(void **state)
{
    fixture *f = *state;
    message asked;
    start(f, begin);
    for (int i = 0; i < 2; i++) {
        desk_next(f->desk, MSG_RESERVE, &asked);
        const struct msg_reserve *r = &asked.body.reserve;
        assert_string_equal(r->task, "t1");
        assert_int_equal(r->token, 9);
        assert_string_equal(r->stage, "codegen");
        assert_int_equal(r->index, 3);
        assert_string_equal(r->provider, "compat");
        assert_string_equal(r->model, "x@http://127.0.0.1:9/v1");
        assert_true(r->prompt_bytes > (int64_t)strlen(question.text));
        assert_true(r->output_max > 0);
        grant(f, asked.seq, i == 0 ? 1 : 0, false);
        message_fini(&asked);
    }
    pthread_join(f->task, NULL);
    assert_int_equal(f->rc, 0);
    assert_true(f->paid && f->impatient);
}

static void a_refusal_is_the_reason(void **state)
{
    fixture *f = *state;
    message asked;
    start(f, begin);
    desk_next(f->desk, MSG_RESERVE, &asked);
    desk_ack(f->desk, asked.seq, ERR_LIMIT, "the budget is reached");
    message_fini(&asked);
    pthread_join(f->task, NULL);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_LIMIT);
    assert_string_equal(f->e.text, "the budget is reached");
}

static void a_cancelled_task_stops_waiting(void **state)
{
    fixture *f = *state;
    message asked;
    start(f, begin);
    desk_next(f->desk, MSG_RESERVE, &asked);
    atomic_store(&f->cancelled, true);
    grant(f, asked.seq, 3600000, true);
    message_fini(&asked);
    pthread_join(f->task, NULL);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_CONFLICT);
}

static void what_costs_nothing_is_not_asked_for(void **state)
{
    fixture *f = *state;
    provider_destroy(&f->model);
    f->model = provider_create("gold", NULL, &f->e);
    const paid_call call = {f->model, &f->request, 3};
    assert_int_equal(paid_begin(&f->account, &call, &f->impatient, &f->paid, &f->e), 0);
    assert_false(f->paid);
}

static void *tell(void *arg)
{
    fixture *f = arg;
    const provider_trouble left = {
        .attempts = 3, .unknown_bills = 1, .throttled = true, .hold_ms = 70};
    err why;
    err_set(&why, ERR_LIMIT, "rate_limit: too fast");
    const paid_call call = {f->model, &f->request, 3};
    paid_failed(&f->account, &call, &left, &why);
    return NULL;
}

static void a_failure_is_told_whole(void **state)
{
    fixture *f = *state;
    message told;
    start(f, tell);
    desk_next(f->desk, MSG_SETTLE, &told);
    const struct msg_settle *s = &told.body.settle;
    assert_string_equal(s->stage, "codegen");
    assert_int_equal(s->index, 3);
    assert_string_equal(s->provider, "compat");
    assert_int_equal(s->attempts, 3);
    assert_int_equal(s->unknown_bills, 1);
    assert_int_equal(s->hold_ms, 70);
    assert_true(s->throttled && !s->terminal);
    assert_string_equal(s->text, "rate_limit: too fast");
    desk_ack(f->desk, told.seq, ERR_NONE, "");
    message_fini(&told);
    pthread_join(f->task, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_asks_until_it_may, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_is_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_task_stops_waiting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_costs_nothing_is_not_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failure_is_told_whole, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("agent-node/paid", tests, NULL, NULL);
}
