/* One candidate on the emulator, without a judge: what is found, what is counted, what is said. With a
 * judge: tests/service/emu.py.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent-node/emu_run.h"
#include "common/scoped.h"

enum { N = 200 };

#define SOURCE(test)                                                                             \
    "extern \"C\" __global__ void k(const float *a, const float *b, float *y, long long n)\n{\n" \
    "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"                      \
    "    if (i " test " n)\n        y[i] = a[i] + b[i];\n}\n"

static const char plan[] = "{\"kernels\":[{\"entry\":\"k\",\"grid\":[\"ceil_div(n + 1, 128)\"],"
                           "\"block\":[128],\"args\":[\"a\",\"b\",\"y\",{\"i64\":\"n\"}]}]}";

static compile_pool *compiler;
static problem vector_add;

static int open_all(void **state)
{
    (void)state;
    err e = {0};
    const compile_options options = {.binary = CE_BINARY_DIR "/bin/ce-compiler", .children = 1};
    compiler = compile_pool_create(&options, &e);
    if (compiler == NULL && e.code == ERR_UNAVAILABLE)
        exit(77);
    if (compiler == NULL ||
        problem_load(CE_SOURCE_DIR "/suites/internal/vector_add_fp32", &vector_add, &e) < 0) {
        print_error("%s\n", e.text);
        return -1;
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    compile_pool_destroy(&compiler);
    problem_fini(&vector_add);
    return 0;
}

static const contract_shape shape = {{N}};

static emu_run_request request_of(const char *source, const char *launches)
{
    return (emu_run_request){.problem = &vector_add,
                             .shape = &shape,
                             .seed = 3,
                             .source = source,
                             .plan = launches,
                             .python = "/bin/true"}; /* imports nothing: no judge */
}

static emu_run_result run(const emu_run_request *request)
{
    err e = {0};
    emu_run_result result;
    if (emu_run(request, compiler, &result, &e) < 0)
        fail_msg("%s", e.text);
    return result;
}

static void expect_text(const emu_run_request *request, const emu_run_result *result,
                        const char *says)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, 1 << 20);
    emu_run_text(request, result, &text);
    if (strstr(buf_text(&text), says) == NULL)
        fail_msg("no \"%s\" in:\n%s", says, buf_text(&text));
}

static void a_clean_kernel_is_counted_and_not_called_correct(void **state)
{
    (void)state;
    const emu_run_request request = request_of(SOURCE("<"), plan);
    emu_run_result result SCOPED(emu_run_result_fini) = run(&request);
    assert_int_equal(result.verdict.result, OUTCOME_OK);
    assert_int_equal(result.case_count, 1);
    assert_non_null(result.not_compared);
    expect_text(&request, &result, "vector_add_fp32 at n=200, seed 3");
    expect_text(&request, &result, "outputs were not compared");
    expect_text(&request, &result, "k, grid 2, block 128");
    expect_text(&request, &result, "registers a thread");
    SCOPED(json_destroy) json *tree = emu_run_json(&request, &result);
    assert_string_equal(json_str(json_get(tree, "outcome"), ""), "ok");
    assert_false(json_bool(json_get(tree, "compared"), true));
    const json *counters = json_get(tree, "modelled");
    const json *launch = json_at(json_get(counters, "launches"), 0);
    assert_int_equal(json_int(json_get(launch, "global_requests"), 0), 3 * 7);
    assert_true(json_int(json_get(launch, "registers"), 0) > 0);
    assert_int_equal(json_int(json_get(json_get(counters, "shape"), "n"), 0), N);
}

static void what_is_wrong_has_its_line(void **state)
{
    (void)state;
    const emu_run_request request = request_of(SOURCE("<="), plan);
    emu_run_result result SCOPED(emu_run_result_fini) = run(&request);
    assert_int_equal(result.verdict.result, OUTCOME_OUT_OF_BOUNDS);
    assert_string_equal(result.verdict.detail, "read");
    expect_text(&request, &result, "kernel.cu:5");
    SCOPED(json_destroy) json *tree = emu_run_json(&request, &result);
    const json *one = json_at(json_get(tree, "cases"), 0);
    assert_string_equal(json_str(json_get(one, "family"), ""), "plain");
    assert_string_equal(json_str(json_get(one, "outcome"), ""), "out_of_bounds");
}

static void what_never_runs_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *source, *plan;
        outcome result;
        const char *says;
    } rows[] = {
        {"this is no source", plan, OUTCOME_COMPILE_FAILED, "kernel.cu(1)"},
        {SOURCE("<"), "{\"kernels\":[]}", OUTCOME_PLAN_INVALID, "/kernels"},
        {SOURCE("<"), "no JSON", OUTCOME_PLAN_INVALID, "plan_invalid"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const emu_run_request request = request_of(rows[i].source, rows[i].plan);
        emu_run_result result SCOPED(emu_run_result_fini) = run(&request);
        assert_int_equal(result.verdict.result, rows[i].result);
        assert_int_equal(result.case_count, 0);
        expect_text(&request, &result, rows[i].says);
        SCOPED(json_destroy) json *tree = emu_run_json(&request, &result);
        assert_int_equal(json_typeof(json_get(tree, "modelled")), JSON_TYPE_NULL);
        assert_false(json_bool(json_get(tree, "compared"), true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_kernel_is_counted_and_not_called_correct),
        cmocka_unit_test(what_is_wrong_has_its_line),
        cmocka_unit_test(what_never_runs_says_why),
    };
    return cmocka_run_group_tests_name("emu_run", tests, open_all, close_all);
}
