/* test_sched - which task goes next
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/sched.h"

static size_t add(sched *self, const char *id, size_t entrant)
{
    return sched_add(self,
                     &(sched_new){.id = id,
                                  .kind = entrant == SCHED_NONE ? SCHED_CONTRACT : SCHED_SYNTHESIZE,
                                  .problem = "softmax",
                                  .entrant = entrant});
}

static void contract_tasks_go_first_and_hold_the_rest_back(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t work = add(s, "w0", 0);
    size_t c0 = add(s, "c0", SCHED_NONE), c1 = add(s, "c1", SCHED_NONE);
    assert_int_equal(sched_pick(s, NULL, NULL), c0);
    assert_int_equal(sched_pick(s, NULL, NULL), c1);
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
    sched_finish(s, c1, OUTCOME_OK);
    assert_false(sched_released(s));
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
    sched_finish(s, c0, OUTCOME_OK);
    assert_true(sched_released(s));
    assert_int_equal(sched_pick(s, NULL, NULL), work);
}

static void a_parked_task_waits_for_its_claim_or_the_end_of_parking(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0), b = add(s, "b", 0), c = add(s, "c", 0);
    sched_park(s, b);
    sched_park(s, a);
    assert_int_equal(sched_pick(s, NULL, NULL), c);
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
    assert_true(sched_claim(s, a));
    assert_false(sched_claim(s, a));
    sched_finish(s, a, OUTCOME_OK);
    sched_finish(s, c, OUTCOME_OK);
    assert_false(sched_idle(s)); /* b is parked, not gone */
    sched_unpark(s);
    assert_int_equal(sched_pick(s, NULL, NULL), b);
    sched_finish(s, b, OUTCOME_OK);
    assert_true(sched_idle(s));
}

static void a_task_is_claimed_wherever_it_stands(void **state)
{
    (void)state;
    for (size_t claimed = 0; claimed < 3; claimed++) {
        SCOPED(sched_destroy) sched *s = sched_create();
        size_t all[] = {add(s, "a", 0), add(s, "b", 0), add(s, "c", 0)};
        assert_true(sched_claim(s, all[claimed]));
        for (size_t i = 0; i < 3; i++) {
            if (i != claimed)
                assert_int_equal(sched_pick(s, NULL, NULL), all[i]);
        }
        assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
        sched_return(s, all[claimed], false, false);
        assert_int_equal(sched_pick(s, NULL, NULL), all[claimed]);
    }
}

/* Loses a task that was picked in whichever way. */
static bool lose(sched *s, size_t wanted, const char *name, bool alone)
{
    size_t task = sched_pick(s, NULL, NULL);
    if (task == SCHED_NONE)
        task = sched_pick_suspect(s, NULL, NULL);
    assert_int_equal(task, wanted);
    return sched_lose(s, task, name, alone);
}

static void who_lost_nodes_twice_runs_alone(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    assert_false(lose(s, a, "n1", false));
    assert_false(sched_suspects(s));
    assert_false(lose(s, a, "n2", false));
    assert_true(sched_suspects(s));
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
    assert_false(sched_idle(s));
    assert_int_equal(sched_pick_suspect(s, NULL, NULL), a);
    assert_int_equal(sched_pick_suspect(s, NULL, NULL), SCHED_NONE);
    sched_finish(s, a, OUTCOME_OK);
    assert_true(sched_idle(s));
}

static void who_takes_two_nodes_along_alone_is_poison(void **state)
{
    (void)state;
    static const struct {
        const char *nodes[5];
        bool alone[5];
        int ends; /* with which loss */
    } cases[] = {
        {{"n1", "n2", "n3", "n4"}, {false, false, true, true}, 3},
        {{"n1", "n2"}, {true, true}, 1},
        {{"n1", "n1", "n1"}, {true, true, true}, 2},
        {{"n1", "n2", "n2", "n2", "n2"}, {false, false, false, true, false}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(sched_destroy) sched *s = sched_create();
        size_t a = add(s, "a", 0);
        for (int k = 0; k < 5 && cases[i].nodes[k]; k++)
            assert_int_equal(lose(s, a, cases[i].nodes[k], cases[i].alone[k]), k == cases[i].ends);
        assert_int_equal(sched_get(s, a)->state == SCHED_FAILED, cases[i].ends >= 0);
    }
}

static void entrants_take_turns(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    char id[8];
    for (int i = 0; i < 6; i++) { /* all of entrant 0 first, then all of entrant 1 */
        snprintf(id, sizeof id, "t%d", i);
        add(s, id, i < 3 ? 0 : 1);
    }
    size_t last = SCHED_NONE;
    for (int i = 0; i < 6; i++) {
        size_t task = sched_pick(s, NULL, NULL);
        size_t entrant = sched_get(s, task)->entrant;
        if (i % 2)
            assert_int_not_equal(entrant, last);
        last = entrant;
    }
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
}

static void the_entrant_with_less_in_flight_is_next(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a0 = add(s, "a0", 0), a1 = add(s, "a1", 0), b0 = add(s, "b0", 1), b1 = add(s, "b1", 1);
    assert_int_equal(sched_pick(s, NULL, NULL), a0);
    assert_int_equal(sched_pick(s, NULL, NULL), b0);
    sched_finish(s, b0, OUTCOME_WRONG);
    assert_int_equal(sched_pick(s, NULL, NULL), b1);
    assert_int_equal(sched_pick(s, NULL, NULL), a1);
}

static void a_returned_task_goes_again_before_new_work(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    add(s, "b", 0);
    assert_int_equal(sched_pick(s, NULL, NULL), a);
    assert_false(sched_return(s, a, true, false));
    assert_int_equal(sched_get(s, a)->state, SCHED_WAITING);
    assert_int_equal(sched_pick(s, NULL, NULL), a);
}

static void three_failed_leases_end_a_task(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    for (int i = 1; i <= SCHED_LEASES_MAX; i++) {
        assert_int_equal(sched_pick(s, NULL, NULL), a);
        assert_int_equal(sched_return(s, a, true, false), i == SCHED_LEASES_MAX);
    }
    assert_int_equal(sched_get(s, a)->state, SCHED_FAILED);
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
    assert_true(sched_idle(s));
}

static void a_return_that_is_nobodys_fault_does_not_count(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(sched_pick(s, NULL, NULL), a);
        assert_false(sched_return(s, a, false, false));
    }
    assert_int_equal(sched_pick(s, NULL, NULL), a);
    assert_true(sched_return(s, a, true, true));
}

