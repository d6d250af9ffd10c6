/* test_kernelbench_runs - KernelBench's files of a known run
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/json_doc.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/kernelbench_runs.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 1024 * 1024 };

/* The known run as if its problems were KernelBench's. */
static fixture *filled(void)
{
    fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "PRAGMA defer_foreign_keys = ON;"
                    "UPDATE problem SET id = CASE id WHEN 'add' THEN 'l1_1' WHEN 'sum' THEN 'l1_2' "
                    "WHEN 'scan' THEN 'l2_3' ELSE 'l3_4' END;"
                    "UPDATE task SET problem = CASE problem WHEN 'add' THEN 'l1_1' WHEN 'sum' THEN "
                    "'l1_2' WHEN 'scan' THEN 'l2_3' ELSE 'l3_4' END;");
    return f;
}

static json_doc *read_file(const char *folder, const char *tail)
{
    SCOPED(scoped_free) char *path = file_join(folder, tail);
    SCOPED(buf_fini) buf text;
    buf_init(&text, MAX);
    err e = {0};
    if (file_read(path, &text, &e) < 0)
        fail_msg("%s", e.text);
    json_doc *doc = json_parse(buf_text(&text), text.size, tail, &e);
    if (doc == NULL)
        fail_msg("%s", e.text);
    return doc;
}

static char *written(fixture *f)
{
    char *out = xasprintf("%s/export", f->folder);
    err e = {0};
    if (kernelbench_runs_write(f->db, "run-cuda", out, &e) < 0)
        fail_msg("%s", e.text);
    return out;
}

static void results_are_lists_by_number(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = filled();
    SCOPED(scoped_free) char *out = written(f);
    SCOPED(json_doc_destroy)
    json_doc *doc = read_file(out, "runs/run-cuda_gold_level1/eval_results.json");
    const json *one = json_at(json_get(json_doc_root(doc), "1"), 0);
    assert_int_equal(json_size(json_doc_root(doc)), 2);
    assert_true(json_bool(json_get(one, "correctness"), false));
    assert_true(json_real(json_get(one, "runtime"), -1) > 0);
    assert_int_equal(json_int(json_get(one, "sample_id"), -1), 0);
    assert_string_equal(json_str(json_get(json_get(one, "metadata"), "ce_outcome"), ""), "ok");
}

static void what_failed_has_no_time(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = filled();
    SCOPED(scoped_free) char *out = written(f);
    SCOPED(json_doc_destroy)
    json_doc *doc = read_file(out, "runs/run-cuda_mock_de_mo_level1/eval_results.json");
    const json *wrong = json_at(json_get(json_doc_root(doc), "1"), 0);
    assert_false(json_bool(json_get(wrong, "correctness"), true));
    assert_true(json_real(json_get(wrong, "runtime"), 0) < 0);
    assert_int_equal(json_size(json_get(wrong, "runtime_stats")), 0);
    assert_string_equal(json_str(json_get(json_get(wrong, "metadata"), "ce_outcome"), ""), "wrong");
}

/* gold at level 1: 2.5 and 0.8. */
static void metrics_are_theirs_and_ours(void **state)
{
    (void)state;
    static const struct {
        const char *p;
        double share;
    } rows[] = {{"0.0", 1.0}, {"0.5", 1.0}, {"1.0", 0.5}, {"1.5", 0.5}, {"2.0", 0.5}};
    SCOPED(fixture_destroy) fixture *f = filled();
    SCOPED(scoped_free) char *out = written(f);
    SCOPED(json_doc_destroy)
    json_doc *doc = read_file(out, "runs/run-cuda_gold_level1/analysis.json");
    const json *root = json_doc_root(doc);
    assert_int_equal(json_int(json_get(root, "total_count"), 0), 2);
    assert_int_equal(json_int(json_get(root, "correct_count"), 0), 2);
    assert_true(json_real(json_get(root, "geo_mean_speedup"), 0) > 1.40);
    assert_true(json_real(json_get(root, "geo_mean_speedup"), 0) < 1.43);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double theirs = json_real(json_get(json_get(root, "fast_p"), rows[i].p), -1);
        double ours = json_real(json_get(json_get(root, "ce_fast_p"), rows[i].p), -1);
        assert_true(theirs == rows[i].share && ours == rows[i].share);
    }
}

static void pass_at_k_counts_samples(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = filled();
    SCOPED(scoped_free) char *out = written(f);
    SCOPED(json_doc_destroy)
    json_doc *doc = read_file(out, "runs/run-cuda_mock_de_mo_level1/pass_at_k_results.json");
    const json *root = json_doc_root(doc);
    assert_true(json_real(json_get(json_get(root, "averages"), "avg_pass@1"), -1) == 0.0);
    assert_null(json_get(json_get(root, "averages"), "avg_pass@3"));
    assert_int_equal(json_int(json_get(json_get(root, "metadata"), "total_problems"), 0), 2);
}

static void another_suite_has_no_such_files(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(scoped_free) char *out = xasprintf("%s/export", f->folder);
    filled_cuda(f);
    err e = {0};
    assert_int_equal(kernelbench_runs_write(f->db, "run-cuda", out, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "suite internal"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_lists_by_number),
        cmocka_unit_test(what_failed_has_no_time),
        cmocka_unit_test(metrics_are_theirs_and_ours),
        cmocka_unit_test(pass_at_k_counts_samples),
        cmocka_unit_test(another_suite_has_no_such_files),
    };
    return cmocka_run_group_tests_name("kernelbench_runs", tests, NULL, NULL);
}
