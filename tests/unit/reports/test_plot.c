/* test_plot - the pictures: what they show, what they say to those who cannot see them, and that foreign
 * names cannot speak to gnuplot
 *
 * Modules: gnuplot plot_data
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
#include "store/history.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 4 * 1024 * 1024 };

static bool have_gnuplot(void)
{
    return file_exists("/usr/bin/gnuplot") || file_exists("/usr/local/bin/gnuplot");
}

static board *read_run(fixture *f, const char *run)
{
    const board_ask ask = {.runs = &run, .run_count = 1};
    board *b = board_read(f->db, &ask, NULL);
    assert_non_null(b);
    return b;
}

static const plot *find(const char *name)
{
    for (size_t i = 0; i < PLOT_COUNT; i++)
        if (strcmp(plots[i].name, name) == 0)
            return &plots[i];
    fail_msg("no plot %s", name);
    return NULL;
}

static void put_data(const board *b, const plot *which, buf *out)
{
    SCOPED(figures_destroy) figures *all = figures_create(b);
    const plot_input in = {.f = all};
    which->data(&in, out);
}

static void draw(const board *b, const plot *which, buf *svg)
{
    SCOPED(buf_fini) buf data = {0};
    buf_init(&data, MAX);
    buf_init(svg, MAX);
    err e = {0};
    put_data(b, which, &data);
    if (plot_draw(which, &data, false, svg, &e) < 0)
        fail_msg("%s: %s", which->name, e.text);
}

static void plots_show_what_they_promise(void **state)
{
    (void)state;
    static const struct {
        const char *run, *plot, *part;
    } rows[] = {
        {"run-cuda", "speedup", "2.50×"},
        {"run-cuda", "speedup", "0.80×"},
        {"run-cuda", "speedup", "wrong(unwritten)"},
        {"run-cuda", "speedup", "ok, not measured"},
        {"run-cuda", "speedup", "ce-timing-1, provisional"},
        {"run-cuda", "speedup", "viewBox=\"0 0 480 "},
        {"run-fake", "speedup", "crashed"},
        {"run-cuda", "fast_p", "gold"},
        {"run-fake", "fast_p", "nothing was measured"},
        {"run-cuda", "heatmap", "2.50×"},
        {"run-cuda", "heatmap", "hatched: incorrect"},
        {"run-cuda", "failures", "correctness"},
        {"run-cuda", "failures", "mock:de|mo"},
        {"run-cuda", "cost", "cost of all tasks"},
        {"run-cuda", "roofline", "best baseline"},
        {"run-fake", "roofline", "no time with a known limit"},
        {"run-cuda", "gain", "tasks solved after so many tries"},
        {"run-fake", "gain", "no speed was measured"},
        {"run-cuda", "trend", "one night is no trend"},
        {"run-fake", "trend", "no speed was measured"},
        {"run-fake", "heatmap", "gold"},
        {"run-fake", "failures", "gold"},
        {"run-fake", "cost", "gold"},
    };
    if (!have_gnuplot())
        skip();
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(board_destroy) board *b = read_run(f, rows[i].run);
        SCOPED(buf_fini) buf svg = {0};
        draw(b, find(rows[i].plot), &svg);
        if (strstr(buf_text(&svg), rows[i].part) == NULL)
            fail_msg("no %s in %s of %s", rows[i].part, rows[i].plot, rows[i].run);
        assert_null(strstr(buf_text(&svg), "nan"));
    }
}

static void plots_have_words_and_dark_colours(void **state)
{
    (void)state;
    if (!have_gnuplot())
        skip();
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_run(f, "run-cuda");
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        SCOPED(buf_fini) buf svg = {0};
        draw(b, &plots[i], &svg);
        const char *text = buf_text(&svg);
        assert_non_null(strstr(text, "prefers-color-scheme: dark"));
        assert_non_null(strstr(text, plots[i].alt));
        assert_true(strstr(text, plots[i].alt) > strstr(text, "<svg"));
        assert_null(strpbrk(plots[i].alt, "<>&"));
    }
}

static void the_data_are_as_expected(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_run(f, "run-cuda");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        buf_printf(&out, "# %s\n", plots[i].name);
        put_data(b, &plots[i], &out);
    }
    golden("cuda.dat", buf_text(&out));
}

static void an_unknown_cost_is_said_and_makes_no_point(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_run(f, "run-cuda");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    put_data(b, find("cost"), &out);
    assert_non_null(strstr(buf_text(&out), "unknown = \"mock:de|mo\""));
    assert_non_null(strstr(buf_text(&out), "\n1 "));
    assert_null(strstr(buf_text(&out), "\n2 "));
}

/* An earlier night of the same device is drawn, with what its own tasks say. */
static void earlier_nights_stand_left_of_this_one(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_run(f, "run-cuda");
    char gold[] = "gold", other[] = "nobody here";
    history_row rows[] = {{.entrant = gold,
                           .created_ms = 1000000,
                           .declared = 4,
                           .correct = 2,
                           .measured = 1,
                           .ln_sum = 0},
                          {.entrant = other, .created_ms = 1000000, .declared = 4, .correct = 1}};
    const history_list earlier = {rows, 2};
    SCOPED(figures_destroy) figures *all = figures_create(b);
    const plot_input in = {all, &earlier};
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    find("trend")->data(&in, &out);
    assert_non_null(strstr(buf_text(&out), "$nights1 << EOD\n1000.000 50 "));
    assert_non_null(strstr(buf_text(&out), " 1 1 1\n")); /* one speed: no width */
    assert_non_null(strstr(buf_text(&out), "first = 1000\n"));
    assert_non_null(strstr(buf_text(&out), "alone = 0\n"));
    assert_null(strstr(buf_text(&out), "1000.000 25 "));
}

static void a_picture_may_be_png(void **state)
{
    (void)state;
    if (!have_gnuplot())
        skip();
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy) board *b = read_run(f, "run-cuda");
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        SCOPED(buf_fini) buf data = {0};
        SCOPED(buf_fini) buf png = {0};
        err e = {0};
        buf_init(&data, MAX);
        buf_init(&png, MAX);
        put_data(b, &plots[i], &data);
        if (plot_draw(&plots[i], &data, true, &png, &e) < 0)
            fail_msg("%s: %s", plots[i].name, e.text);
        assert_memory_equal(png.data, "\x89PNG\r\n\x1a\n", 8);
    }
}

static void names_cannot_speak_to_gnuplot(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(
        f, "UPDATE entrant SET name = 'a\"]; system(`touch x`) # @b \\n' WHERE name = 'gold'");
    SCOPED(board_destroy) board *b = read_run(f, "run-cuda");
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        put_data(b, &plots[i], &out);
        assert_non_null(
            strstr(buf_text(&out), "[\"a_]; system(_touch x_) # _b _n\", \"mock:de|mo\"]"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plots_show_what_they_promise),
        cmocka_unit_test(plots_have_words_and_dark_colours),
        cmocka_unit_test(the_data_are_as_expected),
        cmocka_unit_test(an_unknown_cost_is_said_and_makes_no_point),
        cmocka_unit_test(earlier_nights_stand_left_of_this_one),
        cmocka_unit_test(a_picture_may_be_png),
        cmocka_unit_test(names_cannot_speak_to_gnuplot),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
