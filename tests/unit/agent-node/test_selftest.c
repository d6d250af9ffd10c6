/* test_selftest - what the self-tests say of a scripted card
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/selftest.h"

#define CHEATS                                                            \
    "\"selftest_launch\": {\"warm_ms\": 0.010},"                          \
    "\"selftest_noop\": {\"check\": {\"outcome\": \"wrong\"}},"           \
    "\"selftest_sleeper\": {\"check\": {\"outcome\": \"hung\"}},"         \
    "\"selftest_cached\": {\"check\": {\"outcome\": \"uninitialised\"}}," \
    "\"selftest_beyond\": {\"check\": {\"outcome\": \"out_of_bounds\"}}"
#define SCRIPT(all, slow3, more)                                                    \
    "{\"default\": {\"baselines\": {\"eager\": [0.150]}, " all "}, \"problems\": {" \
    "\"selftest_slower_3\": {\"candidate_ms\": [" slow3 "]},"                       \
    "\"selftest_slower_10\": {\"candidate_ms\": [0.165]}," more "}}"
#define TIMES "\"candidate_ms\": [0.150], \"warm_ms\": 0.090"

typedef struct bench {
    rig *rig;
    calibration_record got;
    selftest_options options;
    size_t said;
    err e;
} bench;

static void count(void *arg, const calibration_check *row)
{
    bench *b = arg;
    assert_non_null(row->name);
    b->said++;
}

static int run(bench *b, const char *script, double memory_rate)
{
    atomic_bool never = false;
    b->rig = rig_create(script);
    const node_parts *node = rig_node(b->rig);
    lane *held = lanes_acquire(node->lanes, lanes_facts(node->lanes, 0)->arch, NULL, &never, &b->e);
    assert_non_null(held);
    ((lane_facts *)(uintptr_t)lane_get_facts(held))->memory_rate = memory_rate;
    b->options.version = "1";
    b->options.said = count;
    b->options.arg = b;
    int rc = selftest_run(node, held, &b->options, &b->got, &b->e);
    lanes_release(node->lanes, &held);
    return rc;
}

static void bench_close(bench *b)
{
    calibration_record_fini(&b->got);
    rig_destroy(&b->rig);
}

static const calibration_check *find(const bench *b, const char *name, size_t number)
{
    for (size_t i = 0; i < b->got.check_count; i++)
        if (strcmp(b->got.checks[i].name, name) == 0 && number-- == 0)
            return &b->got.checks[i];
    fail_msg("there is no row %s", name);
    return NULL;
}

/* The names of the checks that decide and said no. */
static void expect_no(const bench *b, const char *name)
{
    size_t no = 0;
    for (size_t i = 0; i < b->got.check_count; i++) {
        const calibration_check *row = &b->got.checks[i];
        if (row->decides && !row->passed) {
            no++;
            assert_non_null(name);
            assert_string_equal(row->name, name);
        }
    }
    assert_int_equal(b->got.passed, name == NULL);
    assert_true((no > 0) == (name != NULL));
}

static void a_card_that_is_well_passes_every_check(void **state)
{
    (void)state;
    bench b = {.options = {.quick = false}};
    assert_ok(run(&b, SCRIPT(TIMES, "0.1546", CHEATS), 0), b.e);
    expect_no(&b, NULL);
    assert_string_equal(b.got.protocol, "ce-timing-1");
    assert_string_equal(b.got.device_uuid, "GPU-fake");
    assert_int_equal(b.said, b.got.check_count);
    assert_string_equal(find(&b, "aa", 39)->verdict, "same"); /* 40 of them */
    assert_string_equal(find(&b, "aa", 0)->duration, "middle");
    assert_int_equal(find(&b, "aa", 0)->pairs, 10);
    assert_false(hash_is_zero(&find(&b, "aa", 0)->raw));
    assert_string_equal(find(&b, "slower_3", 9)->verdict, "slower"); /* 10 of them */
    assert_true(fabs(find(&b, "slower_3", 0)->theta + log(0.1546 / 0.150)) < 1e-9);
    assert_string_equal(find(&b, "keeps_l2", 0)->verdict, "same");
    assert_true(fabs(find(&b, "warm", 0)->value - (0.150 - 0.010) / (0.090 - 0.010)) < 1e-9);
    assert_true(find(&b, "paths", 1)->passed);
    assert_has(find(&b, "floor", 0)->text, "not run");
    bench_close(&b);
}

#define SPANS(event, agrees)                                                                   \
    "{\"unavailable\": null, \"event_ms\": " event ", \"span_ms\": 0.150, \"busy_ms\": 0.150," \
    "\"floor_event_ms\": 0.004, \"floor_span_ms\": 0.001, \"nodes\": 1, \"calls\": 1,"         \
    "\"agrees\": " agrees "}"
#define CLOCKS(event, agrees)                                                          \
    TIMES ", \"profile\": {\"spans\": " SPANS(event, agrees) ", \"baseline\": " SPANS( \
        "0.154",                                                                       \
        "true") ", \"kernels\": [], \"library\": null, \"counters\": {\"unavailable\": \"no\"}}"

