/* test_counters - activity records and refusals, with a library in this process
 *
 * Modules: cupti_api activity counters
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

#include "agent-node/runner/timing/activity.h"
#include "agent-node/runner/timing/counters.h"
#include "agent-node/runner/timing/cupti_api.h"

static const char *const names[] = {
#define METRIC(key, name) name,
#include "agent-node/runner/timing/metrics.def"
#undef METRIC
};

enum { NAMES = sizeof names / sizeof *names };

static void a_library_that_is_not_there_is_named(void **state)
{
    (void)state;
    cupti_api api;
    char why[300] = "";
    assert_false(cupti_api_open(&api, "/nonexistent/libcupti.so", 13000, why, sizeof why));
    assert_non_null(strstr(why, "/nonexistent/libcupti.so"));
    assert_null(api.handle);
    assert_false(cupti_api_open(&api, "libc.so.6", 13000, why, sizeof why));
    assert_non_null(strstr(why, "has no cupti"));
    assert_false(cupti_api_open(&api, NULL, 11080, why, sizeof why)); /* too old a driver */
    assert_non_null(strstr(why, "--cupti"));
}

/* ---- a library in this process ---- */

static const char *fails; /* the function that says no */
static size_t calls;

static CUptiResult result_of(const char *name)
{
    calls++;
    return fails != NULL && strcmp(fails, name) == 0 ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                                                     : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI say(CUptiResult code, const char **text)
{
    *text = code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                        : "CUPTI_ERROR_OTHER";
    return CUPTI_SUCCESS;
}

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_ActivityKernel10 kernels[3];
static size_t kernel_count, dropped;

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc a,
                                               CUpti_BuffersCallbackCompleteFunc b)
{
    request = a;
    complete = b;
    return result_of("cuptiActivityRegisterCallbacks");
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind)
{
    return result_of(kind == CUPTI_ACTIVITY_KIND_MEMSET ? "enable memset" : "enable");
}

static CUptiResult CUPTIAPI flush(uint32_t flag)
{
    uint8_t *buffer = NULL;
    size_t size = 0, most = 0;
    if (flag == 0 && kernel_count > 0) {
        request(&buffer, &size, &most);
        memcpy(buffer, kernels, kernel_count * sizeof *kernels);
        complete(NULL, 0, buffer, size, kernel_count * sizeof *kernels);
        kernel_count = 0;
    }
    return result_of(flag == 0 ? "flush" : "forced flush");
}

static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t bytes, CUpti_Activity **record)
{
    uint8_t *next = *record == NULL ? buffer : (uint8_t *)*record + sizeof *kernels;
    if (next >= buffer + bytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI count_dropped(CUcontext context, uint32_t stream, size_t *out)
{
    (void)context;
    (void)stream;
    *out = dropped;
    return CUPTI_SUCCESS;
}

static cupti_api fake(void)
{
    fails = NULL;
    calls = kernel_count = dropped = 0;
    return (cupti_api){.cuptiGetResultString = say,
                       .cuptiActivityRegisterCallbacks = register_callbacks,
                       .cuptiActivityEnable = enable,
                       .cuptiActivityDisable = enable,
                       .cuptiActivityFlushAll = flush,
                       .cuptiActivityGetNextRecord = next_record,
                       .cuptiActivityGetNumDroppedRecords = count_dropped};
}

static void put_kernels(void)
{
    memset(kernels, 0, sizeof kernels);
    for (size_t i = 0; i < 3; i++) {
        kernels[i].kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        kernels[i].correlationId = 10 + (uint32_t)i;
        kernels[i].start = 100 * (i + 1);
        kernels[i].end = 100 * (i + 1) + 50;
        kernels[i].name = "k";
        kernels[i].gridX = 7;
        kernels[i].registersPerThread = 33;
        kernels[i].graphId = 4;
    }
    kernels[2].kind = CUPTI_ACTIVITY_KIND_DRIVER; /* nobody asked for it */
    kernel_count = 3;
}

static void records_are_read_and_forgotten(void **state)
{
    (void)state;
    const cupti_api api = fake();
    char why[300] = "";
    span_record *records = NULL;
    size_t count = 0;
    assert_true(activity_begin(&api, why, sizeof why));
    put_kernels();
    assert_true(activity_take(&api, &records, &count, why, sizeof why));
    assert_int_equal(count, 2);
    assert_int_equal(records[1].correlation, 11);
    assert_int_equal(records[1].graph, 4);
    assert_int_equal(records[1].start, 200);
    assert_int_equal(records[1].end, 250);
    assert_int_equal(records[1].grid[0], 7);
    assert_int_equal(records[1].registers, 33);
    assert_string_equal(records[1].name, "k");
    free(records);
    assert_true(activity_take(&api, &records, &count, why, sizeof why));
    assert_int_equal(count, 0);
    free(records);
    activity_end(&api);
}

static void dropped_records_are_told(void **state)
{
    (void)state;
    const cupti_api api = fake();
    char why[300] = "";
    span_record *records = NULL;
    size_t count = 0;
    assert_true(activity_begin(&api, why, sizeof why));
    put_kernels();
    dropped = 5;
    assert_false(activity_take(&api, &records, &count, why, sizeof why));
    assert_string_equal(why, "incomplete: 5 activity records were dropped");
    assert_null(records);
    activity_end(&api);
}

static void what_is_refused_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *fails, *why;
    } rows[] = {{"cuptiActivityRegisterCallbacks", "cuptiActivityRegisterCallbacks"},
                {"enable", "cuptiActivityEnable(10)"},
                {"enable memset", "cuptiActivityEnable(2)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cupti_api api = fake();
        char why[300] = "", want[300];
        fails = rows[i].fails;
        assert_false(activity_begin(&api, why, sizeof why));
        snprintf(want, sizeof want, "%s: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (%d)", rows[i].why,
                 (int)CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
        assert_string_equal(why, want);
    }
    const cupti_api api = fake();
    char why[300] = "";
    span_record *records = NULL;
    size_t count = 0;
    assert_true(activity_begin(&api, why, sizeof why));
    fails = "forced flush";
    assert_false(activity_take(&api, &records, &count, why, sizeof why));
    assert_non_null(strstr(why, "cuptiActivityFlushAll(forced): CUPTI_ERROR"));
    activity_end(&api);
}

static void an_older_library_has_no_counters(void **state)
{
    (void)state;
    const cupti_api api = fake();
    const counters_job job = {.cupti = &api, .names = names, .count = NAMES};
    counters_result r;
    char why[300] = "";
    assert_false(counters_collect(&job, &r, why, sizeof why));
    assert_non_null(strstr(why, "no range profiler"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_not_there_is_named),
        cmocka_unit_test(records_are_read_and_forgotten),
        cmocka_unit_test(dropped_records_are_told),
        cmocka_unit_test(what_is_refused_is_named),
        cmocka_unit_test(an_older_library_has_no_counters),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
