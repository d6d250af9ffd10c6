/* test_plot - the speedup plot
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "reports/plot.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 4 * 1024 * 1024 };

static bool have_gnuplot(void)
{
    return file_exists("/usr/bin/gnuplot") || file_exists("/usr/local/bin/gnuplot");
}

static void expect_plot(fixture *f, const char *run, const char *const *parts)
{
    const board_ask ask = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(f->db, &ask, NULL);
    SCOPED(buf_fini) buf svg = {0};
    buf_init(&svg, MAX);
    err e = {0};
    if (plot_speedup(b, &svg, &e) < 0)
        fail_msg("%s", e.text);
    for (; *parts != NULL; parts++)
        if (strstr(buf_text(&svg), *parts) == NULL)
            fail_msg("no %s in the plot", *parts);
    assert_null(strstr(buf_text(&svg), "nan"));
}

static void the_plot_shows_speeds_losses_and_outcomes(void **state)
{
    (void)state;
    if (!have_gnuplot())
        skip();
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    static const char *const cuda[] = {"2.50×",
                                       "0.80×",
                                       "wrong(unwritten)",
                                       "ok, not measured",
                                       "gold",
                                       "uncertified, provisional",
                                       "viewBox=\"0 0 480 ",
                                       NULL};
    static const char *const fake[] = {"ok, not measured", "crashed", "gold", NULL};
    expect_plot(f, "run-cuda", cuda);
    expect_plot(f, "run-fake", fake); /* a plot without any bar is still a plot */
}

static void the_plot_data_are_as_expected(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    const char *run = "run-cuda";
    const board_ask ask = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(f->db, &ask, NULL);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    plot_speedup_data(b, &out);
    golden("cuda.gp", buf_text(&out));
}

static void names_cannot_speak_to_gnuplot(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(
        f, "UPDATE entrant SET name = 'a\"]; system(`touch x`) # @b \\n' WHERE name = 'gold'");
    const char *run = "run-cuda";
    const board_ask ask = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(f->db, &ask, NULL);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    plot_speedup_data(b, &out);
    assert_non_null(strstr(buf_text(&out), "[\"a_]; system(_touch x_) # _b _n\", \"mock:de|mo\"]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plot_shows_speeds_losses_and_outcomes),
        cmocka_unit_test(the_plot_data_are_as_expected),
        cmocka_unit_test(names_cannot_speak_to_gnuplot),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
