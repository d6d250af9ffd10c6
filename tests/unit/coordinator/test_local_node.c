/* test_local_node - a child that dies is told about and started again
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "coordinator/local_node.h"

typedef struct scene {
    loop *events;
    char script[64]; /* stands for ce-node */
    int exits;
    bool given_up;
    char how[240];
} scene;

static void make_script(scene *s, const char *body)
{
    char text[256];
    snprintf(s->script, sizeof s->script, "/tmp/ce-local-XXXXXX");
    int fd = mkstemp(s->script);
    assert_true(fd >= 0);
    int size = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    assert_int_equal(write(fd, text, (size_t)size), size);
    fchmod(fd, 0700);
    close(fd);
}

static void on_exit_told(void *arg, const char *how, bool given_up)
{
    scene *s = arg;
    s->exits++;
    s->given_up = given_up;
    snprintf(s->how, sizeof s->how, "%s", how);
    if (given_up)
        loop_stop(s->events);
}

static void run_script(scene *s, const char *body)
{
    make_script(s, body);
    s->events = loop_create();
    const local_node_options options = {.binary = s->script,
                                        .endpoint = "ipc:///tmp/none",
                                        .device = "fake",
                                        .slots = 3,
                                        .exited = on_exit_told,
                                        .arg = s};
    local_node *child = local_node_start(&options, s->events, NULL);
    assert_non_null(child);
    assert_int_equal(loop_run(s->events, NULL), 0);
    local_node_stop(&child, 0);
    loop_destroy(&s->events);
    unlink(s->script);
}

static void a_child_that_keeps_dying_is_given_up_after_some_restarts(void **state)
{
    (void)state;
    scene s = {.exits = 0};
    run_script(&s, "kill -SEGV $$");
    assert_int_equal(s.exits, LOCAL_NODE_RESTARTS + 1);
    assert_true(s.given_up);
    assert_non_null(strstr(s.how, "SIGSEGV"));
}

static void a_child_that_refuses_its_options_is_not_started_again(void **state)
{
    (void)state;
    scene s = {.exits = 0};
    run_script(&s, "exit 2");
    assert_int_equal(s.exits, 1);
    assert_non_null(strstr(s.how, "exited with 2"));
}

static void its_options_reach_it(void **state)
{
    (void)state;
    scene s = {.exits = 0};
    run_script(&s,
               "test \"$*\" = '--coordinator ipc:///tmp/none --local --name local --device fake "
               "--slots 3' && exit 2; exit 3");
    assert_int_equal(s.exits, 1);
}

static void a_missing_program_is_said_at_once(void **state)
{
    (void)state;
    scene s = {.events = loop_create()};
    const local_node_options options = {.binary = "/nowhere/ce-node",
                                        .endpoint = "ipc:///tmp/none",
                                        .device = "fake",
                                        .exited = on_exit_told,
                                        .arg = &s};
    err e = {0};
    assert_null(local_node_start(&options, s.events, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "/nowhere/ce-node"));
    loop_destroy(&s.events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_keeps_dying_is_given_up_after_some_restarts),
        cmocka_unit_test(a_child_that_refuses_its_options_is_not_started_again),
        cmocka_unit_test(its_options_reach_it),
        cmocka_unit_test(a_missing_program_is_said_at_once),
    };
    return cmocka_run_group_tests_name("coordinator/local_node", tests, NULL, NULL);
}
