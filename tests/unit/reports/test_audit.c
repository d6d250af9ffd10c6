/* test_audit - a published run is consistent; each lie in its rows is found
 *
 * Modules: retime
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
#include "common/xalloc.h"
#include "reports/audit.h"
#include "reports/retime.h"
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
        {"UPDATE task SET lineage = '[]' WHERE id = " TASK, "no stage of it told this lineage"},
        {"UPDATE task SET profile = '{}' WHERE id = " TASK, "no stage of it told this profile"},
        {"UPDATE task SET modelled = '{}' WHERE id = " TASK, "no stage of it told this modelled"},
        {"UPDATE task SET sanitizer = 'clean' WHERE id = " TASK,
         "no stage of it told this sanitizer"},
        {"UPDATE run SET seed = 5", "the node was given another run or seed"},
        {"UPDATE entrant SET models = '{\"codegen\":\"golden\"}'",
         "stage codegen was given to gold, not to golden"},
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

/* Ten pairs of five processes: the candidate takes 0.5 ms, the baseline about 0.8. */
static char *pairs_text(void)
{
    buf text;
    buf_init(&text, TEXT_MAX);
    buf_puts(&text, "{\"margin\":0.01,\"seed\":7,\"pairs\":[");
    for (int i = 0; i < 10; i++)
        buf_printf(&text,
                   "%s{\"process\":%d,\"void\":null,\"baseline\":{\"ms\":[0.9,%.3f,0.7]},"
                   "\"candidate\":{\"ms\":[0.5,0.4,0.6]}}",
                   i > 0 ? "," : "", i / 2, 0.8 + 0.001 * (i * 7 % 10));
    buf_puts(&text, ",{\"process\":4,\"void\":\"throttle\",\"baseline\":{\"ms\":[9]},"
                    "\"candidate\":{\"ms\":[1]}}]}");
    return buf_take(&text);
}

static void a_comparison_is_judged_again(void **state)
{
    (void)state;
    retime again;
    SCOPED(scoped_free) char *text = pairs_text();
    SCOPED(json_destroy) json *raw = json_parse_tree(text, strlen(text), "raw", NULL);
    SCOPED(json_destroy) json *none = json_new_object();
    assert_true(retime_read(raw, &again));
    assert_int_equal(again.pairs, 10);
    assert_int_equal(again.voids, 1);
    assert_true(again.candidate_ms == 0.5 && again.verdict == PAIRED_FASTER);
    assert_true(again.low > 1.59 && again.low < again.speedup && again.speedup < again.high);
    assert_false(retime_read(none, &again));
}

static void each_lie_in_a_comparison_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *set, *says;
    } cases[] = {
        {"id = id", NULL},
        {"verdict = 'same'", "the verdict is same, but the pairs give faster"},
        {"verdict = 'inconclusive', reason = 'throttle'", NULL},
        {"verdict = 'impossible', reason = 'floor'", "impossible at 0.5 ms, with a floor of nan"},
        {"floor_ms = 0.6", "faster at 0.5 ms, with a floor of 0.6 ms"},
        {"verdict = 'impossible', reason = 'floor', floor_ms = 0.6", NULL},
        {"speedup = 3", "speedup of a comparison is 3, but its pairs give 1.6"},
        {"ci_low = 1.7, ci_high = 1.8", "ci_low of a comparison is 1.7, but"},
        {"candidate_ms = 0.4", "candidate_ms of a comparison is 0.4, but"},
        {"pairs = 40", "pairs of a comparison is 40, but"},
        {"margin = 0.001", "margin of a comparison is 0.001, but"},
    };
    retime r;
    SCOPED(scoped_free) char *text = pairs_text();
    SCOPED(json_destroy) json *raw = json_parse_tree(text, strlen(text), "raw", NULL);
    assert_true(retime_read(raw, &r));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(fixture_destroy) fixture *f = published_create();
        SCOPED(buf_fini) buf findings = {0};
        char hex[HASH_HEX];
        const hash name = fixture_text(f, text);
        hash_hex(&name, hex);
        SCOPED(scoped_free)
        char *sql = xasprintf(
            "INSERT INTO comparison (task, stage, purpose, verdict, baseline_mode, timing_mode, "
            "slots, "
            "pairs, processes, voids, speedup, ci_low, ci_high, margin, calibrated, candidate_ms, "
            "baseline_ms, raw) SELECT %s, 'performance', 'estimate', 'faster', 'eager', 'E', 2, "
            "10, 5, "
            "1, %.17g, %.17g, %.17g, 0.01, 1, %.17g, %.17g, '%s'; UPDATE comparison SET %s",
            TASK, r.speedup, r.low, r.high, r.candidate_ms, r.baseline_ms, hex, cases[i].set);
        fixture_exec(f, sql);
        const audit_counts counts = audit_of(f, &findings);
        assert_int_equal(counts.comparisons, 1);
        bool told = cases[i].says != NULL ? strstr(buf_text(&findings), cases[i].says) != NULL
                                          : counts.findings == 0;
        if (!told)
            fail_msg("%s: %s", cases[i].set, buf_text(&findings));
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
        cmocka_unit_test(a_comparison_is_judged_again),
        cmocka_unit_test(each_lie_in_a_comparison_is_found),
        cmocka_unit_test(what_is_kept_back_is_counted),
        cmocka_unit_test(an_unknown_run_is_an_error),
    };
    return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
