/* test_coord - the coordinator with real sockets and a real store; nodes are scripted threads
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

#include "common/scoped.h"
#include "world.h"
#include "wire/record.h"

/* Runs the world's coordinator with one node thread; the node must have ended by then or leave at bye. */
typedef void script_fn(client *box, world *w);
typedef struct actor {
    world *w;
    script_fn *script;
} actor;

static void *act(void *arg)
{
    const actor *a = arg;
    SCOPED(client_destroy) client *box = client_create(a->w->coord->endpoint);
    a->script(box, a->w);
    return NULL;
}

static coord_end play(world *w, script_fn *script)
{
    actor a = {.w = w, .script = script};
    pthread_t thread;
    coord_end end = COORD_GOES_ON;
    err e = {0};
    assert_int_equal(pthread_create(&thread, NULL, act, &a), 0);
    if (coord_run(w->coord, &end, &e))
        print_message("%s\n", e.text);
    coord_goodbye(w->coord, "done");
    pthread_join(thread, NULL);
    return end;
}

/* ---- scripts ---- */
static void serve(client *box, world *w)
{
    (void)w;
    client_join(box, "box", 1);
    client_serve(box);
}

static void every_task_is_done_once_and_recorded(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32,silu_fp16", .samples = 3});
    assert_int_equal(play(w, serve), COORD_FINISHED);
    assert_int_equal(world_count(w, "task WHERE state = 'done'"), 2 + 6);
    assert_int_equal(world_count(w, "lease WHERE ending = 'done'"), 2 + 6);
    assert_int_equal(world_count(w, "event WHERE kind = 'done'"), 2 + 6);
    assert_int_equal(world_count(w, "run WHERE state = 'running'"), 1);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).correct, 6);
}

static void contracts_first(client *box, world *w)
{
    (void)w;
    message given;
    client_join(box, "box", 4);
    client_pull(box, 4);
    for (int i = 0; i < 2; i++) {
        client_expect(box, MSG_LEASE, &given);
        MUST(strcmp(given.body.lease.kind, "contract") == 0);
        MUST(client_result(box, &given, "ok", "") == 0);
        message_fini(&given);
    }
    for (int i = 0; i < 2; i++) {
        client_expect(box, MSG_LEASE, &given);
        MUST(strcmp(given.body.lease.kind, "synthesize") == 0);
        MUST(client_result(box, &given, "wrong", "off by one") == 0);
        message_fini(&given);
    }
}

static void nothing_is_synthesized_before_all_contracts_passed(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32,silu_fp16"});
    assert_int_equal(play(w, contracts_first), COORD_FINISHED);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).scored, 2);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).correct, 0);
}

static void break_contract(client *box, world *w)
{
    (void)w;
    message given;
    client_join(box, "box", 4);
    client_pull(box, 4);
    client_expect(box, MSG_LEASE, &given);
    client_give_back(box, &given, ERR_CONFIG, "suites/x/reference.py:12: reference raised");
    message_fini(&given);
}

static void a_contract_that_does_not_hold_refuses_the_run(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32,silu_fp16"});
    assert_int_equal(play(w, break_contract), COORD_REFUSED);
    assert_string_equal(w->coord->why.text, "suites/x/reference.py:12: reference raised");
    assert_int_equal(w->coord->why.code, ERR_CONFIG);
    assert_int_equal(world_count(w, "model_call"), 0);
}

/* The first node records an answer and a stage, then falls silent; the second gets the task with both,
 * and what the first sends later is refused. */
static void fall_silent(client *box, world *w)
{
    message given, again;
    client_join(box, "dying", 1);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    MUST(given.body.lease.stages_count == 0);
    MUST(client_call(box, &given, "interview", 0) == 0);
    MUST(client_stage(box, &given, "interview") == 0);
    MUST(client_call(box, &given, "codegen", 0) == 0);
    MUST(client_call(box, &given, "codegen", 0) == 0); /* repeated: taken, not doubled */

    SCOPED(client_destroy) client *other = client_create(w->coord->endpoint);
    client_join(other, "heir", 1);
    client_pull(other, 1);
    do { /* until the first one's silence is noticed */
        client_beat(other, "heir");
    } while (!client_next(other, 50, &again));
    MUST(again.type == MSG_LEASE);
    MUST(strcmp(again.body.lease.task, given.body.lease.task) == 0);
    MUST(again.body.lease.token > given.body.lease.token);
    MUST(again.body.lease.stages_count == 1);
    MUST(strcmp(again.body.lease.stages[0].stage, "interview") == 0);
    MUST(again.body.lease.calls_count == 1);
    MUST(strcmp(again.body.lease.calls[0].stage, "codegen") == 0);

    client_join(box, "dying", 1); /* it wakes up and registers anew */
    MUST(client_result(box, &given, "ok", "") == ERR_CONFLICT);
    MUST(client_stage(box, &given, "codegen") == ERR_CONFLICT);
    MUST(client_result(other, &again, "ok", "") == 0);
    message_fini(&given);
    message_fini(&again);
}

