/* test_coord - the coordinator with real sockets and a real store; nodes are scripted threads
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "world.h"

static void every_task_is_done_once_and_recorded(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32,silu_fp16", .samples = 3});
    assert_int_equal(world_play(w, world_serve), COORD_FINISHED);
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
    assert_int_equal(world_play(w, contracts_first), COORD_FINISHED);
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
    assert_int_equal(world_play(w, break_contract), COORD_REFUSED);
    assert_string_equal(w->coord->why.text, "suites/x/reference.py:12: reference raised");
    assert_int_equal(w->coord->why.code, ERR_CONFIG);
    assert_int_equal(world_count(w, "model_call"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once_and_recorded),
        cmocka_unit_test(nothing_is_synthesized_before_all_contracts_passed),
        cmocka_unit_test(a_contract_that_does_not_hold_refuses_the_run),
    };
    return cmocka_run_group_tests_name("coordinator/coord", tests, NULL, NULL);
}
