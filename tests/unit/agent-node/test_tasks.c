/* test_tasks - leases become threads, threads become results
 *
 * The test's thread is the coordinator; it serves blobs and answers records until what it waits for
 * comes.
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

#include "agent-node/tasks.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/suite.h"
#include "tests/support/desk.h"
#include "tests/support/rig.h"

enum { SLOTS = 2, SPARE = 8, CACHE_BYTES = 16 * 1024 * 1024, TOLD_MAX = 32 };

typedef struct fixture {
    desk *desk;
    suite *suite;
    blob_store *artifacts; /* the coordinator's */
    settings settings;
    node_parts parts;
    session *session;
    pthread_t loop;
    tasks *tasks;
    task_spec spec;
    /* what was told, for the next lease */
    struct row_stage_ref stages[TOLD_MAX];
    struct row_call_ref calls[TOLD_MAX];
    size_t stage_count, call_count;
    err_code answer; /* to every stage */
} fixture;

static void on_lease(void *arg, message *lease)
{
    fixture *f = arg;
    tasks_lease(f->tasks, lease);
}

static void on_cancel(void *arg, const char *task)
{
    fixture *f = arg;
    tasks_cancel(f->tasks, task);
}

static void *serve_session(void *arg)
{
    fixture *f = arg;
    session_run(f->session, NULL);
    return NULL;
}

static void must(const void *made, const err *e)
{
    if (made == NULL) {
        fail_msg("%s", e->text);
    }
}

static void open_parts(fixture *f)
{
    static const char binary[] = CE_BINARY_DIR "/bin/ce-compiler";
    compile_options compile = {.binary = binary, .children = 1};
    err e = {0};
    f->settings = (settings){.device = "fake", .slots = SLOTS, .compilers = 1};
    f->parts.settings = &f->settings;
    must(f->parts.lanes = lanes_create(&f->settings, &e), &e);
    must(f->parts.compiler = compile_pool_create(&compile, &e), &e);
    must(f->parts.blobs = blob_store_create(NULL, CACHE_BYTES, &e), &e);
}

static int set_up(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    err e = {0};
    f->desk = desk_create();
    must(f->suite = suite_load(CE_SOURCE_DIR "/suites", "internal", &e), &e);
    must(f->artifacts = blob_store_create(NULL, CACHE_BYTES, &e), &e);
    open_parts(f);
    session_options options = {.coordinator = desk_endpoint(f->desk),
                               .node = "n",
                               .slots = SLOTS,
                               .software = "{}",
                               .events = {.lease = on_lease, .cancel = on_cancel, .arg = f}};
    must(f->session = session_create(&options, &e), &e);
    f->parts.session = f->session;
    f->tasks = tasks_create(&f->parts, SLOTS);
    assert_int_equal(pthread_create(&f->loop, NULL, serve_session, f), 0);
    message pull;
    desk_admit(f->desk, "c1");
    desk_await(f->desk, MSG_PULL, &pull);
    message_fini(&pull);
    rig_fill_spec(f->suite, f->artifacts, "silu_fp16", "gold", &f->spec);
    *state = f;
    return 0;
}

static void forget_told(fixture *f)
{
    for (size_t i = 0; i < f->stage_count; i++) {
        free(f->stages[i].stage);
    }
    for (size_t i = 0; i < f->call_count; i++) {
        free(f->calls[i].stage);
    }
    f->stage_count = f->call_count = 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    session_stop(f->session);
    pthread_join(f->loop, NULL);
    tasks_destroy(&f->tasks);
    session_destroy(&f->session);
    blob_store_destroy(&f->parts.blobs);
    compile_pool_destroy(&f->parts.compiler);
    lanes_destroy(&f->parts.lanes);
    blob_store_destroy(&f->artifacts);
    suite_destroy(&f->suite);
    task_spec_fini(&f->spec);
    forget_told(f);
    desk_destroy(&f->desk);
    free(f);
    return 0;
}

/* ---- the coordinator's side ---- */

static hash put_text(fixture *f, const char *text)
{
    hash name;
    err e;
    assert_int_equal(blob_store_put(f->artifacts, text, strlen(text), &name, &e), 0);
    return name;
}

