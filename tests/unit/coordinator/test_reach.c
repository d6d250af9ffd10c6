/* test_reach - tasks that no connected node could run
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/reach.h"
#include "world.h"

enum { NOTHING, BIG }; /* numbers of needs */

static void join(coord *c, const char *name, int64_t gib)
{
    static uint8_t next = 1;
    char text[64], instance[] = "i", kind[] = "fake", arch[] = "sm_90a", none[] = "";
    memccpy(text, name, 0, sizeof text);
    struct row_device lane = {.kind = kind,
                              .name = none,
                              .uuid = none,
                              .arch = arch,
                              .memory_bytes = gib << 30,
                              .reason = none};
    struct msg_hello hello = {.protocol = MESSAGE_PROTOCOL,
                              .node = text,
                              .instance = instance,
                              .slots = 1,
                              .software = none,
                              .devices = &lane,
                              .devices_count = 1};
    const peer_id peer = {.bytes = {next++}, .size = 1};
    size_t number;
    assert_int_equal(nodes_join(c->nodes, &peer, &hello, 0, &number, NULL), 0);
}

static world *with_a_big_task(void)
{
    world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    sched_need(w->run->tasks, "big", &(need_set){.memory = INT64_C(100) << 30});
    sched_add(w->run->tasks,
              &(sched_new){.id = "b", .kind = SCHED_SYNTHESIZE, .problem = "big", .entrant = 0});
    return w;
}

static void where_nodes_can_join_it_waits_and_says_why(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = with_a_big_task();
    SCOPED(buf_fini) buf why;
    coord *c = w->coord;
    c->options.bind = "tcp://127.0.0.1:*";
    buf_init(&why, REACH_TEXT);
    reach_refresh(c);
    assert_true(
        sched_is_reached(w->run->tasks, BIG)); /* nobody is there yet: that is another wait */
    join(c, "small", 80);
    reach_refresh(c);
    assert_true(sched_is_reached(w->run->tasks, NOTHING));
    assert_false(sched_is_reached(w->run->tasks, BIG));
    assert_false(reach_why(c, NOTHING, &why));
    assert_true(reach_why(c, BIG, &why));
    assert_string_equal(
        buf_text(&why),
        "1 task waits: needs 100.0 GiB of device memory; the largest device has 80.0 GiB");
    nodes_want want = reach_want(c, BIG);
    assert_true(want.strict && want.needs.memory == INT64_C(100) << 30);
    assert_int_equal(nodes_find(c->nodes, &want), NODES_NONE);
    join(c, "large", 141);
    reach_refresh(c);
    assert_true(sched_is_reached(w->run->tasks, BIG));
    assert_false(reach_why(c, BIG, &why));
}

static void where_none_can_it_goes_to_whom_there_is(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = with_a_big_task();
    SCOPED(buf_fini) buf why;
    buf_init(&why, REACH_TEXT);
    w->coord->options.bind = NULL;
    w->coord->options.endpoint = NULL;
    join(w->coord, "small", 80);
    reach_refresh(w->coord);
    assert_false(sched_is_reached(w->run->tasks, BIG));
    assert_false(reach_why(w->coord, BIG, &why));
    nodes_want want = reach_want(w->coord, BIG);
    assert_false(want.strict);
    assert_true(need_is_none(&want.needs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_nodes_can_join_it_waits_and_says_why),
        cmocka_unit_test(where_none_can_it_goes_to_whom_there_is),
    };
    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
