/* test_gpu - choosing a device, and the fake one
 *
 * Modules: gpu_fake
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent-node/runner/gpu.h"
#include "common/clock.h"

static void unknown_devices_are_a_usage_error(void **state)
{
    (void)state;
    static const char *const names[] = {"", "cuda", "cuda:", "cuda:-1", "cuda:x", "emu:0", "gpu:0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        err e = {0};
        gpu_options o = {.device = names[i]};
        assert_null(gpu_open(&o, &e));
        assert_int_equal(e.code, ERR_USAGE);
    }
}

static gpu *open_fake(const char *script)
{
    err e = {0};
    char path[64];
    int fd = memfd_create("fake.json", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), (ssize_t)strlen(script));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    gpu_options o = {.device = "fake", .fake_script = path, .problem = "p"};
    gpu *g = gpu_open(&o, &e);
    if (g == NULL)
        fail_msg("%s", e.text);
    close(fd);
    return g;
}

static void the_fake_device_looks_like_a_big_card(void **state)
{
    (void)state;
    gpu_options o = {.device = "fake"};
    gpu *g = gpu_open(&o, NULL);
    assert_non_null(g);
    assert_string_equal(g->facts.kind, "fake");
    assert_string_equal(g->facts.arch, "sm_90a");
    assert_int_equal(g->facts.cc, 90);
    assert_int_equal(g->facts.sm_count, 132);
    assert_non_null(g->ops->script);
    gpu_close(&g);
    assert_null(g);
    gpu_close(&g);
}

static void scripted_times_repeat_until_every_sample_has_one(void **state)
{
    (void)state;
    runner_verdict v;
    double samples[5] = {0};
    gpu_timing t = {.samples = samples, .sample_count = 5};
    gpu *g = open_fake("{\"problems\":{\"p\":{\"candidate_ms\":[1,2]}}}");
    assert_int_equal(g->ops->script(g, GPU_PHASE_TIME, &t, &v, NULL), 0);
    assert_int_equal(v.result, OUTCOME_OK);
    static const double want[] = {1, 2, 1, 2, 1};
    assert_memory_equal(samples, want, sizeof want);
    assert_true(t.event_floor_ms > 0);
    gpu_close(&g);
}

static void each_phase_has_its_own_outcome(void **state)
{
    (void)state;
    runner_verdict v;
    gpu *g = open_fake("{\"default\":{\"load\":{\"outcome\":\"launch_failed\"},"
                       "\"time\":{\"outcome\":\"hung\"}}}");
    assert_int_equal(g->ops->script(g, GPU_PHASE_LOAD, NULL, &v, NULL), 0);
    assert_int_equal(v.result, OUTCOME_LAUNCH_FAILED);
    assert_int_equal(g->ops->script(g, GPU_PHASE_CHECK, NULL, &v, NULL), 0);
    assert_int_equal(v.result, OUTCOME_OK);
    double sample = -1;
    gpu_timing t = {.samples = &sample, .sample_count = 1};
    assert_int_equal(g->ops->script(g, GPU_PHASE_TIME, &t, &v, NULL), 0);
    assert_int_equal(v.result, OUTCOME_HUNG);
    assert_true(sample < 0); /* no time for what failed */
    gpu_close(&g);
}

static void a_delay_happens_in_the_check_alone(void **state)
{
    (void)state;
    runner_verdict v;
    gpu *g = open_fake("{\"default\":{\"delay_ms\":60}}");
    int64_t begin = clock_mono_ms();
    assert_int_equal(g->ops->script(g, GPU_PHASE_CHECK, NULL, &v, NULL), 0);
    assert_true(clock_mono_ms() - begin >= 60);
    gpu_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_devices_are_a_usage_error),
        cmocka_unit_test(the_fake_device_looks_like_a_big_card),
        cmocka_unit_test(scripted_times_repeat_until_every_sample_has_one),
        cmocka_unit_test(each_phase_has_its_own_outcome),
        cmocka_unit_test(a_delay_happens_in_the_check_alone),
    };
    return cmocka_run_group_tests_name("gpu", tests, NULL, NULL);
}
