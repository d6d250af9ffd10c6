/* test_profile - from what was measured to a record, and to words
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent-node/profile.h"
#include "common/json.h"
#include "common/scoped.h"

#define SPANS(agrees)                                                                             \
    "{\"unavailable\":null,\"event_ms\":0.212,\"span_ms\":0.200,\"busy_ms\":0.180,"               \
    "\"floor_event_ms\":0.006,\"floor_span_ms\":0.001,\"nodes\":2,\"calls\":2,\"agrees\":" agrees \
    "}"
#define NO_SPANS "{\"unavailable\":\"incomplete: 3 activity records were dropped\"}"
#define KERNELS                                                                              \
    "[{\"name\":\"scan\",\"launches\":1,\"ms\":0.08,\"grid\":[265,1,1],\"block\":[256,1,1]," \
    "\"registers\":96,\"shared_static\":1024,\"shared_dynamic\":0,\"local_bytes\":16}]"
#define COUNTERS                                                                               \
    "{\"unavailable\":null,\"chip\":\"GH100\",\"passes\":14,\"values\":{\"memory_pct\":10,"    \
    "\"dram_pct\":5,\"sm_pct\":20,\"fma_pct\":22,\"sm_cycles\":2000,\"sm_cycles_active\":500," \
    "\"sm_cycles_active_max\":1000,"                                                           \
    "\"dram_read_bytes\":3000000,\"dram_write_bytes\":1000000,\"load_sectors\":320,"           \
    "\"load_requests\":10,\"store_sectors\":null,\"store_requests\":null,"                     \
    "\"bank_conflicts\":30,\"shared_passes\":100,\"occupancy_pct\":12.5,"                      \
    "\"stall_barrier\":1.5,\"stall_long_scoreboard\":7.25,\"stall_selected\":9,"               \
    "\"stall_wait\":0.75,\"stall_drain\":0.1,\"stall_membar\":0.6}}"
#define NO_COUNTERS \
    "{\"unavailable\":\"cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)\"}"
#define RECORD(spans, kernels, counters) \
    "{\"spans\":" spans ",\"kernels\":" kernels ",\"counters\":" counters ",\"library\":\"x\"}"

static const profile_facts facts = {
    .least_bytes = 2000000, .cc = 90, .sm_count = 132, .took_ms = 1500};

static json *made(const char *kernel, const char *baseline)
{
    SCOPED(scoped_free) char *text = profile_make(kernel, baseline, &facts);
    return json_parse_tree(text, strlen(text), "profile", NULL);
}

static double number(const json *record, const char *part, const char *key)
{
    return json_real(json_get(json_get(record, part), key), (double)NAN);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void numbers_follow_from_counters(void **state)
{
    (void)state;
    SCOPED(json_destroy)
    json *record = made(RECORD(SPANS("true"), KERNELS, COUNTERS), SPANS("true"));
    assert_string_equal(json_str(json_get(record, "status"), ""), "measured");
    assert_string_equal(json_str(json_get(record, "bound"), ""), "tail");
    assert_true(near(number(record, "derived", "dram_times_least"), 2));
    assert_true(near(number(record, "derived", "sectors_a_load"), 32));
    assert_true(isnan(number(record, "derived", "sectors_a_store")));
    assert_true(near(number(record, "derived", "bank_conflict_share"), 0.3));
    assert_true(near(number(record, "derived", "sm_active_share"), 0.5));
    assert_true(near(number(record, "derived", "gap_share"), 0.1));
    assert_true(isnan(number(record, "derived", "ready_share"))); /* not counted */
    assert_true(near(number(record, "derived", "range_times_busy"), 2));
    assert_true(near(number(record, "derived", "busiest_pct"), 44));
    assert_true(near(number(record, "derived", "memory_pct"), 20));
    assert_true(near(json_real(json_get(record, "took_ms"), 0), 1500));
    assert_true(near(json_real(json_get(record, "launch_floor_ms"), 0), 0.005));
    const json *kernel = json_at(json_get(record, "kernels"), 0);
    assert_int_equal(json_int(json_get(kernel, "blocks_at_once"), 0), 2);
    assert_string_equal(json_str(json_get(kernel, "occupancy_limit"), ""), "registers");
    assert_true(near(json_real(json_get(kernel, "occupancy"), 0), 0.25));
}

