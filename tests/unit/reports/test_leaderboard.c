/* test_leaderboard - Markdown of known databases, byte for byte
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
#include "reports/board.h"
#include "reports/leaderboard.h"
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

static void a_cuda_run_shows_failures_losses_and_nulls_with_reasons(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    expect(f, "run-cuda", leaderboard_write, false, "cuda.md");
    expect(f, "run-cuda", leaderboard_write, true, "cuda-stable.md");
}

static void a_fake_run_shows_outcomes_only(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_fake(f);
    expect(f, "latest", leaderboard_write, false, "fake.md");
}

static void a_partial_run_says_so_and_counts_the_declared(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_partial(f);
    expect(f, "run-p", leaderboard_write, false, "partial.md");
}

static void several_runs_make_one_board(void **state)
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
    leaderboard_write(all, false, &out);
    golden("two-runs.md", buf_text(&out));
}

static void says(fixture *f, const char *run, const char *words, bool wanted)
{
    SCOPED(board_destroy) board *b = read_runs(f, &run, 1);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    leaderboard_write(all, false, &out);
    if ((strstr(buf_text(&out), words) != NULL) != wanted)
        fail_msg("'%s' is %s in %s", words, wanted ? "not" : "", buf_text(&out));
}

/* A run on another card is named, and none of its figures stands beside those of the newest. */
static void a_board_never_mixes_devices(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    fixture_exec(f, "UPDATE task SET device = 'NVIDIA A100' WHERE run = 'run-cuda'");
    const char *const runs[] = {"run-cuda", "run-newer"};
    SCOPED(board_destroy) board *b = read_runs(f, runs, 2);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    leaderboard_write(all, false, &out);
    assert_non_null(strstr(buf_text(&out), "* gold (run-cuda): not of this board: another device: "
                                           "NVIDIA A100; its board: `ce-coord leaderboard "
                                           "run-cuda`\n"));
    assert_null(strstr(buf_text(&out), "| gold (run-cuda) |"));
    assert_non_null(strstr(buf_text(&out), "| mock:two (run-newer) |"));
}

static void the_gemm_track_stands_beside_the_other_speeds(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    says(f, "run-cuda", "gemm", false);
    fixture_exec(f, "UPDATE problem SET category = 'gemm' WHERE id = 'add'");
    says(f, "run-cuda", "Their own geometric means: gold 2.50× (n=1), ", true);
    says(f, "run-cuda", "kernels for CUDA cores", false);
    fixture_exec(f, "UPDATE task SET device_kind = 'emu' WHERE device_kind = 'fake'");
    says(f, "latest", "kernels for CUDA cores", true);
}

/* The same outcomes in another run at another time, on another node. */
static void equal_outcomes_give_equal_stable_bytes(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(fixture_destroy) fixture *g = fixture_create();
    filled_cuda(f);
    filled_cuda(g);
    fixture_exec(g, "UPDATE run SET created_ms = created_ms + 5, finished_ms = finished_ms + 9, "
                    "command = 'other', version = '9', seed = 8; "
                    "UPDATE task SET node = 'other', wall_ms = 77, device_ms = 1, leases = 4, "
                    "device_uuid = 'GPU-2'; UPDATE model_call SET latency_ms = 3");
    static render_fn *const renders[] = {leaderboard_write, json_write, results_csv};
    static const char run[] = "run-cuda";
    const char *const runs[] = {run};
    SCOPED(board_destroy) board *a = read_runs(f, runs, 1);
    SCOPED(board_destroy) board *b = read_runs(g, runs, 1);
    SCOPED(figures_destroy) figures *of_a = figures_create(a);
    SCOPED(figures_destroy) figures *of_b = figures_create(b);
    for (size_t i = 0; i < sizeof renders / sizeof renders[0]; i++) {
        SCOPED(buf_fini) buf one = {0};
        SCOPED(buf_fini) buf two = {0};
        buf_init(&one, MAX);
        buf_init(&two, MAX);
        renders[i](of_a, true, &one);
        renders[i](of_b, true, &two);
        assert_string_equal(buf_text(&one), buf_text(&two));
        buf_clear(&one);
        buf_clear(&two);
        renders[i](of_a, false, &one);
        renders[i](of_b, false, &two);
        assert_string_not_equal(buf_text(&one), buf_text(&two));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cuda_run_shows_failures_losses_and_nulls_with_reasons),
        cmocka_unit_test(a_fake_run_shows_outcomes_only),
        cmocka_unit_test(a_partial_run_says_so_and_counts_the_declared),
        cmocka_unit_test(several_runs_make_one_board),
        cmocka_unit_test(a_board_never_mixes_devices),
        cmocka_unit_test(the_gemm_track_stands_beside_the_other_speeds),
        cmocka_unit_test(equal_outcomes_give_equal_stable_bytes),
    };
    return cmocka_run_group_tests_name("leaderboard", tests, NULL, NULL);
}
