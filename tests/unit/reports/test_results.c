/* test_results - JSON and CSV of known databases, byte for byte
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "reports/board.h"
#include "reports/results.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 1024 * 1024 };

typedef void render_fn(const figures *f, bool stable, buf *out);

static void json_write(const figures *f, bool stable, buf *out)
{
    assert_int_equal(results_json(f, stable, out, NULL), 0);
}

static board *read_runs(fixture *f, const char *const *runs, size_t count)
{
    const board_ask ask = {.runs = runs, .run_count = count};
    err e = {0};
    board *b = board_read(f->db, &ask, &e);
    if (b == NULL)
        fail_msg("%s", e.text);
    return b;
}

static void expect(fixture *f, const char *run, render_fn *render, bool stable, const char *file)
{
    SCOPED(board_destroy) board *b = read_runs(f, &run, 1);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    render(all, stable, &out);
    golden(file, buf_text(&out));
}

static void json_and_csv_are_as_expected(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    filled_partial(f);
    expect(f, "run-cuda", json_write, false, "cuda.json");
    expect(f, "run-cuda", results_csv, false, "cuda.csv");
    expect(f, "run-fake", results_csv, true, "fake-stable.csv");
    expect(f, "run-part", json_write, true, "partial-stable.json");
}

static const char emulated[] = "UPDATE task SET device_kind = 'emu', correct_protocol = "
                               "'checked/emu', timing_protocol = NULL, "
                               "modelled = '{\"modelled\":true,\"launches\":[{\"kernel\":\"k\"}]}'";

static void counters_and_protocol_of_the_emulator_are_told(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, emulated);
    SCOPED(board_destroy) board *b = read_runs(f, NULL, 0);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    json_write(all, true, &out);
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(buf_text(&out), out.size, "results", &e);
    assert_non_null(doc);
    const json *protocol = json_get(json_get(json_doc_root(doc), "run"), "protocol");
    assert_string_equal(json_str(json_get(protocol, "correctness"), ""), "checked/emu");
    assert_int_equal(json_typeof(json_get(protocol, "timing")), JSON_TYPE_NULL);
    const json *task = json_at(json_get(json_doc_root(doc), "tasks"), 0);
    const json *launches = json_get(json_get(task, "modelled"), "launches");
    assert_string_equal(json_str(json_get(json_at(launches, 0), "kernel"), ""), "k");
}

static void several_runs_stay_one_document(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    const char *const runs[] = {"run-cuda", "run-newer"};
    SCOPED(board_destroy) board *b = read_runs(f, runs, 2);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    json_write(all, false, &out);
    SCOPED(json_destroy)
    json *root = json_parse_tree(buf_text(&out), out.size, "results.json", NULL);
    assert_non_null(root); /* written piece by piece: still one document */
    assert_int_equal(json_size(json_get(root, "runs")), 2);
    assert_int_equal(json_size(json_get(root, "entrants")), 3);
    assert_int_equal(json_size(json_get(root, "tasks")), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_csv_are_as_expected),
        cmocka_unit_test(counters_and_protocol_of_the_emulator_are_told),
        cmocka_unit_test(several_runs_stay_one_document),
    };
    return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
