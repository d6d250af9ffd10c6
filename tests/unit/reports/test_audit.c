/* test_audit - a published run is consistent; each lie in its rows is found
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "reports/audit.h"
#include "tests/unit/reports/published.h"

enum { TEXT_MAX = 1024 * 1024 };

static audit_counts audit_of(fixture *f, buf *findings)
{
    audit_counts counts;
    err e = {0};
    buf_init(findings, TEXT_MAX);
    if (audit_run(f->db, PUBLISHED_RUN, &counts, findings, &e) < 0)
        fail_msg("%s", e.text);
    return counts;
}

static void a_published_run_is_consistent(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf findings = {0};
    const audit_counts counts = audit_of(f, &findings);
    assert_string_equal(buf_text(&findings), "");
    assert_int_equal(counts.tasks, 8);
    assert_int_equal(counts.speedups, 8);
    assert_int_equal(counts.medians, 23);
    assert_int_equal(counts.stages, 40);
    assert_int_equal(counts.calls, 24);
    assert_int_equal(counts.withheld, 0);
}

#define MINE "run LIKE '" PUBLISHED_RUN "%' AND kind = 'synthesize'"
#define TASK "(SELECT min(id) FROM task WHERE " MINE ")"

static void each_lie_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"UPDATE task SET speedup = 9 WHERE id = " TASK, "speedup 9, but baseline / candidate is"},
        {"UPDATE task SET speedup = speedup * 2, candidate_ms = candidate_ms / 2 WHERE id = " TASK,
         "no measurement of the candidate has a median of"},
        {"UPDATE task SET speedup = speedup * 2, baseline_ms = baseline_ms * 2 WHERE id = " TASK,
         "no winning baseline has a median of"},
        {"UPDATE task SET device_kind = 'fake' WHERE id = " TASK, "a stage of it ran on cuda"},
        {"UPDATE task SET problem = 'sum_reduction_fp32', sample = 7 WHERE id = " TASK,
         "another problem or sample"},
        {"UPDATE task SET outcome = 'wrong', stage = 'correctness', speedup = NULL, reason = 'x' "
         "WHERE id = " TASK,
         "wrong in stage correctness, but the stage says otherwise"},
        {"UPDATE task SET source = plan WHERE id = " TASK, "were never attempted"},
        {"UPDATE stage_result SET outcome = 'wrong' WHERE stage = 'correctness' AND task = " TASK,
         "no correctness stage says so"},
        {"UPDATE stage_result SET wall_ms = 1 WHERE stage = 'polish' AND task = " TASK,
         "polish: wall_ms is 1.0, but the node recorded"},
        {"UPDATE stage_result SET record = (SELECT prompt FROM model_call LIMIT 1) WHERE task "
         "= " TASK,
         "the node recorded no wall_ms, but it is there"},
        {"DELETE FROM attempt WHERE task = " TASK, "rows in attempt, but the node recorded"},
        {"UPDATE attempt SET registers = 1 WHERE task = " TASK, "registers is 1, but"},
        {"UPDATE measurement SET median_ms = 1 WHERE side = 'candidate' AND task = " TASK,
         "the median of plan is 1 ms, but its samples give"},
        {"UPDATE measurement SET sample_count = 7 WHERE task = " TASK, "samples, not 7"},
        {"UPDATE model_call SET tokens_out = 5 WHERE task = " TASK, "tokens_out is 5, but"},
        {"DELETE FROM model_call WHERE stage = 'codegen' AND task = " TASK,
         "model calls, but 0 are there"},
        {"DELETE FROM event WHERE kind = 'done' AND task = " TASK, "its events say otherwise"},
        {"UPDATE entrant SET name = 'my:model'", "given entrant gold, not my:model"},
        {"UPDATE problem SET contract = '{}'", "its contract does not have the hash"},
        {"UPDATE problem SET prompt = reference",
         "prompt of its problem is not what the node was given"},
        {"DELETE FROM task WHERE id = " TASK, "problems × entrants × samples is 8"},
        {"UPDATE run SET samples = 2",
         "8 tasks are there, but problems × entrants × samples is 16"},
        {"UPDATE run SET settings = '{\"entrants\":[{},{}]}'", "but the run was started with 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(fixture_destroy) fixture *f = published_create();
        SCOPED(buf_fini) buf findings = {0};
        fixture_exec(f, cases[i].sql);
        const audit_counts counts = audit_of(f, &findings);
        if (counts.findings == 0 || strstr(buf_text(&findings), cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].sql, buf_text(&findings));
    }
}

static void what_is_kept_back_is_counted(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf findings = {0};
    fixture_exec(f,
                 "UPDATE artifact SET data = x'' WHERE hash IN (SELECT samples FROM measurement)");
    const audit_counts counts = audit_of(f, &findings);
    assert_int_equal(counts.findings, 0);
    assert_int_equal(counts.medians, 0);
    assert_int_equal(counts.withheld, 23);
}

static void an_unknown_run_is_an_error(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf findings = {0};
    audit_counts counts;
    err e = {0};
    buf_init(&findings, TEXT_MAX);
    assert_int_equal(audit_run(f->db, "none", &counts, &findings, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_published_run_is_consistent),
        cmocka_unit_test(each_lie_is_found),
        cmocka_unit_test(what_is_kept_back_is_counted),
        cmocka_unit_test(an_unknown_run_is_an_error),
    };
    return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