static void the_two_clocks_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *script, *no;
        double value;
    } rows[] = {{SCRIPT(CLOCKS("0.155", "true"), "0.1546", CHEATS), NULL, 0.002},
                {SCRIPT(CLOCKS("0.190", "false"), "0.1546", CHEATS), "offset", 0.037}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench b = {.options = {.quick = true}};
        assert_ok(run(&b, rows[i].script, 0), b.e);
        expect_no(&b, rows[i].no);
        const calibration_check *row = find(&b, "offset", 0);
        assert_string_equal(row->label, "candidate");
        assert_true(row->decides && fabs(row->value - rows[i].value) < 1e-9);
        assert_true(fabs(row->limit - 0.0075) < 1e-9); /* 5 % of the span */
        assert_string_equal(find(&b, "offset", 1)->label, "baseline");
        assert_true(find(&b, "offset", 1)->passed);
        bench_close(&b);
    }
}

static void without_cupti_the_clocks_decide_nothing(void **state)
{
    (void)state;
    bench b = {.options = {.quick = true}};
    assert_ok(run(&b, SCRIPT(TIMES, "0.1546", CHEATS), 0), b.e);
    expect_no(&b, NULL);
    assert_false(find(&b, "offset", 0)->decides);
    assert_has(find(&b, "offset", 0)->text, "not run: ");
    bench_close(&b);
}

static void quick_is_every_check_once(void **state)
{
    (void)state;
    bench b = {.options = {.quick = true}};
    assert_ok(run(&b, SCRIPT(TIMES, "0.1546", CHEATS), 0), b.e);
    expect_no(&b, NULL);
    assert_true(b.got.quick && b.got.check_count < 24);
    bench_close(&b);
}

static void each_check_can_say_no(void **state)
{
    (void)state;
    static const struct {
        const char *script, *name;
    } rows[] = {
        {SCRIPT(TIMES, "0.1501", CHEATS), "slower_3_called"}, /* 0.1 % is not seen */
        {SCRIPT("\"candidate_ms\": [0.150], \"warm_ms\": 0.140", "0.1546", CHEATS), "warm"},
        {SCRIPT("\"candidate_ms\": [0.144], \"warm_ms\": 0.090", "0.1546", CHEATS), "paths"},
        {SCRIPT(TIMES, "0.1546", "\"selftest_launch\": {\"warm_ms\": 0.01}, \"selftest_noop\": {}"),
         "refused"},
        {SCRIPT(TIMES, "0.1546", CHEATS ", \"selftest_keeps_l2\": {\"candidate_ms\": [0.1]}"),
         "keeps_l2"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench b = {.options = {.quick = strcmp(rows[i].name, "keeps_l2") != 0}};
        assert_ok(run(&b, rows[i].script, 0), b.e);
        expect_no(&b, rows[i].name);
        bench_close(&b);
    }
}

static void the_copy_is_held_against_what_is_stored(void **state)
{
    (void)state;
    static const struct {
        double stored;
        const char *no;
    } rows[] = {{0.150, NULL}, {0.144, NULL}, {0.142, "copy"}, {0.159, "copy"}, {0, NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench b = {.options = {.quick = true, .copy_ms = rows[i].stored}};
        assert_ok(run(&b, SCRIPT(TIMES, "0.1546", CHEATS), 0), b.e);
        expect_no(&b, rows[i].no);
        assert_int_equal(find(&b, "copy", 0)->decides, rows[i].stored > 0);
        bench_close(&b);
    }
}

static void faster_than_the_memory_is_impossible_here_too(void **state)
{
    (void)state;
    bench b = {.options = {.quick = true}};
    assert_ok(run(&b, SCRIPT(TIMES, "0.1546", CHEATS), 4.9e12), b.e);
    assert_string_equal(find(&b, "floor", 0)->verdict, "impossible");
    assert_true(find(&b, "floor", 0)->passed && find(&b, "floor", 0)->decides);
    bench_close(&b);
}

static void a_throttled_card_proves_nothing(void **state)
{
    (void)state;
    bench b = {.options = {.quick = true}};
    assert_ok(run(&b, SCRIPT(TIMES ", \"state\": {\"reasons\": 64}", "0.1546", CHEATS), 0), b.e);
    assert_false(b.got.passed);
    assert_string_equal(find(&b, "slower_3", 0)->reason, "throttle");
    bench_close(&b);
}

static void what_was_found_before_the_harness_failed_is_kept(void **state)
{
    (void)state;
    bench b = {.options = {.quick = true}};
    assert_int_equal(run(&b,
                         "{\"default\": {" TIMES ", \"baselines\": {\"default\": [1]}},"
                         " \"problems\": {" CHEATS "}}",
                         0),
                     -1); /* the script has no times of `eager` */
    assert_false(b.got.passed);
    assert_true(find(&b, "copy", 0)->passed);
    assert_has(find(&b, "harness", 0)->text, "eager");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_that_is_well_passes_every_check),
        cmocka_unit_test(the_two_clocks_are_told_apart),
        cmocka_unit_test(without_cupti_the_clocks_decide_nothing),
        cmocka_unit_test(quick_is_every_check_once),
        cmocka_unit_test(each_check_can_say_no),
        cmocka_unit_test(the_copy_is_held_against_what_is_stored),
        cmocka_unit_test(faster_than_the_memory_is_impossible_here_too),
        cmocka_unit_test(a_throttled_card_proves_nothing),
        cmocka_unit_test(what_was_found_before_the_harness_failed_is_kept)};
    return cmocka_run_group_tests_name("selftest", tests, NULL, NULL);
}
