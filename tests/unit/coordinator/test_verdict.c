/* test_verdict - what a run's counts mean, and what people are told
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
#include "coordinator/verdict.h"
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
            sched_return(self, sched_pick(self, NULL, NULL), true, true);
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
        assert_int_equal(verdict_of(tasks, &code), rows[i].state);
        assert_int_equal(code, rows[i].code);
    }
}

static void give_up_and_skip(client *box, world *w)
{
    (void)w;
    client_join(box, "box", 1);
    for (int i = 0; i < 2 + SCHED_LEASES_MAX + 3;
         i++) { /* contracts, one that fails, three not run */
        message given;
        client_pull(box, 1);
        client_expect(box, MSG_LEASE, &given);
        if (strcmp(given.body.lease.kind, "contract") == 0)
            MUST(client_result(box, &given, "ok", "") == 0);
        else if (i < 2 + SCHED_LEASES_MAX)
            MUST(client_give_back(box, &given, ERR_GPU, "the driver fell over") == 0);
        else
            MUST(client_result(box, &given, "not_run", "no GPU here: get one") == 0);
        message_fini(&given);
    }
}

static void each_distinct_reason_is_told_once_with_its_count(void **state)
{
    (void)state;
    char text[1024];
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32,silu_fp16", .samples = 2});
    assert_int_equal(world_play(w, give_up_and_skip), COORD_FINISHED);
    SCOPED(scoped_fclose) FILE *sink = tmpfile();
    assert_int_equal(verdict_explain(w->store, w->run->id, sink, NULL), 0);
    rewind(sink);
    text[fread(text, 1, sizeof text - 1, sink)] = '\0';
    assert_non_null(strstr(text, "the harness failed: the driver fell over\n"));
    assert_non_null(strstr(text, " and 2 more: not scored: no GPU here: get one\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_complete_only_when_all_that_was_planned_is_scored),
        cmocka_unit_test(each_distinct_reason_is_told_once_with_its_count),
    };
    return cmocka_run_group_tests_name("coordinator/verdict", tests, NULL, NULL);
}