static hash put_spec(fixture *f)
{
    SCOPED(scoped_free) char *text = task_spec_write(&f->spec);
    return put_text(f, text);
}

static void lease(fixture *f, const char *task, const hash *spec)
{
    message m;
    message_init(&m, MSG_LEASE);
    message_set_str(&m.body.lease.task, task);
    message_set_str(&m.body.lease.kind, "synthesize");
    m.body.lease.token = 5;
    m.body.lease.spec = *spec;
    desk_say(f->desk, &m);
}

static void serve_blob(fixture *f, const message *ask)
{
    SCOPED(buf_fini) buf data;
    message reply;
    buf_init(&data, BLOB_MAX);
    bool found = blob_store_get(f->artifacts, &ask->body.blob_get.blob, &data, NULL) == 0;
    message_init(&reply, MSG_BLOB_DATA);
    blob_answer(&reply, ask, found ? buf_text(&data) : NULL, data.size);
    reply.body.blob_data.ref = (int64_t)ask->seq;
    desk_say(f->desk, &reply);
}

static void keep_call(fixture *f, const message *m)
{
    call_record call SCOPED(call_record_fini) = {0};
    const char *text = m->body.call.record;
    assert_int_equal(call_record_read(text, strlen(text), &call, NULL), 0);
    f->calls[f->call_count].stage = xstrdup(call.stage);
    f->calls[f->call_count].index = call.index;
    f->calls[f->call_count++].record = put_text(f, text);
    desk_ack(f->desk, m->seq, ERR_NONE, "");
}

static void keep_stage(fixture *f, const message *m)
{
    stage_record stage SCOPED(stage_record_fini) = {0};
    const char *text = m->body.stage.record;
    assert_int_equal(stage_record_read(text, strlen(text), &stage, NULL), 0);
    if (f->answer == ERR_NONE) {
        f->stages[f->stage_count].stage = xstrdup(stage.stage);
        f->stages[f->stage_count++].record = put_text(f, text);
    }
    desk_ack(f->desk, m->seq, f->answer, "stale");
}

static void no_baseline(fixture *f, const message *ask)
{
    message reply;
    message_init(&reply, MSG_BASELINE);
    reply.body.baseline.ref = (int64_t)ask->seq;
    desk_say(f->desk, &reply);
}

/* Plays the coordinator until a message of this type comes, which is the caller's. */
static void serve_until(fixture *f, message_type type, message *out)
{
    for (;;) {
        message m;
        desk_any(f->desk, &m);
        if (m.type == type) {
            *out = m;
            return;
        }
        if (m.type == MSG_BLOB_GET) {
            serve_blob(f, &m);
        } else if (m.type == MSG_BLOB_PUT) { /* small enough for one chunk */
            const message_bytes *chunk = &m.body.blob_put.data;
            blob_store_put(f->artifacts, chunk->data, chunk->size, NULL, NULL);
        } else if (m.type == MSG_CALL) {
            keep_call(f, &m);
        } else if (m.type == MSG_STAGE) {
            keep_stage(f, &m);
        } else if (m.type == MSG_BASELINE_GET) {
            no_baseline(f, &m);
        } else if (m.type == MSG_BASELINE_PUT) {
            desk_ack(f->desk, m.seq, ERR_NONE, "");
        } else if (m.type == MSG_RESULT || m.type == MSG_GIVE_BACK) {
            fail_msg("%s came instead of %s", message_name(m.type), message_name(type));
        }
        message_fini(&m);
    }
}

static void expect_pull(fixture *f, int64_t credit)
{
    SCOPED(message_fini) message m = {0};
    serve_until(f, MSG_PULL, &m);
    assert_int_equal(m.body.pull.credit, credit);
}

static void expect_give_back(fixture *f, const char *task, err_code code, const char *says)
{
    SCOPED(message_fini) message m = {0};
    serve_until(f, MSG_GIVE_BACK, &m);
    const struct msg_give_back *b = &m.body.give_back;
    if (strcmp(b->task, task) != 0 || b->code != code || strstr(b->text, says) == NULL) {
        fail_msg("%s given back with %lld: %s", b->task, (long long)b->code, b->text);
    }
    assert_int_equal(b->token, 5);
    desk_ack(f->desk, m.seq, ERR_NONE, "");
}

