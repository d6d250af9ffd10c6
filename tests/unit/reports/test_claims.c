/* test_claims - files of other programs: what is read of them, and what is refused where
 *
 * Modules: import_cuda_engine import_ce import_kernelbench import_hotkernel
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "reports/board.h"
#include "reports/claims.h"
#include "reports/results.h"
#include "tests/unit/reports/filled.h"

#define DATA CE_SOURCE_DIR "/tests/data/claims"

typedef struct wanted {
    const char *entrant, *problem;
    int64_t sample;
    bool correct;
    double speedup; /* 0: none */
    const char *detail, *reason, *device;
} wanted;

static void same_text(const char *got, const char *want)
{
    if (want == NULL)
        assert_null(got);
    else
        assert_string_equal(got, want);
}

static void expect_rows(const claims *found, const char *format, const wanted *rows, size_t n)
{
    assert_int_equal(found->count, n);
    for (size_t i = 0; i < n; i++) {
        const claim_row *got = &found->rows[i];
        assert_string_equal(got->format, format);
        assert_string_equal(got->entrant, rows[i].entrant);
        assert_string_equal(got->problem, rows[i].problem);
        assert_int_equal(got->sample, rows[i].sample);
        assert_int_equal(got->correct, rows[i].correct);
        assert_true(rows[i].speedup > 0 ? fabs(got->speedup - rows[i].speedup) < 1e-9
                                        : isnan(got->speedup));
        same_text(got->detail, rows[i].detail);
        same_text(got->reason, rows[i].reason);
        same_text(got->device, rows[i].device);
    }
}

static claims *load(const char *path)
{
    err e = {0};
    claims *found = claims_create();
    if (claims_load(found, path, NULL, &e) < 0)
        fail_msg("%s", e.text);
    return found;
}

static void a_csv_of_the_predecessor_is_read(void **state)
{
    (void)state;
    static const char a[] = "anthropic:model-a", b[] = "openai:model-b";
    static const wanted rows[] = {
        {a, "vector_add_fp32", 0, true, 0.98, NULL, NULL, NULL},
        {a, "silu_fp16", 0, true, 1.07, NULL, NULL, NULL},
        {a, "gelu_fp16", 0, false, 0, "stage_failure", "it did not pass there", NULL},
        {a, "topk_fp32", 0, true, 0, NULL, "no baseline ran there", NULL},
        {b, "vector_add_fp32", 0, true, 1.2, NULL, NULL, NULL},
        {b, "silu_fp16", 0, false, 0, "external_error", "it did not pass there", NULL},
        {"(unspecified)", "gelu_fp16", 0, true, 1.3, NULL, NULL, NULL}};
    SCOPED(claims_destroy) claims *file = load(DATA "/results.csv");
    expect_rows(file, "cuda-engine", rows, sizeof rows / sizeof rows[0]);
    SCOPED(claims_destroy) claims *folder = load(DATA);
    assert_int_equal(folder->count, file->count);
    assert_true(hash_equal(&folder->rows[0].content, &file->rows[0].content));
}

static void results_of_kernelbench_are_read_in_both_forms(void **state)
{
    (void)state;
    static const char h100[] = "NVIDIA H100", no_time[] = "the file has no time of the reference",
                      wrong[] = "it was not correct there";
    static const wanted rows[] = {
        {"some-model", "problem 1", 0, true, 0, NULL, no_time, h100},
        {"some-model", "problem 1", 1, false, 0, "Output mismatch", wrong, h100},
        {"some-model", "problem 2", 0, false, 0, "RuntimeError", wrong, NULL},
        {"some-model", "problem 10", 0, true, 1.5, NULL, NULL, NULL}};
    SCOPED(claims_destroy) claims *found = load(DATA "/some-model");
    expect_rows(found, "kernelbench", rows, sizeof rows / sizeof rows[0]);
    assert_true(found->rows[0].candidate_ms == 0.5 && isnan(found->rows[0].baseline_ms));
    assert_true(isnan(found->rows[1].candidate_ms)); /* a runtime of -1 is none */
}

static void results_of_hotkernel_are_read(void **state)
{
    (void)state;
    static const wanted rows[] = {
        {"somebody", "softmax", 0, true, 1.2, "faster", NULL, "RTX 5090"},
        {"somebody", "softmax", 0, false, 0, "incorrect", "it was not correct there", "RTX 5090"}};
    SCOPED(claims_destroy) claims *found = load(DATA "/hotkernel");
    expect_rows(found, "hotkernel", rows, sizeof rows / sizeof rows[0]);
}

