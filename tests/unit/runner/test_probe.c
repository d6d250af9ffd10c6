/* test_probe - what devices this host has
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/probe.h"
#include "common/json.h"
#include "common/scoped.h"
#include "mock_rig.h"

static json *probe(const char *device, const char *script)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    probe_print(device, script, out);
    fclose(out);
    assert_int_equal(text[size - 1], '\n');
    assert_null(memchr(text, '\n', size - 1)); /* one line */
    json *report = json_parse_tree(text, size, "probe", NULL);
    free(text);
    assert_non_null(report);
    return report;
}

static void devices_are_listed_with_their_facts(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *report = probe(NULL, NULL);
    const json *devices = json_get(report, "devices");
    assert_int_equal(json_size(devices), 1);
    const json *first = json_at(devices, 0);
    assert_string_equal(json_str(json_get(first, "device"), ""), "cuda:0");
    assert_string_equal(json_str(json_get(first, "kind"), ""), "cuda");
    assert_string_equal(json_str(json_get(first, "name"), ""), "mock GPU");
    assert_int_equal(json_int(json_get(first, "memory_bytes"), 0), 1 << 30);
    assert_int_equal(json_typeof(json_get(report, "reason")), JSON_TYPE_NULL);
}

static void a_driver_that_does_not_start_is_a_reason(void **state)
{
    (void)state;
    mock_hooks mock = mock_rig_hooks();
    mock.refuse("cuInit", CUDA_ERROR_NO_DEVICE);
    SCOPED(json_destroy) json *report = probe(NULL, NULL);
    assert_int_equal(json_size(json_get(report, "devices")), 0);
    assert_non_null(strstr(json_str(json_get(report, "reason"), ""), "does not start"));
}

static void the_fake_device_is_listed_when_asked_for(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *report = probe("fake", NULL);
    const json *first = json_at(json_get(report, "devices"), 0);
    assert_string_equal(json_str(json_get(first, "kind"), ""), "fake");
    assert_int_equal(json_int(json_get(first, "sm_count"), 0), 132);
}

static void what_profiles_is_a_file_or_a_reason(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    err e = {0};
    FILE *out = open_memstream(&text, &size);
    probe_print_profiler(out);
    fclose(out);
    SCOPED(json_destroy) json *report = json_parse_tree(text, size, "probe", &e);
    free(text);
    assert_non_null(report);
    const char *file = json_str(json_get(report, "library"), NULL);
    const char *reason = json_str(json_get(report, "reason"), NULL);
    assert_true((file == NULL) != (reason == NULL));
    if (file != NULL)
        assert_non_null(strstr(file, "libcupti.so"));
    else
        assert_false(json_bool(json_get(report, "counters"), true));
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_listed_with_their_facts),
        cmocka_unit_test(a_driver_that_does_not_start_is_a_reason),
        cmocka_unit_test(the_fake_device_is_listed_when_asked_for),
        cmocka_unit_test(what_profiles_is_a_file_or_a_reason),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