static void counts_add_up_at_every_step(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    char id[8];
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(s, id, 0);
    }
    static const outcome ends[] = {OUTCOME_OK, OUTCOME_WRONG, OUTCOME_NOT_RUN, OUTCOME_HUNG,
                                   OUTCOME_OK};
    for (size_t i = 0; i < 5; i++) {
        size_t task = sched_pick(s, NULL, NULL);
        sched_enter_stage(s, task, "interview");
        sched_enter_stage(s, task, "codegen");
        sched_counts mid = sched_count(s, SCHED_SYNTHESIZE);
        assert_int_equal(mid.in_stage[1], 0);
        assert_int_equal(mid.in_stage[2], 1);
        assert_int_equal(mid.state[SCHED_WAITING] + mid.state[SCHED_LEASED] +
                             mid.state[SCHED_DONE] + mid.state[SCHED_FAILED],
                         mid.planned);
        sched_finish(s, task, ends[i]);
    }
    sched_counts end = sched_count(s, SCHED_SYNTHESIZE);
    assert_int_equal(end.planned, 5);
    assert_int_equal(end.state[SCHED_DONE], 5);
    assert_int_equal(end.scored, 4);
    assert_int_equal(end.correct, 2);
    assert_int_equal(end.not_run, 1);
    assert_int_equal(end.in_stage[2], 0);
}

static void tasks_that_are_done_already_are_counted_but_not_picked(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    sched_add_done(s, &(sched_new){.id = "c", .kind = SCHED_CONTRACT, .problem = "p"}, OUTCOME_OK);
    sched_add_done(s, &(sched_new){.id = "b", .kind = SCHED_SYNTHESIZE, .problem = "p"},
                   OUTCOME_WRONG);
    size_t d = add(s, "d", 0);
    assert_true(sched_released(s));
    assert_int_equal(sched_count(s, SCHED_SYNTHESIZE).planned, 3);
    assert_int_equal(sched_count(s, SCHED_SYNTHESIZE).scored, 1);
    assert_int_equal(sched_pick(s, NULL, NULL), a);
    assert_int_equal(sched_pick(s, NULL, NULL), d);
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
}

static void a_finished_stage_replaces_its_answers(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    hash one = hash_of_text("1"), two = hash_of_text("2"), three = hash_of_text("3");
    sched_add_call(s, a, "interview", 0, &one);
    sched_add_call(s, a, "interview", 0, &one);
    sched_add_call(s, a, "interview", 1, &two);
    assert_int_equal(sched_get(s, a)->call_count, 2);
    sched_add_stage(s, a, "interview", &three);
    sched_add_stage(s, a, "interview", &three);
    sched_add_call(s, a, "interview", 1, &two); /* late */
    sched_add_call(s, a, "codegen", 0, &two);
    const sched_task *task = sched_get(s, a);
    assert_int_equal(task->stage_count, 1);
    assert_true(hash_equal(&task->stages[0].record, &three));
    assert_int_equal(task->call_count, 1);
    assert_string_equal(task->calls[0].stage, "codegen");
}

static void ids_are_found_among_many(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    char id[16];
    for (int i = 0; i < 5000; i++) {
        snprintf(id, sizeof id, "task%d", i);
        add(s, id, (size_t)i % 3);
    }
    for (int i = 0; i < 5000; i += 7) {
        snprintf(id, sizeof id, "task%d", i);
        assert_int_equal(sched_find(s, id), i);
    }
    assert_int_equal(sched_find(s, "nobody"), SCHED_NONE);
}

