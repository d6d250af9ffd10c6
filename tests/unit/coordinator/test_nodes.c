/* test_nodes - registration, beats, loss and credit without a clock
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/nodes.h"

enum { LOST = 15000 };

static peer_id peer_of(uint8_t byte)
{
    return (peer_id){.bytes = {byte}, .size = 1};
}

/* Joins a node with one lane; kind NULL: no lane. */
static size_t join(nodes *self, const char *name, const char *kind, const char *reason)
{
    static uint8_t next = 1;
    char node_name[64], instance[] = "i1", text[16] = "", why[64] = "", none[] = "";
    strncpy(node_name, name, sizeof node_name - 1);
    node_name[sizeof node_name - 1] = '\0';
    if (kind)
        memccpy(text, kind, 0, sizeof text);
    memccpy(why, reason, 0, sizeof why);
    struct row_device lane = {
        .kind = text, .name = none, .uuid = none, .arch = none, .reason = why};
    struct msg_hello hello = {.protocol = MESSAGE_PROTOCOL,
                              .node = node_name,
                              .instance = instance,
                              .slots = 4,
                              .software = none,
                              .devices = &lane,
                              .devices_count = kind ? 1 : 0};
    peer_id peer = peer_of(next++);
    size_t number = NODES_NONE;
    assert_int_equal(nodes_join(self, &peer, &hello, 0, &number, NULL), 0);
    nodes_set_credit(self, number, 4);
    return number;
}

static size_t taken(nodes *self, size_t number, bool alone)
{
    if (number != NODES_NONE)
        nodes_take(self, number, alone);
    return number;
}

static size_t take(nodes *self, const char *device)
{
    return taken(self, nodes_find(self, &(nodes_want){.device = device}), false);
}

static size_t take_empty(nodes *self, const char *device)
{
    return taken(self, nodes_find_empty(self, &(nodes_want){.device = device}), true);
}

static const peer_id nobody; /* a plain peer */

static size_t beat(nodes *self, const char *name, const char *instance, int64_t tick_age,
                   int64_t now, bool *alive)
{
    char node_name[64], node_instance[64];
    memccpy(node_name, name, 0, sizeof node_name);
    memccpy(node_instance, instance, 0, sizeof node_instance);
    struct msg_beat m = {.node = node_name, .instance = node_instance, .tick_age_ms = tick_age};
    const nodes_pulse pulse = {.from = &nobody, .beat = &m};
    return nodes_beat(self, &pulse, LOST, now, alive);
}

