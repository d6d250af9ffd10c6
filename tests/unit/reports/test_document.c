/* test_document - a run in one page: its order, its size, and what strangers write into it
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "reports/report.h"
#include "tests/unit/reports/filled.h"
#include "tests/unit/reports/published.h"

enum { MAX = 4 * 1024 * 1024, PAGE_MAX = 64 * 1024 };

static void page_of(fixture *f, const char *run, const char *against, buf *out)
{
    SCOPED(scoped_free) char *folder = file_join(f->folder, "out");
    SCOPED(scoped_free) char *page = file_join(folder, "report.md");
    const report_ask ask = {.run = run, .against = against};
    err e = {0};
    buf_init(out, MAX);
    if (report_write_all(f->db, &ask, folder, &e) < 0 || file_read(page, out, &e) < 0)
        fail_msg("%s", e.text);
}

/* The hashes below change with every other file; the rest is the page's own. */
static void cut_manifest(buf *page)
{
    char *at = strstr(page->data, "\n## Manifest");
    assert_non_null(at);
    assert_non_null(strstr(at, "Manifest hash: `"));
    *at = '\0';
}

static void a_page_has_everything_in_order(void **state)
{
    (void)state;
    static const char *const order[] = {
        "# Report: ",     "## What changed", "## Entrants", "## Coverage",
        "## Regressions", "## Problems",     "## Plots",    "## Methods and environment",
        "## Cost",        "## Again",        NULL};
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf page = {0};
    page_of(f, PUBLISHED_RUN, "01m8pta5", &page);
    cut_manifest(&page);
    const char *at = buf_text(&page);
    for (size_t i = 0; order[i] != NULL; i++)
        assert_non_null(at = strstr(at, order[i]));
    golden("document.md", buf_text(&page));
}

static void coverage_sums_to_n(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_cuda(f);
    page_of(f, "run-cuda", NULL, &page);
    assert_non_null(strstr(buf_text(&page),
                           "| entrant | N | ok | no_answer | compile_failed | wrong | no end |"));
    assert_non_null(strstr(buf_text(&page), "| gold | 4 | 4 | 0 | 0 | 0 | 0 |"));
    assert_non_null(strstr(buf_text(&page), "| mock:de\\|mo | 4 | 1 | 1 | 1 | 1 | 0 |"));
    assert_non_null(strstr(buf_text(&page), "Not looked for."));
}

static void a_verdict_stands_beside_its_interval(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    SCOPED(buf_fini) buf plain = {0};
    filled_cuda(f);
    page_of(f, "run-cuda", NULL, &plain);
    assert_non_null(
        strstr(buf_text(&plain), "| add | gold | ok | 2.50× [2.475, 2.525] | faster |"));
    assert_non_null(
        strstr(buf_text(&plain), "| sum | gold | ok | 0.80× [0.792, 0.808] | slower |"));
    assert_null(strstr(buf_text(&plain), "is an answer too"));
    fixture_exec(f,
                 "UPDATE task SET verdict = 'inconclusive', verdict_reason = 'interval', speedup "
                 "= 1.01, ci_low = 1.005, ci_high = 1.015 WHERE problem = 'norm' AND speedup "
                 "IS NOT NULL");
    page_of(f, "run-cuda", NULL, &page);
    assert_non_null(strstr(buf_text(&page), "| norm | gold | ok | 1.01× [1.005, 1.015] | "
                                            "inconclusive(interval) |"));
    assert_non_null(strstr(buf_text(&page), "`inconclusive` is an answer too"));
}

static void verdicts_of_several_samples_are_counted(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_partial(f);
    page_of(f, "run-part", NULL, &page);
    assert_non_null(strstr(buf_text(&page), "| add | gold | 1 of 3 | 1.50× | 1 faster |"));
}

static void tasks_without_an_end_are_counted(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_partial(f);
    page_of(f, "run-part", NULL, &page);
    assert_non_null(strstr(buf_text(&page), "| gold | 3 | 1 | 2 |"));
    assert_non_null(strstr(buf_text(&page), "**interrupted, not ranked**: 1 of 3 tasks"));
}

static void a_page_has_a_limit(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf page = {0};
    /* 400 more entrants with long names, each with the tasks of gold */
    fixture_exec(
        f,
        "CREATE TEMP TABLE n (i INTEGER); WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
        "FROM c WHERE i < 400) INSERT INTO n SELECT i FROM c;"
        "INSERT INTO entrant (id, run, name, models) SELECT 1000 + i, (SELECT id FROM run WHERE id "
        "LIKE '" PUBLISHED_RUN "%'), printf('%0300d', i), '{}' FROM n;"
        "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, outcome, reason) "
        "SELECT printf('t%d-%s', i, t.id), run, kind, problem, 1000 + i, sample, spec, 'done', "
        "'wrong', 'wrong' FROM n, task t WHERE t.run LIKE '" PUBLISHED_RUN
        "%' AND t.kind = 'synthesize'");
    page_of(f, PUBLISHED_RUN, NULL, &page);
    assert_true(page.size <= PAGE_MAX);
    assert_non_null(strstr(buf_text(&page), "more lines: [leaderboard.md]"));
    assert_non_null(strstr(buf_text(&page), "Manifest hash: `"));
    cut_manifest(&page);
    assert_non_null(strstr(buf_text(&page), "</details>"));
}

static void strangers_write_no_markup(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf page = {0};
    fixture_exec(
        f, "UPDATE entrant SET name = '<script>alert(1)</script>|[x](y)' || char(10) || '# big'");
    fixture_exec(
        f,
        "UPDATE run SET suite = 'a' || char(10) || '```' || char(10) || '<img src=x>', command = "
        "'ce-coord ``` <b>'");
    fixture_exec(
        f, "UPDATE run SET settings = json_object('suites', json_array(json_object('name', 'x' || "
           "char(10) || '```' || char(10) || '<b>')))");
    page_of(f, PUBLISHED_RUN, NULL, &page);
    static const char *const never[] = {"<script", "<img", "\n# big",
                                        "[x](y)",  "|[x",  "\n```\n<b>"};
    char *code = strstr(page.data, "```sh");
    assert_non_null(code);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        const char *at = strstr(buf_text(&page), never[i]);
        if (at != NULL && at[-1] != '\\' && at < code)
            fail_msg("%s: %.60s", never[i], at);
    }
    char *end = strstr(code + 5, "```");
    assert_non_null(end);
    assert_memory_equal(end, "```\n\n## Manifest", 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_everything_in_order),
        cmocka_unit_test(coverage_sums_to_n),
        cmocka_unit_test(a_verdict_stands_beside_its_interval),
        cmocka_unit_test(verdicts_of_several_samples_are_counted),
        cmocka_unit_test(tasks_without_an_end_are_counted),
        cmocka_unit_test(a_page_has_a_limit),
        cmocka_unit_test(strangers_write_no_markup),
    };
    return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
