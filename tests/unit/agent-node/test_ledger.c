/* test_ledger - one task's account with the coordinator
 *
 * The test's thread is the coordinator (tests/support/desk.h); the task speaks from a thread of its own.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/ledger.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/support/desk.h"

enum { BLOB_SIZE = 3 * 1024 * 1024 + 5, CACHE_BYTES = 16 * 1024 * 1024 };

typedef struct fixture {
    desk *desk;
    session *session;
    pthread_t loop, task;
    blob_store *blobs;
    atomic_bool cancelled;
    ledger account;
    /* what the task thread does and what came of it */
    int (*step)(struct fixture *f);
    int rc;
    err e;
    hash name;
    buf got;
    bool found;
    baseline_record baseline;
} fixture;

static void on_lease(void *arg, message *lease)
{
    (void)arg;
    (void)lease;
}

static void on_cancel(void *arg, const char *task)
{
    (void)task;
    fixture *f = arg;
    atomic_store(&f->cancelled, true);
}

static void *serve(void *arg)
{
    fixture *f = arg;
    session_run(f->session, NULL);
    return NULL;
}

static int set_up(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    err e = {0};
    f->desk = desk_create();
    session_options options = {.coordinator = desk_endpoint(f->desk),
                               .node = "n",
                               .slots = 1,
                               .software = "{}",
                               .events = {.lease = on_lease, .cancel = on_cancel, .arg = f}};
    f->session = session_create(&options, &e);
    f->blobs = blob_store_create(NULL, CACHE_BYTES, &e);
    buf_init(&f->got, BLOB_MAX);
    f->account = (ledger){.session = f->session,
                          .blobs = f->blobs,
                          .task = "t1",
                          .token = 9,
                          .cancelled = &f->cancelled};
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
    blob_store_destroy(&f->blobs);
    buf_fini(&f->got);
    baseline_record_fini(&f->baseline);
    desk_destroy(&f->desk);
    free(f);
    return 0;
}

static void *run_step(void *arg)
{
    fixture *f = arg;
    f->rc = f->step(f);
    return NULL;
}

static void start(fixture *f, int (*step)(fixture *))
{
    f->step = step;
    f->e = (err){0};
    assert_int_equal(pthread_create(&f->task, NULL, run_step, f), 0);
}

static void finish(fixture *f)
{
    pthread_join(f->task, NULL);
}

static char *make_blob(void)
{
    char *data = xmalloc(BLOB_SIZE);
    for (size_t i = 0; i < BLOB_SIZE; i++) {
        data[i] = (char)(i * 2654435761u >> 24);
    }
    return data;
}

/* ---- blobs ---- */

static int put_blob(fixture *f)
{
    SCOPED(scoped_free) char *data = make_blob();
    return ledger_put(&f->account, data, BLOB_SIZE, &f->name, &f->e);
}

static void a_large_blob_goes_in_chunks(void **state)
{
    fixture *f = *state;
    SCOPED(scoped_free) char *data = make_blob();
    blob_inbox *inbox = blob_inbox_create(CACHE_BYTES);
    message_bytes done = {0};
    err e = {0};
    int chunks = 0;
    start(f, put_blob);
    for (int rc = 0; rc == 0; chunks++) {
        SCOPED(message_fini) message m = {0};
        desk_next(f->desk, MSG_BLOB_PUT, &m);
        rc = blob_inbox_put(inbox, "n", &m.body.blob_put, &done, &e);
        if (rc < 0) {
            fail_msg("%s", e.text);
        }
    }
    finish(f);
    assert_int_equal(f->rc, 0);
    assert_int_equal(chunks, 4);
    assert_int_equal(done.size, BLOB_SIZE);
    assert_memory_equal(done.data, data, BLOB_SIZE);
    free(done.data);
    blob_inbox_destroy(&inbox);
    /* It is kept here too: reading it back asks nobody. */
    assert_int_equal(ledger_get(&f->account, &f->name, &f->got, &e), 0);
    assert_int_equal(f->got.size, BLOB_SIZE);
}

static int get_blob(fixture *f)
{
    return ledger_get(&f->account, &f->name, &f->got, &f->e);
}

