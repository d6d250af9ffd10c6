/* test_watch - which pairs of blocks count
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent-node/watch.h"
#include "common/json.h"
#include "common/scoped.h"

static watch *start_fake(void)
{
    return watch_start(&(watch_options){.kind = "fake", .uuid = "GPU-fake"});
}

static watch_span span(double mean, int64_t least, int64_t reasons, int64_t foreign)
{
    return (watch_span){.readings = 3,
                        .busy = isnan(mean) ? 0 : 3,
                        .sm_mean_mhz = mean,
                        .sm_min_mhz = least,
                        .reasons = reasons,
                        .foreign = foreign};
}

/* The fake card's default SM clock is 1980 MHz. */
static void the_rules_void_a_pair(void **state)
{
    (void)state;
    const double none = (double)NAN;
    const struct {
        watch_span a, b;
        const char *why;
    } rows[] = {
        {span(1980, 1980, 0, 0), span(1980, 1980, 0, 0), NULL},
        {span(1980, 1980, NVML_SW_POWER, 0), span(1980, 1980, 0, 0), NULL}, /* normal under load */
        {span(1980, 1980, NVML_HW_SLOWDOWN, 0), span(1980, 1980, 0, 0), "throttle"},
        {span(1980, 1980, 0, 0), span(1980, 1980, NVML_HW_THERMAL, 0), "throttle"},
        {span(1980, 1980, 0, 0), span(1980, 1980, NVML_SW_THERMAL, 0), "throttle"},
        {span(1980, 1980, NVML_HW_BRAKE, 0), span(1980, 1980, 0, 0), "throttle"},
        {span(1900, 1484, 0, 0), span(1900, 1900, 0, 0), "throttle"}, /* below 75 % */
        {span(1900, 1486, 0, 0), span(1900, 1900, 0, 0), NULL},
        {span(1900, 1900, 0, 0), span(1960, 1960, 0, 0), "throttle"}, /* 3.2 % apart */
        {span(1900, 1900, 0, 0), span(1950, 1950, 0, 0), NULL},
        {span(none, -1, 0, 0), span(1950, 1950, 0, 0), NULL}, /* nothing read while busy */
        {span(1980, 1980, 0, 1), span(1980, 1980, 0, 0), "contention"},
        {span(1980, 1980, 0, -1), span(1980, 1980, 0, -1), NULL}, /* cannot be told */
    };
    watch *w = start_fake();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *why = watch_void(w, &rows[i].a, &rows[i].b);
        if ((why == NULL) != (rows[i].why == NULL) ||
            (why != NULL && strcmp(why, rows[i].why) != 0))
            fail_msg("row %zu: %s", i, why != NULL ? why : "counts");
    }
    watch_stop(&w);
}

static void readings_between_two_edges_are_summed_up(void **state)
{
    (void)state;
    watch *w = start_fake();
    watch_span s;
    watch_edge(w);
    int64_t from = watch_edge(w);
    int64_t to = watch_edge(w);
    while (watch_edge(w) == to)
        continue;
    watch_between(w, from, to, &s);
    assert_true(s.readings >= 2 && s.busy == s.readings);
    assert_true(s.sm_mean_mhz == 1980 && s.sm_min_mhz == 1980);
    assert_int_equal(s.foreign, 0);
    watch_between(w, to + 3600000000, to + 3600000001, &s);
    assert_int_equal(s.readings, 0);
    assert_true(isnan(s.sm_mean_mhz));
    SCOPED(json_destroy) json *told = watch_json(w);
    assert_true(json_size(json_get(told, "readings")) >= 4);
    assert_string_equal(json_str(json_get(told, "foreign_check"), ""), "done");
    assert_string_equal(json_str(json_get(told, "clock_policy"), ""), "observed");
    watch_stop(&w);
    assert_null(w);
    watch_stop(&w);
}

static nvml_reading reading(int64_t mhz, int64_t reasons)
{
    return (nvml_reading){.sm_mhz = mhz, .reasons = reasons};
}

static void a_clock_is_calm_when_its_last_two_busy_readings_agree(void **state)
{
    (void)state;
    const nvml_reading rows[] = {reading(345, NVML_IDLE), reading(1500, 0), reading(1980, 0),
                                 reading(345, NVML_IDLE), reading(1950, 4), reading(1800, 0),
                                 reading(-1, -1)};
    static const bool calm[] = {true, true, true, false, false, true, false, false};
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++)
        assert_int_equal(watch_is_calm(rows, i), calm[i]);
    watch *w = start_fake();
    assert_true(watch_calm(w));
    watch_edge(w);
    watch_edge(w);
    assert_true(watch_calm(w));
    watch_stop(&w);
}

static void an_unknown_card_is_refused_with_the_reason(void **state)
{
    (void)state;
    watch *w = watch_start(&(watch_options){.kind = "cuda", .uuid = "GPU-none"});
    assert_non_null(watch_unavailable(w));
    assert_string_equal(watch_refuses(w), "state");
    watch_stop(&w);
    w = start_fake();
    assert_null(watch_unavailable(w));
    assert_null(watch_refuses(w));
    watch_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_void_a_pair),
        cmocka_unit_test(readings_between_two_edges_are_summed_up),
        cmocka_unit_test(a_clock_is_calm_when_its_last_two_busy_readings_agree),
        cmocka_unit_test(an_unknown_card_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
