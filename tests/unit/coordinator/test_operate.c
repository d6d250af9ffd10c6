/* test_operate - operators at a coordinator of one run
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
#include "coordinator/remote.h"
#include "world.h"

static int drain(remote *to, const char *name, int how, err *e)
{
    message m;
    message_init(&m, MSG_DRAIN);
    message_set_str(&m.body.drain.node, name);
    m.body.drain.how = how;
    return remote_tell(to, &m, e);
}

static void look(remote *to, message *reply)
{
    message m;
    message_init(&m, MSG_FLEET_GET);
    MUST(remote_ask(to, &m, MSG_FLEET, reply, NULL) == 0);
}

static void drained(client *box, world *w)
{
    message m;
    err e = {0};
    SCOPED(remote_destroy) remote *to = remote_open(w->coord->endpoint, NULL, NULL);
    SCOPED(client_destroy) client *other = client_create(w->coord->endpoint);
    MUST(to != NULL);
    client_join(other, "other", 2);
    MUST(drain(to, "nobody", 0, &e) == -1 && e.code == ERR_NOT_FOUND);
    MUST(drain(to, "other", 1, NULL) == 0);
    client_expect(other, MSG_DRAIN, &m);
    MUST(m.body.drain.how == 1);
    message_fini(&m);
    client_pull(other, 2);
    look(to, &m);
    MUST(m.body.fleet.nodes_count == 1 && m.body.fleet.runs_count == 0);
    MUST(strcmp(m.body.fleet.nodes[0].state, "draining") == 0);
    MUST(strcmp(m.body.fleet.nodes[0].devices, "fake") == 0);
    MUST(m.body.fleet.nodes[0].held == 0); /* it pulled, and got nothing */
    message_fini(&m);
    world_serve(box, w);
}

static void a_drained_node_is_told_and_gets_nothing_more(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "silu_fp16"});
    assert_int_equal(world_play(w, drained), COORD_FINISHED);
    assert_int_equal(world_count(w, "lease WHERE node = 'other'"), 0);
}

static void leave_task(client *box, world *w)
{
    message given, m;
    client_join(box, "box", 1);
    for (int i = 0; i < 5; i++) { /* more often than failures are allowed */
        client_pull(box, 1);
        client_expect(box, MSG_LEASE, &given);
        message_init(&m, MSG_GIVE_BACK);
        message_set_str(&m.body.give_back.task, given.body.lease.task);
        m.body.give_back.token = given.body.lease.token;
        m.body.give_back.code = ERR_UNAVAILABLE;
        m.body.give_back.leaving = true;
        message_set_str(&m.body.give_back.text, "the node is being drained");
        MUST(client_ack(box, client_send(box, &m)) == 0);
        message_fini(&given);
    }
    client_pull(box, 1);
    client_serve(box);
    (void)w;
}

static void a_task_that_comes_back_from_a_drained_node_has_not_failed(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "silu_fp16"});
    assert_int_equal(world_play(w, leave_task), COORD_FINISHED);
    assert_int_equal(world_count(w, "task WHERE state = 'done'"), 2);
    assert_int_equal(world_count(w, "lease WHERE ending = 'returned'"), 5);
}

static void submit(client *box, world *w)
{
    message m, reply;
    err e = {0};
    SCOPED(remote_destroy) remote *to = remote_open(w->coord->endpoint, NULL, NULL);
    message_init(&m, MSG_SUBMIT);
    MUST(remote_ask(to, &m, MSG_SUBMITTED, &reply, &e) == -1 && e.code == ERR_USAGE);
    MUST(strstr(e.text, "ce-coord serve") != NULL);
    world_serve(box, w);
}

static void a_coordinator_of_one_run_takes_no_other(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "silu_fp16"});
    assert_int_equal(world_play(w, submit), COORD_FINISHED);
}

static void look_with_key(client *box, world *w)
{
    message m, reply;
    err e = {0};
    char path[128];
    world_key(w, "node");
    snprintf(path, sizeof path, "%s/node.key", w->folder);
    SCOPED(remote_destroy) remote *to = remote_open(w->coord->joined, path, NULL);
    MUST(to != NULL);
    message_init(&m, MSG_FLEET_GET);
    MUST(remote_ask(to, &m, MSG_FLEET, &reply, &e) == -1 && e.code == ERR_DENIED);
    MUST(strstr(e.text, "--operator") != NULL);
    world_serve(box, w);
}

static void a_nodes_key_is_no_operators(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "silu_fp16", .secure = true});
    assert_int_equal(world_play(w, look_with_key), COORD_FINISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drained_node_is_told_and_gets_nothing_more),
        cmocka_unit_test(a_task_that_comes_back_from_a_drained_node_has_not_failed),
        cmocka_unit_test(a_coordinator_of_one_run_takes_no_other),
        cmocka_unit_test(a_nodes_key_is_no_operators),
    };
    return cmocka_run_group_tests_name("operate", tests, NULL, NULL);
}