/* A CSV that this program wrote elsewhere. */
static void a_csv_of_ce_is_read_back(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, 1024 * 1024);
    filled_cuda(f);
    SCOPED(board_destroy)
    board *b =
        board_read(f->db, &(board_ask){.runs = &(const char *){"run-cuda"}, .run_count = 1}, NULL);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    results_csv(all, false, &text);
    err e = {0};
    SCOPED(claims_destroy) claims *found = claims_create();
    if (claims_read(found, "ce-runs/x/results.csv", NULL, text.data, text.size, &e) < 0)
        fail_msg("%s", e.text);
    assert_int_equal(found->count, 8);
    assert_string_equal(found->rows[0].format, "ce");
    assert_string_equal(found->rows[1].entrant, "mock:de|mo");
    assert_string_equal(found->rows[1].detail, "wrong");
    assert_true(fabs(found->rows[0].speedup - 2.5) < 1e-9);
    assert_string_equal(found->rows[4].reason, "no baseline ran: out of memory");
}

static void what_cannot_be_is_refused_with_its_place(void **state)
{
    (void)state;
#define CE "kernel,passed,failure_kind,speedup_vs_torch_compile,baseline_status,model_id\n"
#define OURS                                                                                \
    "problem,entrant,sample,outcome,speedup,reason,candidate_ms,baseline_ms,baseline_mode," \
    "device\n"
    static const struct {
        const char *path, *text, *says;
    } cases[] = {
        {"x/results.csv", "a,b\n1,2\n", "x/results.csv: no format that is known"},
        {"x/results.csv", "kernel,passed\nk,True\n", "x/results.csv:1: there is no column failure"},
        {"x/results.csv", CE "k,yes,,1,ok,m\n", "x/results.csv:2: passed: want True or False"},
        {"x/results.csv", CE "k,True,,-1,ok,m\n",
         "x/results.csv:2: speedup_vs_torch_compile: want"},
        {"x/results.csv", CE "k,True,,inf,ok,m\n", "want a factor above 0"},
        {"x/results.csv", CE ",True,,1,ok,m\n", "x/results.csv:2: kernel: empty"},
        {"x/results.csv", OURS "a,b,-1,ok,1,,,,,\n", "x/results.csv:2: sample: want a number"},
        {"x/results.csv", OURS "a,b,0,wrong,1,,,,,\n", "only what is correct has a speed"},
        {"x/results.csv", OURS "a,,0,ok,1,,,,,\n", "x/results.csv:2: entrant: empty"},
        {"x/e.json", "{}", "x/e.json: no format that is known"},
        {"x/e.json", "[1]", "x/e.json: no format that is known"},
        {"x/e.json", "{\"1\": [3]}", "/1/0: "},
        {"x/e.json", "{\"1\": 3}", "/1: "},
        {"x/e.json", "{\"1\": {\"compiled\": true}}", "correctness"},
        {"x/e.json", "{\"1\": {\"compiled\": false, \"correctness\": true}}", "does not compile"},
        {"x/e.json", "{\"1\": {\"compiled\": 1, \"correctness\": true}}", "/1/compiled: "},
        {"x/e.json", "{\"verdict\": \"quick\"}", "/verdict: "},
        {"x/e.json", "{\"verdict\": \"faster\", \"speedup\": -2}",
         "/speedup: want a number above 0"},
        {"x/e.json", "{\"verdict\": \"faster\", \"who\": 3}", "/who: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        err e = {0};
        SCOPED(claims_destroy) claims *found = claims_create();
        assert_int_equal(
            claims_read(found, cases[i].path, NULL, cases[i].text, strlen(cases[i].text), &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        if (strstr(e.text, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].text, e.text);
    }
}

static void places_without_results_are_told(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(scoped_free) char *folder = file_join(f->folder, "empty");
    SCOPED(claims_destroy) claims *found = claims_create();
    err e = {0};
    assert_int_equal(file_mkdirs(folder, NULL), 0);
    assert_int_equal(claims_load(found, folder, NULL, &e), -1);
    assert_non_null(strstr(e.text, "holds no results.csv"));
    assert_int_equal(claims_load(found, "/nowhere/at/all", NULL, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_csv_of_the_predecessor_is_read),
        cmocka_unit_test(results_of_kernelbench_are_read_in_both_forms),
        cmocka_unit_test(results_of_hotkernel_are_read),
        cmocka_unit_test(a_csv_of_ce_is_read_back),
        cmocka_unit_test(what_cannot_be_is_refused_with_its_place),
        cmocka_unit_test(places_without_results_are_told),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
