/* test_eval - what a run's counts mean
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
#include "coordinator/cmd.h"
#include "coordinator/eval.h"
#include "world.h"

/* A letter a task: o ok, w wrong, n not run, u unsupported on emu, f failed, . waiting. */
static sched *make(const char *tasks)
{
    sched *self = sched_create();
    for (size_t i = 0; tasks[i]; i++) {
        char id[ID_TEXT];
        snprintf(id, sizeof id, "t%zu", i);
        const sched_new task = {.id = id, .kind = SCHED_SYNTHESIZE, .problem = "p"};
        static const char letters[] = "ownu";
        static const outcome outcomes[] = {OUTCOME_OK, OUTCOME_WRONG, OUTCOME_NOT_RUN,
                                           OUTCOME_UNSUPPORTED_ON_EMU};
        const char *known = strchr(letters, tasks[i]);
        if (known)
            sched_add_done(self, &task, outcomes[known - letters]);
        else
            sched_add(self, &task);
        if (tasks[i] == 'f')
            sched_return(self, sched_pick(self), true, true);
    }
    return self;
}

static void a_run_is_complete_only_when_all_that_was_planned_is_scored(void **state)
{
    (void)state;
    static const struct {
        const char *tasks;
        run_state state;
        int code;
    } rows[] = {
        {"oow", RUN_COMPLETE, CMD_EXIT_COMPLETE},     {"www", RUN_COMPLETE, CMD_EXIT_COMPLETE},
        {"oon", RUN_INCOMPLETE, CMD_EXIT_INCOMPLETE}, {"nnn", RUN_INCOMPLETE, CMD_EXIT_INCOMPLETE},
        {"oou", RUN_INCOMPLETE, CMD_EXIT_INCOMPLETE}, {"off", RUN_INCOMPLETE, CMD_EXIT_INCOMPLETE},
        {"fff", RUN_FAILED, CMD_EXIT_HARNESS},        {"...", RUN_FAILED, CMD_EXIT_HARNESS},
        {"o..", RUN_INCOMPLETE, CMD_EXIT_INCOMPLETE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(sched_destroy) sched *tasks = make(rows[i].tasks);
        int code = -1;
        assert_int_equal(eval_verdict(tasks, &code), rows[i].state);
        assert_int_equal(code, rows[i].code);
    }
}

static void what_cannot_start_leaves_no_database(void **state)
{
    (void)state;
    static const struct {
        const char *only, *entrants, *text;
    } rows[] = {
        {"nosuch", "gold", "nosuch"},
        {NULL, "gold,nobody:1", "nobody"},
        {NULL, "mock:/nowhere.json", "/nowhere.json"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(settings_fini) settings wanted;
        err e = {0};
        world_settings(&(world_options){.only = rows[i].only, .entrants = rows[i].entrants},
                       &wanted);
        const eval_request request = {.wanted = &wanted,
                                      .db = "/nowhere/ce.db",
                                      .program = "ce-coord",
                                      .command = "test",
                                      .version = "0"};
        assert_int_equal(eval_run(&request, &e), -1);
        assert_int_equal(cmd_exit_of(&e), CMD_EXIT_USAGE);
        assert_non_null(strstr(e.text, rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_complete_only_when_all_that_was_planned_is_scored),
        cmocka_unit_test(what_cannot_start_leaves_no_database),
    };
    return cmocka_run_group_tests_name("coordinator/eval", tests, NULL, NULL);
}