static void another_protocol_is_refused_and_both_versions_are_named(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    char name[] = "box", instance[] = "i";
    struct msg_hello hello = {.protocol = 77, .node = name, .instance = instance, .slots = 1};
    peer_id peer = peer_of(1);
    size_t number;
    err e = {0};
    assert_int_equal(nodes_join(n, &peer, &hello, 0, &number, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_non_null(strstr(e.text, "77"));
    SCOPED(scoped_free) char *ours = xasprintf("coordinator %d", MESSAGE_PROTOCOL);
    assert_non_null(strstr(e.text, ours));
    assert_int_equal(nodes_count(n), 0);
}

static void a_name_is_connected_once(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t first = join(n, "box", "fake", "");
    char name[] = "box", instance[] = "other";
    struct msg_hello hello = {
        .protocol = MESSAGE_PROTOCOL, .node = name, .instance = instance, .slots = 1};
    peer_id peer = peer_of(99);
    size_t number;
    err e = {0};
    assert_int_equal(nodes_join(n, &peer, &hello, 0, &number, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    nodes_leave(n, first);
    assert_int_equal(nodes_join(n, &peer, &hello, 0, &number, &e), 0);
    assert_int_equal(nodes_of_peer(n, &peer), number);
    assert_int_equal(nodes_count(n), 1);
}

static void a_silent_node_is_lost_after_the_given_time(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t box = join(n, "box", "fake", "");
    bool alive;
    assert_int_equal(nodes_lost(n, LOST, LOST - 1), NODES_NONE);
    assert_int_equal(beat(n, "box", "i1", 5, 10000, &alive), box);
    assert_true(alive);
    assert_int_equal(nodes_lost(n, LOST, 10000 + LOST - 1), NODES_NONE);
    assert_int_equal(nodes_lost(n, LOST, 10000 + LOST), box);
}

static void a_wedged_loop_beats_in_vain(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t box = join(n, "box", "fake", "");
    bool alive;
    assert_int_equal(beat(n, "box", "i1", LOST, 14000, &alive), box);
    assert_false(alive);
    assert_int_equal(nodes_lost(n, LOST, LOST), box);
}

static void a_beat_of_another_instance_must_register_again(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    bool alive;
    join(n, "box", "fake", "");
    assert_int_equal(beat(n, "box", "i2", 0, 1, &alive), NODES_NONE);
    assert_int_equal(beat(n, "nobody", "i1", 0, 1, &alive), NODES_NONE);
}

static void a_coordinator_that_slept_blames_nobody(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    join(n, "box", "fake", "");
    nodes_forgive(n, 100000);
    assert_int_equal(nodes_lost(n, LOST, 100000), NODES_NONE);
}

static void a_node_whose_tasks_fail_is_quarantined_while_another_can_do_them(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t bad = join(n, "bad", "fake", "");
    for (size_t task = 0; task < 9; task++)
        assert_false(nodes_blame(n, bad, task, "fake", 10)); /* it is the only one */
    nodes_praise(n, bad);
    size_t good = join(n, "good", "fake", "");
    assert_false(nodes_blame(n, bad, 1, "fake", 10));
    assert_false(nodes_blame(n, bad, 1, "fake", 11)); /* the task may be at fault */
    assert_false(nodes_blame(n, bad, 2, "fake", 12));
    assert_false(nodes_blame(n, bad, 3, "fake", 11 + NODES_BLAME_MS)); /* long after the first */
    assert_true(nodes_blame(n, bad, 4, "fake", 12 + NODES_BLAME_MS));
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(n, "fake"), good);
    assert_int_equal(take(n, "fake"), NODES_NONE);
    nodes_tick(n, 13 + 2 * NODES_BLAME_MS);
    assert_false(nodes_quarantined(nodes_get(n, bad)));
    assert_int_equal(take(n, "fake"), bad); /* on probation: one at a time */
    assert_int_equal(take(n, "fake"), NODES_NONE);
    nodes_praise(n, bad);
    assert_int_equal(take(n, "fake"), bad);
}

static void an_empty_node_is_taken_alone(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t a = join(n, "a", "fake", "");
    assert_int_equal(take_empty(n, "cuda"), NODES_NONE);
    assert_int_equal(take_empty(n, "fake"), a);
    assert_int_equal(take(n, "fake"), NODES_NONE);
    nodes_release(n, a);
    assert_int_equal(take(n, "fake"), a);
    assert_int_equal(take_empty(n, "fake"), NODES_NONE);
}

/* A node with one card whose newest self-test said `failure`. */
static void set_card(nodes *self, size_t number, const char *failure)
{
    struct row_card *card = xcalloc(1, sizeof *card);
    card->uuid = xstrdup("GPU-1");
    card->failure = xstrdup(failure);
    nodes_set_cards(self, number, card, 1);
}

static void a_self_test_is_due_hourly_and_sooner_when_in_doubt(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t plain = join(n, "plain", "fake", ""), a = join(n, "a", "fake", "");
    (void)plain; /* it has no card: nothing to test */
    set_card(n, a, "");
    assert_int_equal(nodes_untested(n, true, NODES_CANARY_MS - 1), NODES_NONE);
    assert_int_equal(nodes_untested(n, true, NODES_CANARY_MS), a);
    assert_int_equal(nodes_untested(n, true, NODES_CANARY_MS + 1), NODES_NONE); /* it is asked */
    nodes_doubt(n, a);
    assert_int_equal(nodes_untested(n, true, NODES_CANARY_MS + NODES_DOUBT_MS - 1), NODES_NONE);
    assert_int_equal(nodes_untested(n, true, NODES_CANARY_MS + NODES_DOUBT_MS), a);
    nodes_await_tests(n, a, 1);
    assert_int_equal(nodes_untested(n, true, 10 * NODES_CANARY_MS), NODES_NONE); /* still at it */
}

static void a_failing_card_gets_tasks_only_where_nobody_else_can(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t bad = join(n, "bad", "fake", "");
    set_card(n, bad, "copy: 7 % off");
    assert_true(nodes_is_failing(nodes_get(n, bad)));
    assert_int_equal(take(n, "fake"), bad); /* it says what is wrong with it */
    size_t good = join(n, "good", "fake", "");
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(n, "fake"), good);
    assert_int_equal(take(n, "fake"), NODES_NONE); /* waits for the good one */
    assert_int_equal(nodes_untested(n, false, NODES_DOUBT_MS), bad);
    struct row_card mended = {.uuid = xstrdup("GPU-1"), .failure = xstrdup("")};
    nodes_update_card(n, &mended);
    free(mended.uuid);
    free(mended.failure);
    assert_int_equal(take(n, "fake"), bad);
}

static void a_drained_node_takes_nothing(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t a = join(n, "a", "fake", "");
    nodes_drain(n, a);
    assert_int_equal(take(n, "fake"), NODES_NONE);
    assert_int_equal(take_empty(n, "fake"), NODES_NONE);
}

static void the_roomiest_node_takes_the_task(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t a = join(n, "a", "fake", ""), b = join(n, "b", "fake", "");
    size_t taken[2] = {0, 0};
    for (int i = 0; i < 8; i++) {
        size_t got = take(n, "fake");
        assert_true(got == a || got == b);
        taken[got == b]++;
    }
    assert_int_equal(taken[0], 4);
    assert_int_equal(taken[1], 4);
    assert_int_equal(take(n, "fake"), NODES_NONE);
}

static void a_pull_that_crossed_a_lease_does_not_count_twice(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    size_t a = join(n, "a", "fake", "");
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(n, "fake"), a);
    nodes_set_credit(n, a, 4);
    assert_int_equal(take(n, "fake"), NODES_NONE);
    nodes_release(n, a);
    assert_int_equal(take(n, "fake"), a);
    assert_int_equal(take(n, "fake"), NODES_NONE);
}

static void lanes_that_can_run_the_device_come_first(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        const char *lanes[3]; /* kind of node 0, 1, 2; "!" in front: the lane cannot run */
        const char *want;     /* nodes that may take a task, as digits */
    } rows[] = {
        {"cuda", {"cuda", "!cuda", "fake"}, "0"}, {"cuda", {"!cuda", "!cuda", "!cuda"}, "012"},
        {"auto", {"emu", "cuda", "!cuda"}, "1"},  {"auto", {"emu", "!cuda", "!cuda"}, "0"},
        {"fake", {"cuda", "fake", "fake"}, "12"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(nodes_destroy) nodes *n = nodes_create();
        static const char *const names[] = {"0", "1", "2"};
        for (size_t k = 0; k < 3; k++) {
            bool broken = rows[i].lanes[k][0] == '!';
            join(n, names[k], rows[i].lanes[k] + broken, broken ? "no driver" : "");
        }
        bool may[3] = {false, false, false};
        size_t got;
        while ((got = take(n, rows[i].device)) != NODES_NONE)
            may[got] = true;
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(may[k], strchr(rows[i].want, (int)('0' + k)) != NULL);
    }
}

/* Joins a node with one lane that tells its memory and target. */
static size_t join_sized(nodes *self, const char *name, const char *kind, int64_t gib,
                         const char *arch)
{
    static uint8_t next = 101;
    char node_name[64], instance[] = "i1", text[16], target[16], none[] = "";
    memccpy(node_name, name, 0, sizeof node_name);
    memccpy(text, kind, 0, sizeof text);
    memccpy(target, arch, 0, sizeof target);
    struct row_device lane = {.kind = text,
                              .name = none,
                              .uuid = none,
                              .arch = target,
                              .memory_bytes = gib << 30,
                              .reason = none};
    struct msg_hello hello = {.protocol = MESSAGE_PROTOCOL,
                              .node = node_name,
                              .instance = instance,
                              .slots = 1,
                              .software = none,
                              .devices = &lane,
                              .devices_count = 1};
    peer_id peer = peer_of(next++);
    size_t number = NODES_NONE;
    assert_int_equal(nodes_join(self, &peer, &hello, 0, &number, NULL), 0);
    nodes_set_credit(self, number, 1);
    return number;
}

static void a_task_goes_only_where_its_needs_are_met(void **state)
{
    (void)state;
    SCOPED(nodes_destroy) nodes *n = nodes_create();
    const int64_t gib = INT64_C(1) << 30;
    size_t small = join_sized(n, "small", "cuda", 40, "sm_80");
    size_t large = join_sized(n, "large", "cuda", 80, "sm_90a");
    const struct {
        nodes_want want;
        size_t found;
        bool fits;
    } rows[] = {
        {{.device = "cuda", .needs = {.memory = 60 * gib}}, large, true},
        {{.device = "cuda", .needs = {.capability = 90}}, large, true},
        {{.device = "cuda", .needs = {.memory = 81 * gib}, .strict = true}, NODES_NONE, false},
        {{.device = "cuda", .needs = {.memory = 81 * gib}},
         small,
         false}, /* it says that it cannot */
        {{.device = "fake", .strict = true}, NODES_NONE, false},
        {{.device = "auto", .needs = {.memory = 40 * gib}, .strict = true}, small, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(nodes_find(n, &rows[i].want), rows[i].found);
        assert_int_equal(nodes_fit(n, &rows[i].want), rows[i].fits);
    }
    nodes_take(n, large, false);
    const nodes_want big = {.device = "cuda", .needs = {.memory = 60 * gib}};
    assert_int_equal(nodes_find(n, &big), NODES_NONE); /* it waits for the large one */
    assert_true(nodes_fit(n, &big));
    need_device lanes[2];
    assert_int_equal(nodes_lanes(n, lanes, 2), 2);
    assert_int_equal(lanes[1].capability, 90);
    uint64_t before = nodes_changes(n);
    nodes_drain(n, large);
    assert_true(nodes_changes(n) > before);
    assert_false(nodes_fit(n, &big));
    assert_int_equal(nodes_lanes(n, lanes, 2), 1);
    join_sized(n, "emulator", "emu", 1, "sm_80");
    const nodes_want any = {.device = "auto", .needs = {.memory = 60 * gib}, .strict = true};
    assert_true(nodes_fit(n, &any)); /* whose memory is the host's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_protocol_is_refused_and_both_versions_are_named),
        cmocka_unit_test(a_name_is_connected_once),
        cmocka_unit_test(a_silent_node_is_lost_after_the_given_time),
        cmocka_unit_test(a_wedged_loop_beats_in_vain),
        cmocka_unit_test(a_beat_of_another_instance_must_register_again),
        cmocka_unit_test(a_coordinator_that_slept_blames_nobody),
        cmocka_unit_test(a_node_whose_tasks_fail_is_quarantined_while_another_can_do_them),
        cmocka_unit_test(an_empty_node_is_taken_alone),
        cmocka_unit_test(a_self_test_is_due_hourly_and_sooner_when_in_doubt),
        cmocka_unit_test(a_failing_card_gets_tasks_only_where_nobody_else_can),
        cmocka_unit_test(a_drained_node_takes_nothing),
        cmocka_unit_test(the_roomiest_node_takes_the_task),
        cmocka_unit_test(a_pull_that_crossed_a_lease_does_not_count_twice),
        cmocka_unit_test(lanes_that_can_run_the_device_come_first),
        cmocka_unit_test(a_task_goes_only_where_its_needs_are_met),
    };
    return cmocka_run_group_tests_name("coordinator/nodes", tests, NULL, NULL);
}