/* Answers requests for chunks of data until the last one was sent. */
static void serve_blob(fixture *f, const char *data, size_t size)
{
    for (bool last = false; !last;) {
        SCOPED(message_fini) message ask = {0};
        message reply;
        desk_next(f->desk, MSG_BLOB_GET, &ask);
        message_init(&reply, MSG_BLOB_DATA);
        blob_answer(&reply, &ask, data, size);
        reply.body.blob_data.ref = (int64_t)ask.seq;
        last = data == NULL ||
               ask.body.blob_get.offset + (int64_t)reply.body.blob_data.data.size >= (int64_t)size;
        desk_say(f->desk, &reply);
    }
}

static void a_large_blob_comes_in_chunks_and_is_kept(void **state)
{
    fixture *f = *state;
    SCOPED(scoped_free) char *data = make_blob();
    f->name = hash_of(data, BLOB_SIZE);
    start(f, get_blob);
    serve_blob(f, data, BLOB_SIZE);
    finish(f);
    if (f->rc != 0) {
        fail_msg("%s", f->e.text);
    }
    assert_int_equal(f->got.size, BLOB_SIZE);
    assert_memory_equal(buf_text(&f->got), data, BLOB_SIZE);
    assert_int_equal(ledger_get(&f->account, &f->name, &f->got, &f->e), 0); /* from the cache */
    assert_int_equal(f->got.size, 2 * BLOB_SIZE);
}

static void an_empty_blob_comes_too(void **state)
{
    fixture *f = *state;
    f->name = hash_of("", 0);
    start(f, get_blob);
    serve_blob(f, "", 0);
    finish(f);
    assert_int_equal(f->rc, 0);
    assert_int_equal(f->got.size, 0);
}

static void a_missing_blob_is_named(void **state)
{
    fixture *f = *state;
    char hex[HASH_HEX];
    f->name = hash_of("nowhere", 7);
    hash_hex(&f->name, hex);
    hex[12] = '\0';
    start(f, get_blob);
    serve_blob(f, NULL, 0);
    finish(f);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(f->e.text, hex));
}

static void bytes_of_another_hash_are_refused(void **state)
{
    fixture *f = *state;
    f->name = hash_of("right", 5);
    start(f, get_blob);
    serve_blob(f, "wrong", 5);
    finish(f);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_PROTOCOL);
    assert_false(blob_store_has(f->blobs, &f->name));
}

/* ---- records ---- */

static int tell_call(fixture *f)
{
    static char stage[] = "codegen", provider[] = "mock", model[] = "m", stop[] = "ok";
    const call_record r = {.stage = stage,
                           .index = 1,
                           .provider = provider,
                           .model = model,
                           .stop = stop,
                           .cost_usd = (double)NAN};
    return ledger_call(&f->account, &r, &f->e);
}

static int tell_stage(fixture *f)
{
    static char stage[] = "codegen", status[] = "passed";
    const stage_record r = {.stage = stage, .status = status, .calls = 2};
    return ledger_stage(&f->account, &r, &f->e);
}

static int tell_result(fixture *f)
{
    const result_record r = {.speedup = (double)NAN, .calls = 7};
    return ledger_result(&f->account, &r, &f->e);
}

static int give_back(fixture *f)
{
    const err why = {.code = ERR_GPU,
                     .domain = ERR_DOMAIN_CUDA,
                     .native = 719,
                     .retry = true,
                     .text = "the device fell off"};
    return ledger_give_back(&f->account, &why, &f->e);
}

/* What every record carries, and that nobody goes on before it is committed. */
static void every_record_carries_task_and_token_and_waits(void **state)
{
    static const struct {
        message_type type;
        int (*step)(fixture *);
    } cases[] = {{MSG_CALL, tell_call}, {MSG_RESULT, tell_result}, {MSG_GIVE_BACK, give_back}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED(message_fini) message m = {0};
        start(f, cases[i].step);
        desk_next(f->desk, cases[i].type, &m);
        /* call, stage, result and give_back begin with the same two members */
        assert_string_equal(m.body.call.task, "t1");
        assert_int_equal(m.body.call.token, 9);
        desk_ack(f->desk, m.seq, ERR_NONE, "");
        finish(f);
        assert_int_equal(f->rc, 0);
    }
}