/* ---- tests ---- */

static void expect_result(fixture *f, outcome wanted)
{
    SCOPED(message_fini) message m = {0};
    result_record result SCOPED(result_record_fini) = {0};
    serve_until(f, MSG_RESULT, &m);
    assert_string_equal(m.body.result.task, "t1");
    assert_int_equal(m.body.result.token, 5);
    const char *text = m.body.result.record;
    assert_int_equal(result_record_read(text, strlen(text), &result, NULL), 0);
    assert_int_equal(result.result, wanted);
    desk_ack(f->desk, m.seq, ERR_NONE, "");
}

static void a_lease_ends_with_a_result_and_a_free_slot(void **state)
{
    fixture *f = *state;
    hash spec = put_spec(f);
    lease(f, "t1", &spec);
    expect_result(f, OUTCOME_OK);
    assert_int_equal(f->stage_count, SPEC_STAGES);
    assert_int_equal(f->call_count, 3);
    expect_pull(f, SLOTS);
}

static void a_lease_with_finished_stages_repeats_none_of_them(void **state)
{
    fixture *f = *state;
    hash spec = put_spec(f);
    message m;
    lease(f, "t1", &spec);
    expect_result(f, OUTCOME_OK);
    expect_pull(f, SLOTS);
    message_init(&m, MSG_LEASE);
    message_set_str(&m.body.lease.task, "t1");
    message_set_str(&m.body.lease.kind, "synthesize");
    m.body.lease.token = 5;
    m.body.lease.spec = spec;
    m.body.lease.stages_count = f->stage_count - 1; /* all but polish, whose answer was recorded */
    m.body.lease.stages = xmemdup(f->stages, m.body.lease.stages_count * sizeof(f->stages[0]));
    m.body.lease.calls_count = 1;
    m.body.lease.calls = xmemdup(&f->calls[f->call_count - 1], sizeof(f->calls[0]));
    for (size_t i = 0; i < m.body.lease.stages_count; i++) {
        f->stages[i].stage = NULL; /* now the message's */
    }
    f->calls[f->call_count - 1].stage = NULL;
    forget_told(f);
    desk_say(f->desk, &m);
    expect_result(f, OUTCOME_OK);
    assert_int_equal(f->call_count, 0);
    assert_int_equal(f->stage_count, 1);
    assert_string_equal(f->stages[0].stage, "polish");
}

static void what_cannot_be_run_is_given_back(void **state)
{
    fixture *f = *state;
    hash missing = hash_of_text("nowhere");
    hash broken = put_text(f, "{\"kind\": 1}");
    lease(f, "t1", &missing);
    expect_give_back(f, "t1", ERR_NOT_FOUND, "no blob");
    lease(f, "t2", &broken);
    expect_give_back(f, "t2", ERR_CONFIG, "task spec");
    free(f->spec.kind);
    f->spec.kind = xstrdup("admit");
    hash odd = put_spec(f);
    lease(f, "t3", &odd);
    expect_give_back(f, "t3", ERR_PROTOCOL, "unknown kind of task 'admit'");
}

static void a_failing_provider_is_told_with_what_can_be_done(void **state)
{
    fixture *f = *state;
    err e = {0};
    SCOPED(scoped_free) char *path = file_join(desk_folder(f->desk), "mock.json");
    static const char script[] = "{\"rules\": [{\"fault\": \"overloaded\"}]}";
    assert_int_equal(file_write(path, script, strlen(script), &e), 0);
    for (int i = 0; i < SPEC_STAGES; i++) {
        free(f->spec.models[i]);
        f->spec.models[i] = xasprintf("mock:%s", path);
    }
    hash spec = put_spec(f);
    lease(f, "t1", &spec);
    SCOPED(message_fini) message m = {0};
    serve_until(f, MSG_GIVE_BACK, &m);
    assert_true(m.body.give_back.retry);
    assert_int_equal(m.body.give_back.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(m.body.give_back.text, "interview"));
    desk_ack(f->desk, m.seq, ERR_NONE, "");
    expect_pull(f, SLOTS);
}

