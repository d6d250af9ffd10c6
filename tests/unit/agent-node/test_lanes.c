/* test_lanes - devices, one holder at a time
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/lanes.h"
#include "common/file.h"
#include "common/scoped.h"

enum { TURNS = 2000, CONTENDERS = 3 };

static const settings fake = {.device = "fake"};
static atomic_bool never;

static lanes *open_lanes(const settings *options)
{
    err e = {0};
    lanes *all = lanes_create(options, &e);
    if (all == NULL) {
        fail_msg("%s", e.text);
    }
    return all;
}

static void a_fake_device_is_found_with_its_facts(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    assert_int_equal(lanes_count(all), 1);
    const lane_facts *f = lanes_facts(all, 0);
    assert_ptr_equal(lanes_usable(all, NULL), f);
    assert_string_equal(f->kind, "fake");
    assert_string_equal(f->device, "fake");
    assert_string_equal(f->arch, "sm_90a");
    assert_string_equal(f->driver, "13.0");
    assert_string_equal(f->reason, "");
    assert_true(f->limits.sm_count > 0 && f->limits.threads_per_block_max == 1024);
    assert_true(f->limits.grid_max[0] > 65535 && f->l2_bytes > 0);
}

static void a_broken_script_is_told_at_the_start(void **state)
{
    (void)state;
    char path[] = "/tmp/ce-lanes-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    err e = {0};
    assert_int_equal(file_write(path, "{\"defualt\": {}}", 15, &e), 0);
    settings s = {.device = "fake", .fake = path};
    assert_null(lanes_create(&s, &e));
    unlink(path);
    if (strstr(e.text, "defualt") == NULL) {
        fail_msg("%s", e.text);
    }
}

/* ---- contention ---- */

typedef struct contest {
    lanes *all;
    int holders, most; /* plain: only who holds the lane touches them */
    int turns;
} contest;

static void *contend(void *arg)
{
    contest *c = arg;
    for (int i = 0; i < TURNS; i++) {
        lane *held = lanes_acquire(c->all, "sm_90a", NULL, &never, NULL);
        c->holders++;
        c->most = c->holders > c->most ? c->holders : c->most;
        c->turns++;
        c->holders--;
        lanes_release(c->all, &held);
    }
    return NULL;
}

static void a_lane_has_one_holder_at_a_time(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    pthread_t threads[CONTENDERS];
    contest c = {.all = all};
    for (int i = 0; i < CONTENDERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &c), 0);
    }
    for (int i = 0; i < CONTENDERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(c.most, 1);
    assert_int_equal(c.turns, CONTENDERS * TURNS); /* no turn was lost to another holder */
}

typedef struct waiter {
    lanes *all;
    atomic_bool cancelled;
    lane *got;
    err e;
} waiter;

static void *wait_for_lane(void *arg)
{
    waiter *w = arg;
    w->got = lanes_acquire(w->all, "sm_90a", NULL, &w->cancelled, &w->e);
    return NULL;
}

static void who_waits_can_be_cancelled(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    lane *held = lanes_acquire(all, "sm_90a", NULL, &never, NULL);
    waiter w = {.all = all};
    pthread_t thread;
    assert_non_null(held);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lane, &w), 0);
    atomic_store(&w.cancelled, true); /* the lane is never freed: only this ends the wait */
    pthread_join(thread, NULL);
    assert_null(w.got);
    assert_int_equal(w.e.code, ERR_CONFLICT);
    lanes_release(all, &held);
    assert_null(held);
    lanes_release(all, &held); /* nothing held: nothing to do */
}

static void a_cancelled_task_takes_no_free_lane(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    atomic_bool cancelled = true;
    err e = {0};
    assert_null(lanes_acquire(all, "sm_90a", NULL, &cancelled, &e));
    assert_int_equal(e.code, ERR_CONFLICT);
}

static void the_same_lane_can_be_had_again(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    err e = {0};
    lane *first = lanes_acquire(all, "sm_90a", NULL, &never, &e);
    const lane_facts *facts = lane_get_facts(first);
    lane *was = first;
    lanes_release(all, &first);
    lane *again = lanes_acquire_again(all, facts, &never, &e);
    assert_ptr_equal(again, was);
    lanes_release(all, &again);
    lane_facts stranger = *facts;
    assert_null(lanes_acquire_again(all, &stranger, &never, &e));
    assert_int_equal(e.code, ERR_INTERNAL);
}