static void a_lost_nodes_task_goes_elsewhere_with_what_it_finished(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32", .lost_ms = 300});
    assert_int_equal(play(w, fall_silent), COORD_FINISHED);
    assert_int_equal(world_count(w, "event WHERE kind = 'late'"), 2);
    assert_int_equal(world_count(w, "lease WHERE ending = 'lost'"), 1);
    assert_int_equal(world_count(w, "task WHERE state = 'done'"), 2);
    assert_int_equal(world_count(w, "model_call"), 2);
    assert_int_equal(world_count(w, "stage_result"), 1);
    assert_int_equal(w->run->calls, 2);
    assert_true(w->run->spent_usd == 0.5);
}

static void fail_three_times(client *box, world *w)
{
    (void)w;
    message given;
    client_join(box, "box", 1);
    for (int i = 0; i < 4; i++) {
        client_pull(box, 1);
        client_expect(box, MSG_LEASE, &given);
        if (strcmp(given.body.lease.kind, "contract") == 0)
            MUST(client_result(box, &given, "ok", "") == 0);
        else
            MUST(client_give_back(box, &given, ERR_GPU, "the driver fell over") == 0);
        message_fini(&given);
    }
}

static void a_task_whose_leases_fail_three_times_is_given_up(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, fail_three_times), COORD_FINISHED);
    assert_int_equal(
        world_count(w, "task WHERE state = 'failed' AND error = 'the driver fell over'"), 1);
    assert_int_equal(world_count(w, "lease WHERE ending = 'returned'"), 3);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).state[SCHED_FAILED], 1);
}

static void be_unknown(client *box, world *w)
{
    message m;
    client_pull(box, 1);
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == ERR_NOT_FOUND);
    MUST(strstr(m.body.refused.text, "register again") != NULL);
    message_fini(&m);
    client_beat(box, "nobody");
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == ERR_NOT_FOUND);
    message_fini(&m);
    serve(box, w);
}

static void an_unknown_peer_is_told_to_register_and_may(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, be_unknown), COORD_FINISHED);
}

static void speak_another_protocol(client *box, world *w)
{
    message m;
    message_init(&m, MSG_HELLO);
    m.body.hello.protocol = 99;
    m.body.hello.slots = 1;
    message_set_str(&m.body.hello.node, "old");
    message_set_str(&m.body.hello.instance, "i");
    client_send(box, &m);
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == ERR_PROTOCOL);
    MUST(m.body.refused.protocol == MESSAGE_PROTOCOL);
    MUST(strstr(m.body.refused.text, "99") != NULL);
    message_fini(&m);
    serve(box, w);
}

static void another_protocol_is_refused_in_words(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, speak_another_protocol), COORD_FINISHED);
}

static void exchange_blobs(client *box, world *w)
{
    message m;
    static char big[3 * 1024 * 1024 / 2];
    memset(big, 'x', sizeof big);
    hash name = hash_of(big, sizeof big);
    client_join(box, "box", 1);
    for (int64_t offset = 0; offset >= 0;) {
        message_init(&m, MSG_BLOB_PUT);
        offset = blob_put_chunk(&m, &name, big, sizeof big, offset);
        client_send(box, &m);
    }
    SCOPED(blob_in_destroy) blob_in *back = blob_in_create(&name);
    for (int done = 0; done == 0;) {
        message_init(&m, MSG_BLOB_GET);
        m.body.blob_get.blob = name;
        m.body.blob_get.offset = blob_in_next(back);
        client_send(box, &m);
        client_expect(box, MSG_BLOB_DATA, &m);
        MUST(m.body.blob_data.found);
        done = blob_in_add(back, m.body.blob_data.offset, m.body.blob_data.total,
                           &m.body.blob_data.data, NULL);
        MUST(done >= 0);
        message_fini(&m);
    }
    message_init(&m, MSG_BLOB_GET);
    m.body.blob_get.blob = hash_of_text("nobody has this");
    client_send(box, &m);
    client_expect(box, MSG_BLOB_DATA, &m);
    MUST(!m.body.blob_data.found);
    message_fini(&m);

    message_init(&m, MSG_BLOB_PUT); /* the bytes are not what the name says */
    blob_put_chunk(&m, &name, "y", 1, 0);
    MUST(client_ack(box, client_send(box, &m)) == ERR_PROTOCOL);
    client_serve(box);
    (void)w;
}

static void blobs_go_both_ways_and_are_verified(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, exchange_blobs), COORD_FINISHED);
    assert_int_equal(world_count(w, "artifact WHERE size = 1572864"), 1);
}