static void records_are_what_was_said(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message call = {0};
    call_record r SCOPED(call_record_fini) = {0};
    start(f, tell_call);
    desk_next(f->desk, MSG_CALL, &call);
    desk_ack(f->desk, call.seq, ERR_NONE, "");
    finish(f);
    const char *record = call.body.call.record;
    assert_int_equal(call_record_read(record, strlen(record), &r, NULL), 0);
    assert_string_equal(r.model, "m");
    assert_true(isnan(r.cost_usd));
    SCOPED(message_fini) message back = {0};
    start(f, give_back);
    desk_next(f->desk, MSG_GIVE_BACK, &back);
    desk_ack(f->desk, back.seq, ERR_NONE, "");
    finish(f);
    assert_int_equal(back.body.give_back.code, ERR_GPU);
    assert_int_equal(back.body.give_back.domain, ERR_DOMAIN_CUDA);
    assert_int_equal(back.body.give_back.native, 719);
    assert_true(back.body.give_back.retry);
    assert_string_equal(back.body.give_back.text, "the device fell off");
}

static void a_stale_token_is_a_conflict(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message m = {0};
    start(f, tell_call);
    desk_next(f->desk, MSG_CALL, &m);
    desk_ack(f->desk, m.seq, ERR_CONFLICT, "token 9 is stale");
    finish(f);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_CONFLICT);
    assert_string_equal(f->e.text, "token 9 is stale");
}

/* The task goes on while the coordinator commits a stage; whatever is committed next waits for it. */
static void a_stage_record_is_settled_by_the_next_commit(void **state)
{
    static const struct {
        message_type next;
        int (*step)(fixture *);
        bool on_its_way; /* sent before the stage record is settled */
    } cases[] = {{MSG_CALL, tell_call, true},
                 {MSG_STAGE, tell_stage, false},
                 {MSG_RESULT, tell_result, false}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED(message_fini) message stage = {0};
        SCOPED(message_fini) message next = {0};
        start(f, tell_stage);
        finish(f); /* nothing was acknowledged yet */
        assert_int_equal(f->rc, 0);
        desk_next(f->desk, MSG_STAGE, &stage);
        assert_int_equal(stage.body.stage.token, 9);
        start(f, cases[i].step);
        if (cases[i].on_its_way) {
            desk_next(f->desk, cases[i].next, &next);
            desk_ack(f->desk, next.seq, ERR_NONE, "");
            desk_ack(f->desk, stage.seq, ERR_NONE, "");
        } else {
            desk_ack(f->desk, stage.seq, ERR_NONE, "");
            desk_next(f->desk, cases[i].next, &next);
            desk_ack(f->desk, next.seq, ERR_NONE, "");
        }
        finish(f);
        assert_int_equal(f->rc, 0);
        ledger_fini(&f->account);
    }
}

static void a_refused_stage_record_fails_the_next_commit(void **state)
{
    static int (*const steps[])(fixture *) = {tell_call, tell_stage, tell_result};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        SCOPED(message_fini) message stage = {0};
        start(f, tell_stage);
        finish(f);
        desk_next(f->desk, MSG_STAGE, &stage);
        desk_ack(f->desk, stage.seq, ERR_CONFLICT, "token 9 is stale");
        start(f, steps[i]);
        finish(f);
        assert_int_equal(f->rc, -1);
        assert_int_equal(f->e.code, ERR_CONFLICT);
        if (i == 0) { /* the answer was sent before the refusal was known */
            SCOPED(message_fini) message call = {0};
            desk_next(f->desk, MSG_CALL, &call);
            desk_ack(f->desk, call.seq, ERR_CONFLICT, "token 9 is stale");
        }
    }
}

static void a_blob_arrives_before_the_record_that_names_it(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message first = {0};
    SCOPED(message_fini) message second = {0};
    err e = {0};
    hash name;
    assert_int_equal(ledger_put_text(&f->account, "text", &name, &e), 0);
    ledger_progress(&f->account, "polish");
    desk_next(f->desk, MSG_BLOB_PUT, &first);
    desk_next(f->desk, MSG_PROGRESS, &second);
    assert_true(hash_equal(&first.body.blob_put.blob, &name));
    assert_string_equal(second.body.progress.stage, "polish");
    assert_int_equal(second.body.progress.token, 9);
}

