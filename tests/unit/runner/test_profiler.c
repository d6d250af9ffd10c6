/* test_profiler - what cannot be looked at is a reason in the record
 *
 * Modules: profiler ce_profile
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/runner/profiler.h"
#include "agent-node/runner/timing/ce_profile.h"
#include "agent-node/runner/timing/cuda_api.h"
#include "common/json.h"
#include "common/scoped.h"
#include "mock_rig.h"

typedef struct bench {
    cuda_api api;
    CUcontext context;
    CUstream stream;
    CUgraph graph;
    ce_timing *session;
} bench;

static void bench_open(bench *b)
{
    char why[200];
    assert_true(cuda_api_open(&b->api, why, sizeof why));
    assert_int_equal(b->api.ctx_create(&b->context, 0, 0), 0);
    assert_int_equal(b->api.stream_create(&b->stream, 0), 0);
    b->api.capture_begin(b->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    b->api.capture_end(b->stream, &b->graph);
    void *graphs[] = {b->graph};
    const ce_timing_job job = {.size = sizeof job,
                               .slots = 1,
                               .graphs = graphs,
                               .stream = b->stream,
                               .dummy_bytes = 16,
                               .warmup_ms = 1};
    ce_timing_out t = {.size = sizeof t};
    b->session = ce_timing_open(&job, &t);
    if (b->session == NULL)
        fail_msg("%s", t.text);
}

static void bench_close(bench *b)
{
    ce_timing_close(&b->session);
    b->api.graph_destroy(b->graph);
    b->api.ctx_destroy(b->context);
    cuda_api_close(&b->api);
}

static bool never(void *arg, const gpu_slot *slot, char *why, size_t size)
{
    (void)arg;
    (void)slot;
    (void)why;
    (void)size;
    fail_msg("nothing is launched without a library");
    return false;
}

static void without_a_library_there_are_reasons(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b);
    const gpu_call call = {.entry = "k"};
    const gpu_slot slot = {.calls = &call, .call_count = 1};
    const gpu_profile_job ask = {
        .samples = 3, .counters = true, .library = "/nonexistent/libcupti.so", .deadline_ms = 1000};
    const profiler_job job = {.ask = &ask,
                              .session = b.session,
                              .slots = &slot,
                              .slot_count = 1,
                              .context = b.context,
                              .stream = b.stream,
                              .launch = never};
    SCOPED(scoped_free) char *text = profiler_run(&job);
    SCOPED(json_destroy) json *record = json_parse_tree(text, strlen(text), "profile", NULL);
    const json *spans = json_get(record, "spans"), *counters = json_get(record, "counters");
    assert_non_null(strstr(json_str(json_get(spans, "unavailable"), ""), "/nonexistent"));
    assert_non_null(strstr(json_str(json_get(counters, "unavailable"), ""), "/nonexistent"));
    assert_int_equal(json_typeof(json_get(spans, "span_ms")), JSON_TYPE_NULL);
    assert_int_equal(json_typeof(json_get(json_get(counters, "values"), "dram_pct")),
                     JSON_TYPE_NULL);
    assert_int_equal(json_size(json_get(record, "kernels")), 0);
    assert_false(json_bool(json_get(spans, "agrees"), true));
    bench_close(&b);
}

static void a_malformed_ask_is_refused(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b);
    static const struct {
        uint32_t size, samples, calls;
        const char *why;
    } rows[] = {{3, 5, 1, "struct sizes differ"},
                {sizeof(ce_profile_ask), 0, 1, "0 samples of 1 calls"},
                {sizeof(ce_profile_ask), 101, 1, "101 samples"},
                {sizeof(ce_profile_ask), 5, 0, "5 samples of 0 calls"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ce_profile_ask ask = {.size = rows[i].size,
                                    .samples = rows[i].samples,
                                    .calls = rows[i].calls,
                                    .stream = b.stream};
        ce_profile_out out = {.size = sizeof out};
        assert_int_equal(ce_profile_spans(b.session, &ask, &out), -1);
        assert_int_equal(out.code, CE_PROFILE_UNAVAILABLE);
        assert_non_null(strstr(out.text, rows[i].why));
    }
    assert_int_equal(ce_profile_abi(), CE_PROFILE_ABI);
    bench_close(&b);
}

static void a_slot_is_prepared_for_somebody_elses_call(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b);
    ce_timing_out out = {.size = sizeof out};
    assert_int_equal(ce_timing_prepare(b.session, 0, &out), 0);
    assert_int_equal(ce_timing_prepare(b.session, 1, &out), -1);
    assert_int_equal(out.code, CE_TIMING_ARGUMENT);
    bench_close(&b);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_library_there_are_reasons),
        cmocka_unit_test(a_malformed_ask_is_refused),
        cmocka_unit_test(a_slot_is_prepared_for_somebody_elses_call),
    };
    return cmocka_run_group_tests_name("profiler", tests, NULL, NULL);
}