static void what_is_missing_is_a_reason(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *none = made(RECORD(NO_SPANS, "[]", NO_COUNTERS), NULL);
    assert_string_equal(json_str(json_get(none, "status"), ""), "unavailable");
    assert_string_equal(json_str(json_get(none, "reason"), ""),
                        "incomplete: 3 activity records were dropped");
    SCOPED(json_destroy) json *spans = made(RECORD(SPANS("true"), KERNELS, NO_COUNTERS), NULL);
    assert_string_equal(json_str(json_get(spans, "status"), ""), "measured");
    assert_int_equal(json_typeof(json_get(spans, "bound")), JSON_TYPE_NULL);
    assert_non_null(strstr(json_str(json_get(json_get(spans, "counters"), "unavailable"), ""),
                           "INSUFFICIENT_PRIVILEGES"));
    SCOPED(json_destroy) json *counters = made(RECORD(NO_SPANS, "[]", COUNTERS), NULL);
    assert_string_equal(json_str(json_get(counters, "bound"), ""), "latency");
    SCOPED(json_destroy) json *broken = made("{}", NULL);
    assert_string_equal(json_str(json_get(broken, "status"), ""), "unavailable");
}

static void clocks_disagree_only_where_both_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *baseline;
        bool disagree;
    } rows[] = {
        {RECORD(SPANS("true"), KERNELS, COUNTERS), SPANS("true"), false},
        {RECORD(SPANS("false"), KERNELS, COUNTERS), SPANS("true"), true},
        {RECORD(SPANS("true"), KERNELS, COUNTERS), SPANS("false"), true},
        {RECORD(SPANS("true"), KERNELS, COUNTERS), NO_SPANS, false},
        {RECORD(NO_SPANS, "[]", COUNTERS), SPANS("false"), true},
        {RECORD(NO_SPANS, "[]", NO_COUNTERS), NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED(scoped_free) char *text = profile_make(rows[i].kernel, rows[i].baseline, &facts);
        assert_int_equal(profile_disagrees(text), rows[i].disagree);
    }
    SCOPED(scoped_free) char *missing = profile_missing("no library");
    assert_false(profile_disagrees(missing));
}

static void words_say_what_counts(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "it is bound by tail: the last wave",
        "A call is 2 kernels, copies and fills; 10 % of its time nothing runs",
        "An empty kernel takes 0.0010 ms",
        "multiprocessors 44 %, FMA pipe 44 %, memory pipeline 20 %, DRAM 10 %.",
        "DRAM moved 4 MB, 2.00 times the 2 MB",
        "loads 32.0 (4 when",
        "30 % of shared memory passes are bank conflicts",
        "265 blocks of 256 threads, 96 registers a thread, 1024 bytes of shared memory a block",
        "2 blocks fit on a multiprocessor at once (25 % of its warps, limited by registers)",
        "16 bytes of local memory a thread",
        "it holds 12 % of the warps it could; on average it works 50 % as long",
        "when one is issued: long_scoreboard 7.2, barrier 1.5, wait 0.8."};
    SCOPED(scoped_free)
    char *text = profile_make(RECORD(SPANS("true"), KERNELS, COUNTERS), NULL, &facts);
    SCOPED(buf_fini) buf words;
    buf_init(&words, 16384);
    profile_text(text, &words);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(buf_text(&words), wanted[i]) == NULL)
            fail_msg("no \"%s\" in:\n%s", wanted[i], buf_text(&words));
}

static void without_a_profile_there_are_no_words(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = profile_missing("no library");
    SCOPED(buf_fini) buf words;
    buf_init(&words, 1024);
    profile_text(text, &words);
    assert_int_equal(words.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_from_counters),
        cmocka_unit_test(what_is_missing_is_a_reason),
        cmocka_unit_test(clocks_disagree_only_where_both_are_known),
        cmocka_unit_test(words_say_what_counts),
        cmocka_unit_test(without_a_profile_there_are_no_words),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