static void a_stale_lease_is_dropped_in_silence(void **state)
{
    fixture *f = *state;
    hash spec = put_spec(f);
    f->answer = ERR_CONFLICT;
    lease(f, "t1", &spec);
    expect_pull(f, SLOTS); /* a give-back or a result in between fails */
}

static void a_cancelled_task_is_dropped_in_silence(void **state)
{
    fixture *f = *state;
    hash spec = put_spec(f);
    SCOPED(message_fini) message ask = {0};
    message cancel;
    lease(f, "t1", &spec);
    serve_until(f, MSG_BLOB_GET, &ask); /* the task waits for this */
    message_init(&cancel, MSG_CANCEL);
    message_set_str(&cancel.body.cancel.task, "t1");
    desk_say(f->desk, &cancel);
    serve_blob(f, &ask);
    expect_pull(f, SLOTS);
    assert_int_equal(f->stage_count, 0);
}

static void only_the_named_task_is_cancelled(void **state)
{
    fixture *f = *state;
    hash spec = put_spec(f);
    SCOPED(message_fini) message ask = {0};
    message cancel;
    lease(f, "t1", &spec);
    serve_until(f, MSG_BLOB_GET, &ask);
    message_init(&cancel, MSG_CANCEL);
    message_set_str(&cancel.body.cancel.task, "t2");
    desk_say(f->desk, &cancel);
    serve_blob(f, &ask);
    expect_result(f, OUTCOME_OK);
}

/* A lease may be under way while a task ends, so a few more than the slots are taken; then no more. */
static void leases_past_every_spare_slot_are_given_back(void **state)
{
    fixture *f = *state;
    message asks[SLOTS + SPARE];
    char task[16];
    size_t asked = 0, refused = 0;
    hash missing = hash_of_text("nowhere");
    for (int i = 0; i <= SLOTS + SPARE; i++) {
        snprintf(task, sizeof(task), "t%d", i);
        lease(f, task, &missing);
    }
    while (asked + refused < SLOTS + SPARE + 1) {
        message m;
        desk_any(f->desk, &m);
        if (m.type == MSG_BLOB_GET) {
            asks[asked++] = m;
            continue;
        }
        if (m.type == MSG_GIVE_BACK) {
            assert_string_equal(m.body.give_back.task, task);
            assert_int_equal(m.body.give_back.code, ERR_LIMIT);
            assert_true(m.body.give_back.retry);
            desk_ack(f->desk, m.seq, ERR_NONE, "");
            refused++;
        }
        message_fini(&m);
    }
    assert_int_equal(refused, 1);
    for (size_t i = 0; i < asked; i++) {
        serve_blob(f, &asks[i]);
        message_fini(&asks[i]);
    }
    for (size_t i = 0; i < asked; i++) {
        SCOPED(message_fini) message m = {0};
        serve_until(f, MSG_GIVE_BACK, &m);
        desk_ack(f->desk, m.seq, ERR_NONE, "");
    }
    for (int64_t credit = 0; credit < SLOTS;) {
        SCOPED(message_fini) message m = {0};
        serve_until(f, MSG_PULL, &m);
        assert_true(m.body.pull.credit > credit);
        credit = m.body.pull.credit;
    }
}

static void beats_count_the_tasks_in_flight(void **state)
{
    fixture *f = *state;
    hash spec = put_spec(f);
    lease(f, "t1", &spec);
    for (int64_t in_flight = 0; in_flight != 1;) {
        SCOPED(message_fini) message m = {0};
        desk_await(f->desk, MSG_BEAT, &m);
        in_flight = m.body.beat.in_flight;
    }
} /* and ends while that task still waits for its spec */

#define TASKS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TASKS_TEST(a_lease_ends_with_a_result_and_a_free_slot),
        TASKS_TEST(a_lease_with_finished_stages_repeats_none_of_them),
        TASKS_TEST(what_cannot_be_run_is_given_back),
        TASKS_TEST(a_failing_provider_is_told_with_what_can_be_done),
        TASKS_TEST(a_stale_lease_is_dropped_in_silence),
        TASKS_TEST(a_cancelled_task_is_dropped_in_silence),
        TASKS_TEST(only_the_named_task_is_cancelled),
        TASKS_TEST(leases_past_every_spare_slot_are_given_back),
        TASKS_TEST(beats_count_the_tasks_in_flight)};
    return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
