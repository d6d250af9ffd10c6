/* test_eval - what is refused before anything is begun (the rest: tests/service)
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/eval.h"
#include "world.h"

static void what_cannot_start_leaves_no_database(void **state)
{
    (void)state;
    static const struct {
        const char *only, *entrants, *text;
    } rows[] = {
        {"nosuch", "gold", "nosuch"},
        {"silu_fp16,nosuch", "gold", "nosuch"},
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
        cmocka_unit_test(what_cannot_start_leaves_no_database),
    };
    return cmocka_run_group_tests_name("coordinator/eval", tests, NULL, NULL);
}
