/* test_report - all files of a run, byte-identical when repeated; the plot and life without gnuplot
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/report.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 4 * 1024 * 1024 };

static const char *const names[] = {
    "report.md",    "leaderboard.html", "entrants.json", "leaderboard.md",
    "results.json", "results.csv",      "speedup.dat",   "fast_p.dat",
    "heatmap.dat",  "failures.dat",     "cost.dat",      "speedup.svg",
    "fast_p.svg",   "heatmap.svg",      "failures.svg",  "cost.svg"};
enum { WITHOUT_GNUPLOT = 11 }; /* the first of them */

static bool have_gnuplot(void)
{
    return file_exists("/usr/bin/gnuplot") || file_exists("/usr/local/bin/gnuplot");
}

static void read_all(const char *folder, const char *name, buf *out)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    err e = {0};
    buf_init(out, MAX);
    if (file_read(path, out, &e) < 0)
        fail_msg("%s", e.text);
}

static void write_to(fixture *f, const char *run, const char *folder)
{
    err e = {0};
    if (report_write_all(f->db, &(report_ask){.run = run}, folder, &e) < 0)
        fail_msg("%s", e.text);
}

static void drawing_again_gives_the_same_bytes(void **state)
{
    (void)state;
    if (!have_gnuplot())
        skip();
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(scoped_free) char *first = file_join(f->folder, "a/first");
    SCOPED(scoped_free) char *second = file_join(f->folder, "second");
    write_to(f, "run-cuda", first);
    fixture_reopen(f);
    write_to(f, "run-cuda", second);
    write_to(f, "run-cuda", second);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SCOPED(buf_fini) buf one = {0};
        SCOPED(buf_fini) buf two = {0};
        read_all(first, names[i], &one);
        read_all(second, names[i], &two);
        assert_int_equal(one.size, two.size);
        assert_memory_equal(one.data, two.data, one.size);
    }
}

static void without_gnuplot_everything_else_is_written(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(scoped_free) char *folder = file_join(f->folder, "out");
    SCOPED(scoped_free) char *svg = file_join(folder, "speedup.svg");
    assert_int_equal(file_mkdirs(folder, NULL), 0);
    assert_int_equal(file_write(svg, "stale", 5, NULL), 0);
    SCOPED(scoped_free) char *path = xstrdup(getenv("PATH"));
    setenv("PATH", f->folder, 1);
    write_to(f, "run-cuda", folder);
    setenv("PATH", path, 1);
    for (size_t i = 0; i < WITHOUT_GNUPLOT; i++) {
        SCOPED(scoped_free) char *file = file_join(folder, names[i]);
        assert_true(file_exists(file));
    }
    assert_false(file_exists(svg)); /* a plot of other data would contradict the table */
}

static void unknown_runs_and_unwritable_places_are_errors(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    err e = {0};
    assert_int_equal(report_write_all(f->db, &(report_ask){.run = "nope"}, f->folder, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    SCOPED(scoped_free) char *under_a_file = file_join(f->path, "x");
    assert_int_equal(report_write_all(f->db, &(report_ask){.run = "run-cuda"}, under_a_file, &e),
                     -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawing_again_gives_the_same_bytes),
        cmocka_unit_test(without_gnuplot_everything_else_is_written),
        cmocka_unit_test(unknown_runs_and_unwritable_places_are_errors),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
