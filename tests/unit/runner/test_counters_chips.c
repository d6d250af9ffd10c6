/* test_counters_chips - the real library as far as it goes without a device: which metrics chips have
 *
 * NVIDIA's library opens its parts in a way that AddressSanitizer refuses (RTLD_DEEPBIND), so this
 * program is not run under it.
 *
 * Modules: cupti_api counters
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent-node/runner/timing/counters.h"
#include "agent-node/runner/timing/cupti_api.h"

static const char *const names[] = {
#define METRIC(key, name) name,
#include "agent-node/runner/timing/metrics.def"
#undef METRIC
};

enum { NAMES = sizeof names / sizeof *names };

static void every_metric_is_there_on_the_chips_we_know(void **state)
{
    (void)state;
    static const struct {
        const char *chip;
        size_t passes, lacks;
    } rows[] = {{"GH100", 16, 0}, {"GA100", 12, 2 /* gmma, the heavy FMA pipe */}};
    cupti_api api;
    char why[300] = "";
    if (!cupti_api_open(&api, NULL, 13000, why, sizeof why) || !api.has_counters)
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const counters_job job = {.cupti = &api, .names = names, .count = NAMES};
        counters_result r;
        size_t lacks = 0;
        if (!counters_plan(&job, rows[i].chip, &r, why, sizeof why))
            fail_msg("%s: %s", rows[i].chip, why);
        for (size_t k = 0; k < NAMES; k++)
            if (isnan(r.values[k]))
                lacks++;
        assert_int_equal(lacks, rows[i].lacks);
        assert_in_range(r.passes, 1, rows[i].passes);
    }
}

static void a_metric_that_is_none_is_left_out(void **state)
{
    (void)state;
    static const char *const some[] = {"no__such_metric.sum", "dram__bytes_read.sum"};
    cupti_api api;
    char why[300] = "";
    counters_result r;
    counters_job job = {.cupti = &api, .names = some, .count = 2};
    if (!cupti_api_open(&api, NULL, 13000, why, sizeof why) || !api.has_counters)
        skip();
    assert_true(counters_plan(&job, "GH100", &r, why, sizeof why));
    assert_true(isnan(r.values[0]) && r.values[1] == 0);
    assert_false(counters_plan(&job, "NO100", &r, why, sizeof why));
    assert_non_null(strstr(why, "cuptiProfilerHostInitialize: CUPTI_ERROR"));
    job.count = 1;
    assert_false(counters_plan(&job, "GH100", &r, why, sizeof why));
    assert_string_equal(why, "the chip has none of the metrics");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_there_on_the_chips_we_know),
        cmocka_unit_test(a_metric_that_is_none_is_left_out),
    };
    return cmocka_run_group_tests_name("counters on chips", tests, NULL, NULL);
}