static void nothing_is_picked_after_stop(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t a = add(s, "a", 0);
    add(s, "b", 0);
    assert_int_equal(sched_pick(s, NULL, NULL), a);
    sched_stop(s);
    assert_int_equal(sched_pick(s, NULL, NULL), SCHED_NONE);
    assert_false(sched_idle(s));
    sched_return(s, a, false, false);
    assert_true(sched_idle(s));
}

static bool only_that(void *arg, size_t number)
{
    return number == *(const size_t *)arg;
}

static size_t add_about(sched *self, const char *id, const char *problem, size_t entrant)
{
    return sched_add(self,
                     &(sched_new){.id = id,
                                  .kind = entrant == SCHED_NONE ? SCHED_CONTRACT : SCHED_SYNTHESIZE,
                                  .problem = problem,
                                  .entrant = entrant});
}

static void who_cannot_go_out_is_stepped_over(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t nothing = 0, big = 1;
    sched_need(s, "small", &(need_set){0});
    sched_need(s, "big", &(need_set){.memory = 1000});
    sched_need(s, "as_big", &(need_set){.memory = 1000});
    assert_int_equal(sched_needs(s), 2);
    assert_int_equal(sched_need_at(s, big)->memory, 1000);
    size_t a = add_about(s, "a", "big", 0), b = add_about(s, "b", "as_big", 0);
    size_t c = add_about(s, "c", "small", 0), d = add_about(s, "d", "small", 1);
    assert_int_equal(sched_waiting(s, big), 2);
    assert_int_equal(sched_pick(s, only_that, &nothing), c);
    assert_int_equal(sched_pick(s, only_that, &nothing), d);
    assert_int_equal(sched_pick(s, only_that, &nothing), SCHED_NONE);
    assert_int_equal(sched_pick(s, only_that, &big), a);
    sched_return(s, c, false, false);
    assert_int_equal(sched_pick(s, NULL, NULL), b); /* added before c */
    assert_int_equal(sched_pick(s, NULL, NULL), c);
    assert_int_equal(sched_waiting(s, big), 0);
}

static void a_contract_that_no_node_could_check_holds_nobody_back(void **state)
{
    (void)state;
    SCOPED(sched_destroy) sched *s = sched_create();
    size_t nothing = 0, big = 1;
    sched_need(s, "big", &(need_set){.memory = 1000});
    size_t a = add_about(s, "a", "small", SCHED_NONE), b = add_about(s, "b", "big", SCHED_NONE);
    size_t c = add_about(s, "c", "small", 0);
    sched_set_reach(s, big, false);
    assert_int_equal(sched_pick(s, only_that, &nothing), a);
    assert_int_equal(sched_pick(s, only_that, &nothing), SCHED_NONE);
    assert_false(sched_released(s));
    sched_finish(s, a, OUTCOME_OK);
    assert_true(sched_released(s));
    assert_int_equal(sched_pick(s, only_that, &nothing), c);
    sched_return(s, c, false, false);
    sched_set_reach(s, big, true); /* a node that has it joined: its contract goes first */
    assert_false(sched_released(s));
    assert_int_equal(sched_pick(s, only_that, &nothing), SCHED_NONE);
    assert_int_equal(sched_pick(s, NULL, NULL), b);
    sched_finish(s, b, OUTCOME_OK);
    assert_int_equal(sched_pick(s, NULL, NULL), c);
    sched_finish(s, c, OUTCOME_OK);
    assert_true(sched_idle(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract_tasks_go_first_and_hold_the_rest_back),
        cmocka_unit_test(a_parked_task_waits_for_its_claim_or_the_end_of_parking),
        cmocka_unit_test(a_task_is_claimed_wherever_it_stands),
        cmocka_unit_test(who_lost_nodes_twice_runs_alone),
        cmocka_unit_test(who_takes_two_nodes_along_alone_is_poison),
        cmocka_unit_test(entrants_take_turns),
        cmocka_unit_test(the_entrant_with_less_in_flight_is_next),
        cmocka_unit_test(a_returned_task_goes_again_before_new_work),
        cmocka_unit_test(three_failed_leases_end_a_task),
        cmocka_unit_test(a_return_that_is_nobodys_fault_does_not_count),
        cmocka_unit_test(counts_add_up_at_every_step),
        cmocka_unit_test(tasks_that_are_done_already_are_counted_but_not_picked),
        cmocka_unit_test(a_finished_stage_replaces_its_answers),
        cmocka_unit_test(ids_are_found_among_many),
        cmocka_unit_test(nothing_is_picked_after_stop),
        cmocka_unit_test(who_cannot_go_out_is_stepped_over),
        cmocka_unit_test(a_contract_that_no_node_could_check_holds_nobody_back),
    };
    return cmocka_run_group_tests_name("coordinator/sched", tests, NULL, NULL);
}
