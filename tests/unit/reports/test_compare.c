/* test_compare - entrants side by side over what they share
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
#include "reports/compare.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 1024 * 1024 };

static const claim_list none_claimed;
static const char *const both[] = {"run-cuda", "run-newer"};

static board *read_runs(fixture *f, const char *const *runs, size_t count)
{
    err e = {0};
    board *b = board_read(f->db, &(board_ask){.runs = runs, .run_count = count}, &e);
    if (b == NULL)
        fail_msg("%s", e.text);
    return b;
}

static void wins_ties_and_nobodies_are_told_apart(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    SCOPED(board_destroy) board *b = read_runs(f, both, 2);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    err e = {0};
    assert_int_equal(compare_markdown(b, &none_claimed, &out, &e), 0);
    golden("compare.md", buf_text(&out));
    buf_clear(&out);
    assert_int_equal(compare_json(b, &none_claimed, &out, &e), 0);
    golden("compare.json", buf_text(&out));
}

static void the_gemm_track_is_left_out_of_means(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    fixture_exec(f, "UPDATE problem SET category = 'gemm'");
    SCOPED(board_destroy) board *b = read_runs(f, both, 2);
    assert_int_equal(compare_markdown(b, &none_claimed, &out, NULL), 0);
    assert_non_null(strstr(buf_text(&out), "`gemm` are left out of median and geomean"));
    assert_non_null(strstr(buf_text(&out), " – | – (n=0) | "));
    char *kinds = strstr(out.data, "## By category"); /* where they have a row of their own */
    assert_non_null(kinds);
    assert_non_null(strstr(strstr(kinds, "## By dtype"), " – (n=0) |"));
    assert_null(strstr(strstr(kinds, "## By dtype"), " (n=1) |"));
    *kinds = '\0';
    assert_null(strstr(buf_text(&out), " (n=1) |"));
}

static void other_contracts_are_not_common(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    fixture_exec(
        f, "UPDATE problem SET contract_hash = printf('%064d', 1) WHERE run = 'run-newer' AND "
           "id <> 'sum'");
    SCOPED(board_destroy) board *b = read_runs(f, both, 2);
    assert_int_equal(compare_markdown(b, &none_claimed, &out, NULL), 0);
    assert_non_null(strstr(buf_text(&out), "1 common problems"));
    assert_null(strstr(buf_text(&out), "| norm |"));
    fixture_exec(f,
                 "UPDATE problem SET contract_hash = printf('%064d', 1) WHERE run = 'run-newer'");
    SCOPED(board_destroy) board *none = read_runs(f, both, 2);
    err e = {0};
    assert_int_equal(compare_markdown(none, &none_claimed, &out, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
}

static void speeds_of_different_devices_decide_nothing(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    fixture_exec(f, "UPDATE task SET device = 'NVIDIA A100' WHERE run = 'run-newer'");
    SCOPED(board_destroy) board *b = read_runs(f, both, 2);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    assert_int_equal(compare_markdown(b, &none_claimed, &out, NULL), 0);
    assert_non_null(
        strstr(buf_text(&out), "speeds decide nothing here: the runs used different devices"));
    assert_non_null(strstr(buf_text(&out), "| 1/1, 1.10× | 0/1, – | 1/1, 0.90× | undecided |"));
}

static void one_entrant_is_no_comparison(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_newer(f);
    SCOPED(board_destroy) board *b = read_runs(f, both + 1, 1);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    err e = {0};
    assert_int_equal(compare_markdown(b, &none_claimed, &out, &e), -1);
    assert_string_equal(e.text, "a comparison needs two entrants, and there is mock:two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wins_ties_and_nobodies_are_told_apart),
        cmocka_unit_test(the_gemm_track_is_left_out_of_means),
        cmocka_unit_test(other_contracts_are_not_common),
        cmocka_unit_test(speeds_of_different_devices_decide_nothing),
        cmocka_unit_test(one_entrant_is_no_comparison),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
