/* test_performance_emu - one call guided by what was counted, and nothing that is measured
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <math.h>

#include "agent-node/modelled.h"

static const char problem[] = "vector_add_fp32";
static const char launches[] =
    "{\"kernels\": [{\"entry\": \"k\", \"grid\": [\"ceil_div(n, 1024)\"], \"block\": [128], "
    "\"args\": [\"a\", \"b\", \"y\", {\"i64\": \"n\"}]}]}";

/* A thread owns eight neighbours, so that each request of a warp touches 32 sectors. */
#define STRIDED(what)                                                                         \
    "extern \"C\" __global__ void k(const float *a, const float *b, float *y, long long n)\n" \
    "{\n"                                                                                     \
    "    long long first = (blockIdx.x * 128LL + threadIdx.x) * 8;\n"                         \
    "    for (long long i = first; i < first + 8 && i < n; i++)\n"                            \
    "        y[i] = a[i] " what " b[i];\n"                                                    \
    "}\n"

#define SCRIPT(codegen, performance)                         \
    "{\"rules\": [{\"stage\": \"performance\", " performance \
    "}, {\"stage\": \"codegen\", " codegen "}, {\"gold\": true}]}"

static rig *run_it(const char *script, task_spec *spec)
{
    err e = {0};
    char id[128];
    rig *r = rig_create_on("emu", NULL);
    rig_spec(r, problem, mock_id(r, script, id), spec);
    write_gold(r, spec, "coalesced.md", "neighbours read neighbours");
    write_answer(r, "strided.md", STRIDED("+"), launches);
    write_answer(r, "again.md", "// the same\n" STRIDED("+"), launches);
    write_answer(r, "wrong.md", STRIDED("-"), launches);
    write_answer(r, "broken.md", "nonsense", launches);
    assert_ok(rig_run(r, spec, &e), e);
    return r;
}

static void expect_unmeasured(rig *r)
{
    const result_record *result = rig_result(r);
    const stage_record *stage = rig_stage(r, "performance");
    assert_int_equal(result->result, OUTCOME_OK);
    assert_string_equal(result->reason, "not measured on emu");
    assert_null(result->verdict);
    assert_true(isnan(result->speedup) && isnan(result->candidate_ms) &&
                isnan(result->baseline_ms));
    assert_int_equal(stage->measurement_count + stage->comparison_count, 0);
    assert_string_equal(stage->text, "not measured on emu");
}

static modelled_cost cost_of(const stage_record *stage)
{
    modelled_cost cost;
    assert_true(modelled_get_cost(stage->modelled, &cost));
    return cost;
}

static void a_cheaper_candidate_is_kept(void **state)
{
    (void)state;
    task_spec spec SCOPED(task_spec_fini) = {0};
    rig *r = run_it(SCRIPT("\"file\": \"strided.md\"", "\"file\": \"coalesced.md\""), &spec);
    const stage_record *stage = rig_stage(r, "performance");
    modelled_cost before = cost_of(rig_stage(r, "correctness")), after = cost_of(stage);
    expect_unmeasured(r);
    assert_string_equal(stage->status, "passed");
    assert_int_equal(stage->calls, 1);
    assert_false(hash_equal(&stage->source, &rig_stage(r, "correctness")->source));
    assert_true(hash_equal(&stage->source, &stage->attempts[1].source));
    assert_true(after.shapes == before.shapes && after.bytes_min == before.bytes_min);
    assert_true(after.bytes * 2 < before.bytes && after.bytes >= after.bytes_min);
    assert_has(stage->notes, "kept");
    assert_string_equal(rig_result(r)->modelled, stage->modelled);
    assert_string_equal(stage->device_kind, "emu");
    SCOPED(scoped_free) char *prompt = rig_prompt(r, 2);
    assert_has(prompt, "sectors of 32 bytes each");
    assert_has(prompt, "to read and write every tensor once takes");
    rig_destroy(&r);
}

/* The budget is three, but on the emulator one answer is all that is asked for. */
static void what_is_no_cheaper_or_not_correct_or_no_kernel_is_dropped(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        size_t attempts;
        outcome last;
        const char *note;
    } cases[] = {{"\"file\": \"again.md\"", 2, OUTCOME_OK, "the one before stands"},
                 {"\"file\": \"wrong.md\"", 2, OUTCOME_WRONG, "is not correct"},
                 {"\"file\": \"broken.md\"", 1, OUTCOME_COMPILE_FAILED, NULL},
                 {"\"text\": \"no\"", 1, OUTCOME_PARSE_FAILED, NULL},
                 {"\"stop\": \"refused\"", 1, OUTCOME_NO_ANSWER, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        task_spec spec SCOPED(task_spec_fini) = {0};
        SCOPED(scoped_free)
        char *script = xasprintf(SCRIPT("\"file\": \"strided.md\"", "%s"), cases[i].answer);
        rig *r = run_it(script, &spec);
        const stage_record *stage = rig_stage(r, "performance");
        expect_unmeasured(r);
        assert_string_equal(stage->status, "passed");
        assert_int_equal(stage->calls, 1);
        assert_int_equal(stage->attempt_count, cases[i].attempts);
        assert_int_equal(stage->attempts[stage->attempt_count - 1].result, cases[i].last);
        assert_true(hash_equal(&stage->source, &rig_stage(r, "correctness")->source));
        assert_null(stage->modelled);
        if (cases[i].note != NULL) {
            assert_has(stage->notes, cases[i].note);
        }
        rig_destroy(&r);
    }
}

static void nobody_is_asked_where_nothing_can_come_of_it(void **state)
{
    (void)state;
    task_spec spec SCOPED(task_spec_fini) = {0};
    rig *r = run_it(SCRIPT("\"gold\": true", "\"gold\": true"), &spec); /* as few bytes as can be */
    expect_unmeasured(r);
    assert_string_equal(rig_stage(r, "performance")->status, "skipped");
    assert_int_equal(rig_stage(r, "performance")->calls, 0);
    rig_destroy(&r);
    task_spec none SCOPED(task_spec_fini) = {0};
    err e = {0};
    r = rig_create_on("emu", NULL);
    rig_spec(r, "softmax_lastdim_fp16", "gold", &none); /* reads twice: not at its least */
    assert_ok(rig_run(r, &none, &e), e);
    modelled_cost cost = cost_of(rig_stage(r, "correctness"));
    assert_false(modelled_near(&cost));
    assert_int_equal(rig_stage(r, "performance")->calls, 0);
    expect_unmeasured(r);
    rig_destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cheaper_candidate_is_kept),
        cmocka_unit_test(what_is_no_cheaper_or_not_correct_or_no_kernel_is_dropped),
        cmocka_unit_test(nobody_is_asked_where_nothing_can_come_of_it),
    };
    return cmocka_run_group_tests_name("stages/performance_emu", tests, NULL, NULL);
}