static void send_nonsense(client *box, world *w)
{
    message given, m;
    client_join(box, "box", 1);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    static const char *const records[] = {
        "not JSON",
        "{}",
        "{\"stage\":\"contract\"}",
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        message_init(&m, MSG_STAGE);
        message_set_str(&m.body.stage.task, given.body.lease.task);
        m.body.stage.token = given.body.lease.token;
        message_set_str(&m.body.stage.record, records[i]);
        MUST(client_ack(box, client_send(box, &m)) == ERR_PROTOCOL);
    }
    message_init(&m, MSG_STAGE);
    message_set_str(&m.body.stage.task, "01nosuchtask");
    m.body.stage.token = 1;
    message_set_str(&m.body.stage.record, "{}");
    MUST(client_ack(box, client_send(box, &m)) == ERR_NOT_FOUND);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    client_serve(box);
    (void)w;
}

static void nonsense_is_answered_and_changes_nothing(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, send_nonsense), COORD_FINISHED);
    assert_int_equal(world_count(w, "stage_result"), 0);
}

static void keep_baselines(client *box, world *w)
{
    message m;
    char key[HASH_HEX];
    hash of = hash_of_text("k");
    hash_hex(&of, key);
    client_join(box, "box", 1);
    for (int round = 0; round < 2; round++) {
        message_init(&m, MSG_BASELINE_GET);
        message_set_str(&m.body.baseline_get.key, key);
        uint64_t ref = client_send(box, &m);
        client_expect(box, MSG_BASELINE, &m);
        MUST(m.body.baseline.ref == (int64_t)ref);
        MUST(m.body.baseline.found == (round == 1));
        message_fini(&m);
        char id[] = "p", shape[] = "n=1";
        const baseline_record record = {.problem = id, .shape = shape};
        message_init(&m, MSG_BASELINE_PUT);
        message_set_str(&m.body.baseline_put.key, key);
        m.body.baseline_put.record = baseline_record_write(&record);
        MUST(client_ack(box, client_send(box, &m)) == 0);
    }
    client_serve(box);
    (void)w;
}

static void baselines_are_kept(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, keep_baselines), COORD_FINISHED);
    assert_int_equal(world_count(w, "baseline"), 1);
}

static void stop_once_it_works(void *arg)
{
    world *w = arg;
    if (sched_count(w->run->tasks, SCHED_CONTRACT).in_stage[0])
        coord_stop(w->coord, COORD_INTERRUPTED, NULL);
}

static void be_cancelled(client *box, world *w)
{
    message given, m;
    (void)w;
    client_join(box, "box", 2);
    client_pull(box, 2);
    client_expect(box, MSG_LEASE, &given);
    message_init(&m, MSG_PROGRESS);
    message_set_str(&m.body.progress.task, given.body.lease.task);
    m.body.progress.token = given.body.lease.token;
    message_set_str(&m.body.progress.stage, "contract");
    client_send(box, &m);
    client_expect(box, MSG_CANCEL, &m);
    MUST(strcmp(m.body.cancel.task, given.body.lease.task) == 0);
    message_fini(&m);
    message_fini(&given);
}

static void an_interrupt_takes_every_task_back(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    loop_add_timer(w->coord->events, 10, 10, stop_once_it_works, w);
    assert_int_equal(play(w, be_cancelled), COORD_INTERRUPTED);
    assert_int_equal(world_count(w, "task WHERE state = 'waiting'"), 2);
    assert_int_equal(world_count(w, "lease WHERE ending = 'cancelled'"), 1);
}

static void two_of_one_name(client *box, world *w)
{
    message m;
    client_join(box, "box", 1);
    SCOPED(client_destroy) client *newer = client_create(w->coord->endpoint);
    client_join(newer, "box", 1);
    client_expect(box, MSG_BYE, &m);
    message_fini(&m);
    client_serve(newer);
}

static void a_newer_process_of_the_same_name_takes_over(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(play(w, two_of_one_name), COORD_FINISHED);
    assert_int_equal(world_count(w, "node"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once_and_recorded),
        cmocka_unit_test(nothing_is_synthesized_before_all_contracts_passed),
        cmocka_unit_test(a_contract_that_does_not_hold_refuses_the_run),
        cmocka_unit_test(a_lost_nodes_task_goes_elsewhere_with_what_it_finished),
        cmocka_unit_test(a_task_whose_leases_fail_three_times_is_given_up),
        cmocka_unit_test(an_unknown_peer_is_told_to_register_and_may),
        cmocka_unit_test(another_protocol_is_refused_in_words),
        cmocka_unit_test(blobs_go_both_ways_and_are_verified),
        cmocka_unit_test(nonsense_is_answered_and_changes_nothing),
        cmocka_unit_test(baselines_are_kept),
        cmocka_unit_test(an_interrupt_takes_every_task_back),
        cmocka_unit_test(a_newer_process_of_the_same_name_takes_over),
    };
    return cmocka_run_group_tests_name("coordinator/coord", tests, NULL, NULL);
}