static void a_cancelled_task_is_told_between_its_steps(void **state)
{
    fixture *f = *state;
    err e = {0};
    assert_int_equal(ledger_check(&f->account, &e), 0);
    atomic_store(&f->cancelled, true);
    assert_int_equal(ledger_check(&f->account, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_non_null(strstr(e.text, "t1"));
}

/* ---- baselines ---- */

static int get_baseline(fixture *f)
{
    const hash key = hash_of_text("key");
    baseline_record_fini(&f->baseline);
    return ledger_baseline_get(&f->account, &key, &f->found, &f->baseline, &f->e);
}

static int put_baseline(fixture *f)
{
    static char problem[] = "silu", shape[] = "rows=1", winner[] = "eager";
    const hash key = hash_of_text("key");
    const baseline_record r = {.problem = problem, .shape = shape, .winner = winner};
    return ledger_baseline_put(&f->account, &key, &r, &f->e);
}

static void answer_baseline(fixture *f, bool found, const char *record)
{
    SCOPED(message_fini) message ask = {0};
    message reply;
    char hex[HASH_HEX];
    const hash key = hash_of_text("key");
    hash_hex(&key, hex);
    desk_next(f->desk, MSG_BASELINE_GET, &ask);
    assert_string_equal(ask.body.baseline_get.key, hex);
    message_init(&reply, MSG_BASELINE);
    reply.body.baseline.ref = (int64_t)ask.seq;
    reply.body.baseline.found = found;
    message_set_str(&reply.body.baseline.record, record);
    desk_say(f->desk, &reply);
}

static void a_baseline_that_was_put_can_be_got(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message put = {0};
    start(f, put_baseline);
    desk_next(f->desk, MSG_BASELINE_PUT, &put);
    desk_ack(f->desk, put.seq, ERR_NONE, "");
    finish(f);
    assert_int_equal(f->rc, 0);
    start(f, get_baseline);
    answer_baseline(f, true, put.body.baseline_put.record);
    finish(f);
    assert_int_equal(f->rc, 0);
    assert_true(f->found);
    assert_string_equal(f->baseline.winner, "eager");
}

static void no_stored_baseline_is_no_error(void **state)
{
    fixture *f = *state;
    f->found = true;
    start(f, get_baseline);
    answer_baseline(f, false, "");
    finish(f);
    assert_int_equal(f->rc, 0);
    assert_false(f->found);
    assert_null(f->baseline.winner);
}

static void a_stored_baseline_that_does_not_parse_is_an_error(void **state)
{
    fixture *f = *state;
    start(f, get_baseline);
    answer_baseline(f, true, "{\"winner\": 1}");
    finish(f);
    assert_int_equal(f->rc, -1);
    assert_int_equal(f->e.code, ERR_CONFIG);
}

#define LEDGER_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEDGER_TEST(a_large_blob_goes_in_chunks),
        LEDGER_TEST(a_large_blob_comes_in_chunks_and_is_kept),
        LEDGER_TEST(an_empty_blob_comes_too),
        LEDGER_TEST(a_missing_blob_is_named),
        LEDGER_TEST(bytes_of_another_hash_are_refused),
        LEDGER_TEST(every_record_carries_task_and_token_and_waits),
        LEDGER_TEST(records_are_what_was_said),
        LEDGER_TEST(a_stale_token_is_a_conflict),
        LEDGER_TEST(a_stage_record_is_settled_by_the_next_commit),
        LEDGER_TEST(a_refused_stage_record_fails_the_next_commit),
        LEDGER_TEST(a_blob_arrives_before_the_record_that_names_it),
        LEDGER_TEST(a_cancelled_task_is_told_between_its_steps),
        LEDGER_TEST(a_baseline_that_was_put_can_be_got),
        LEDGER_TEST(no_stored_baseline_is_no_error),
        LEDGER_TEST(a_stored_baseline_that_does_not_parse_is_an_error)};
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