static void code_for_another_card_waits_for_none(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    err e = {0};
    assert_null(lanes_acquire(all, "sm_80", NULL, &never, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "sm_80"));
}

static void what_no_lane_has_is_not_waited_for(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    const need_set met = {.memory = INT64_C(80) << 30, .capability = 90};
    const need_set unmet = {.memory = INT64_C(81) << 30};
    const need_device device = lanes_device(lanes_facts(all, 0));
    assert_true(need_met(&met, &device));
    assert_false(need_met(&unmet, &device));
    const need_set *rows[] = {&met, &unmet};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        assert_ptr_equal(lanes_usable(all, rows[i]), lanes_facts(all, 0));
        lane *held = lanes_acquire(all, "sm_90a", rows[i], &never, &e);
        assert_non_null(held);
        lanes_release(all, &held);
    }
}

static void a_lane_keeps_its_judge(void **state)
{
    (void)state;
    SCOPED(lanes_destroy) lanes *all = open_lanes(&fake);
    err e = {0};
    lane *held = lanes_acquire(all, "sm_90a", NULL, &never, &e);
    judge *j = lane_judge(held, &e);
    assert_non_null(j);
    assert_string_equal(judge_get_facts(j)->device, "fake");
    lanes_release(all, &held);
    held = lanes_acquire(all, "sm_90a", NULL, &never, &e);
    assert_ptr_equal(lane_judge(held, &e), j);
    lanes_release(all, &held);
}

static void without_a_gpu_the_lane_says_why(void **state)
{
    (void)state;
    const settings s = {.device = "cuda"};
    SCOPED(lanes_destroy) lanes *all = open_lanes(&s);
    err e = {0};
    if (lanes_usable(all, NULL) != NULL) {
        skip(); /* this host has one */
    }
    assert_int_equal(lanes_count(all), 1);
    const lane_facts *f = lanes_facts(all, 0);
    assert_string_equal(f->kind, "none");
    assert_string_equal(f->arch, "sm_90a");
    assert_non_null(strstr(f->reason, "--device emu"));
    assert_int_equal(f->limits.threads_per_block_max, 1024);
    assert_null(lanes_acquire(all, "sm_90a", NULL, &never, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_string_equal(e.text, f->reason);
    lane *host = lanes_acquire_host(all, NULL, &never, &e);
    assert_non_null(host);
    assert_string_equal(lane_get_facts(host)->device, "cpu");
    lanes_release(all, &host);
}

static void auto_is_the_emulator_where_there_is_no_gpu(void **state)
{
    (void)state;
    const settings s = {.device = "auto"};
    SCOPED(lanes_destroy) lanes *all = open_lanes(&s);
    const lane_facts *f = lanes_usable(all, NULL);
    err e = {0};
    assert_non_null(f);
    if (strcmp(f->kind, "cuda") == 0) {
        skip(); /* this host has a GPU */
    }
    assert_string_equal(f->kind, "emu");
    assert_string_equal(f->arch, "sm_80");
    assert_int_equal(f->limits.sm_count, 16);
    lane *host = lanes_acquire_host(all, NULL, &never, &e);
    assert_string_equal(lane_get_facts(host)->kind, "emu"); /* one judge serves both */
    lanes_release(all, &host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fake_device_is_found_with_its_facts),
        cmocka_unit_test(a_broken_script_is_told_at_the_start),
        cmocka_unit_test(a_lane_has_one_holder_at_a_time),
        cmocka_unit_test(who_waits_can_be_cancelled),
        cmocka_unit_test(a_cancelled_task_takes_no_free_lane),
        cmocka_unit_test(the_same_lane_can_be_had_again),
        cmocka_unit_test(code_for_another_card_waits_for_none),
        cmocka_unit_test(what_no_lane_has_is_not_waited_for),
        cmocka_unit_test(a_lane_keeps_its_judge),
        cmocka_unit_test(without_a_gpu_the_lane_says_why),
        cmocka_unit_test(auto_is_the_emulator_where_there_is_no_gpu)};
    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
