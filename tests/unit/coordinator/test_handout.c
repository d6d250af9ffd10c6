/* test_handout - the life of a lease, with what the store keeps of it
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "world.h"

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
    assert_int_equal(world_play(w, fall_silent), COORD_FINISHED);
    assert_int_equal(world_count(w, "event WHERE kind = 'late'"), 2);
    assert_int_equal(world_count(w, "late WHERE node = 'dying' AND newest > token"), 2);
    assert_int_equal(world_count(w, "late WHERE kind = 'result' AND outcome = 'ok'"), 1);
    assert_int_equal(world_count(w, "late WHERE kind = 'stage' AND reason LIKE '%the newest is%'"),
                     1);
    assert_int_equal(world_count(w, "lease WHERE ending = 'lost'"), 1);
    assert_int_equal(world_count(w, "task WHERE state = 'done'"), 2);
    assert_int_equal(world_count(w, "model_call"), 2);
    assert_int_equal(world_count(w, "stage_result"), 1);
    assert_int_equal(w->run->calls, 2);
    assert_true(w->run->spent_usd == 0.5);
}

/* The store's thread stands still until somebody opens the gate. */
typedef struct gate {
    pthread_mutex_t shut;
} gate;

static int wait_at(store_tx *tx, void *arg, err *e)
{
    gate *g = arg;
    (void)tx;
    (void)e;
    pthread_mutex_lock(&g->shut);
    pthread_mutex_unlock(&g->shut);
    return 0;
}

static gate held = {.shut = PTHREAD_MUTEX_INITIALIZER};

/* The lease comes while the store stands still, the ack of its result does not. */
static void work_before_the_disk_does(client *box, world *w)
{
    message given, m;
    client_join(box, "box", 1);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    pthread_mutex_lock(&held.shut);
    MUST(store_submit(w->store, wait_at, &held, NULL, NULL) == 0);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    message_init(&m, MSG_RESULT);
    message_set_str(&m.body.result.task, given.body.lease.task);
    m.body.result.token = given.body.lease.token;
    message_set_str(&m.body.result.record, "{}");
    MUST(client_ack(box, client_send(box, &m)) == ERR_PROTOCOL); /* the loop goes on */
    MUST(world_count(w, "lease") == 1);
    pthread_mutex_unlock(&held.shut);
    MUST(client_result(box, &given, "ok", "") == 0);
    MUST(world_count(w, "lease WHERE ending = 'done'") == 2);
    message_fini(&given);
}

static void a_lease_is_sent_before_the_disk_has_it(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, work_before_the_disk_does), COORD_FINISHED);
    assert_int_equal(world_count(w, "task WHERE state = 'done'"), 2);
}

/* The coordinator died between a lease and its grant: whoever has that lease is fenced off. */
static void come_back_with_a_lost_lease(client *box, world *w)
{
    message given, m;
    client_join(box, "box", 1);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    int64_t token = given.body.lease.token;
    MUST(token > w->run->last_token);
    given.body.lease.token = 1; /* of the coordinator before; the store never saw it */
    MUST(client_result(box, &given, "ok", "") == ERR_CONFLICT);
    message_init(&m, MSG_CLAIM);
    message_set_str(&m.body.claim.task, given.body.lease.task);
    m.body.claim.token = 1;
    client_send(box, &m);
    client_expect(box, MSG_CANCEL, &m);
    message_fini(&m);
    given.body.lease.token = token;
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    client_serve(box);
}

static void a_lease_that_the_disk_never_had_is_fenced_off(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    SCOPED(run_destroy) run *again = run_open(w->store, "latest", clock_wall_ms(), NULL);
    coord_take_run(w->coord, again);
    run *first = w->run;
    w->run = TAKE(again);
    assert_int_equal(world_play(w, come_back_with_a_lost_lease), COORD_FINISHED);
    assert_int_equal(world_count(w, "task WHERE state = 'done'"), 2);
    run_destroy(&first);
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
    assert_int_equal(world_play(w, fail_three_times), COORD_FINISHED);
    assert_int_equal(
        world_count(w, "task WHERE state = 'failed' AND error = 'the driver fell over'"), 1);
    assert_int_equal(world_count(w, "lease WHERE ending = 'returned'"), 3);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).state[SCHED_FAILED], 1);
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
    assert_int_equal(world_play(w, be_cancelled), COORD_INTERRUPTED);
    assert_int_equal(world_count(w, "task WHERE state = 'waiting'"), 2);
    assert_int_equal(world_count(w, "lease WHERE ending = 'cancelled'"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_nodes_task_goes_elsewhere_with_what_it_finished),
        cmocka_unit_test(a_lease_is_sent_before_the_disk_has_it),
        cmocka_unit_test(a_lease_that_the_disk_never_had_is_fenced_off),
        cmocka_unit_test(a_task_whose_leases_fail_three_times_is_given_up),
        cmocka_unit_test(an_interrupt_takes_every_task_back),
    };
    return cmocka_run_group_tests_name("coordinator/handout", tests, NULL, NULL);
}
