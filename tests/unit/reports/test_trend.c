/* test_trend - points of earlier runs
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
#include "reports/trend.h"
#include "tests/unit/reports/filled.h"

static json *asked(fixture *f, const char *run)
{
    err e = {0};
    SCOPED(buf_fini) buf out;
    buf_init(&out, 1 << 20);
    if (trend_json(f->db, run, &out, &e) < 0)
        fail_msg("%s", e.text);
    json *root = json_parse_tree(buf_text(&out), out.size, "trend", &e);
    assert_non_null(root);
    return root;
}

static void a_first_run_has_no_trend(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(json_destroy) json *root = asked(f, "run-cuda");
    assert_int_equal(json_typeof(json_get(root, "trend")), JSON_TYPE_ARRAY);
    assert_int_equal(json_size(json_get(root, "trend")), 0);
}

/* The run as if it had been a day earlier too: one point an entrant, with the counts of its tasks. */
static void earlier_runs_are_points(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(
        f,
        "CREATE TEMP TABLE r AS SELECT * FROM run WHERE id = 'run-cuda'; "
        "UPDATE r SET id = 'run-before', created_ms = created_ms - 86400000; "
        "INSERT INTO run SELECT * FROM r; DROP TABLE r; "
        "CREATE TEMP TABLE r AS SELECT * FROM problem WHERE run = 'run-cuda'; "
        "UPDATE r SET run = 'run-before'; INSERT INTO problem SELECT * FROM r; DROP TABLE r; "
        "INSERT INTO entrant (run, name, models) SELECT 'run-before', name, models FROM entrant "
        "WHERE run = 'run-cuda'; "
        "CREATE TEMP TABLE t AS SELECT * FROM task WHERE run = 'run-cuda'; "
        "UPDATE t SET id = 'before-' || id, run = 'run-before', entrant = (SELECT id FROM entrant "
        "WHERE run = 'run-before' AND name = (SELECT name FROM entrant WHERE id = t.entrant)); "
        "INSERT INTO task SELECT * FROM t; DROP TABLE t");
    SCOPED(json_destroy) json *root = asked(f, "run-cuda");
    const json *trend = json_get(root, "trend");
    assert_int_equal(json_size(trend), fixture_count(f, "entrant WHERE run = 'run-cuda'"));
    int64_t correct = 0;
    for (size_t i = 0; i < json_size(trend); i++) {
        const json *point = json_at(trend, i);
        correct += json_int(json_get(point, "correct"), -1);
        bool measured = json_int(json_get(point, "measured"), 0) > 0;
        assert_int_equal(json_typeof(json_get(point, "geomean")),
                         measured ? JSON_TYPE_REAL : JSON_TYPE_NULL);
    }
    assert_int_equal(correct, fixture_count(f, "task WHERE run = 'run-before' AND outcome = 'ok' "
                                               "AND kind = 'synthesize'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_run_has_no_trend),
        cmocka_unit_test(earlier_runs_are_points),
    };
    return cmocka_run_group_tests_name("trend", tests, NULL, NULL);
}
