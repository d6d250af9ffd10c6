/* test_strata - kinds of problems: their sums are those of all, and averages are what they say
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
#include "reports/strata.h"
#include "tests/unit/reports/made.h"

enum { MAX = 1024 * 1024 };

static const double strengths[] = {0.6, 0.3};

static strata_ask ask_of(const made *m, const grid *g, size_t *problems)
{
    for (size_t i = 0; i < g->problem_count; i++)
        problems[i] = i;
    return (strata_ask){&m->board, g, problems, g->problem_count};
}

static int64_t sum_of(const json *list, size_t entrant, const char *key)
{
    int64_t sum = 0;
    for (size_t i = 0; i < json_size(list); i++)
        sum += json_int(json_get(json_at(json_get(json_at(list, i), "entrants"), entrant), key), 0);
    return sum;
}

static void strata_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const made_ask wanted = made_ask_of(seed, strengths, 2);
        SCOPED(made_destroy) made *m = made_create(&wanted);
        SCOPED(grid_destroy) grid *g = grid_create(&m->board);
        SCOPED(scoped_free) size_t *problems = xcalloc(g->problem_count, sizeof *problems);
        const strata_ask ask = ask_of(m, g, problems);
        SCOPED(json_destroy) json *root = strata_json(&ask);
        static const char *const kinds[] = {"category", "dtype"};
        static const size_t counts[] = {3, 2}; /* scan, reduction, gemm; f16, f32 */
        for (size_t k = 0; k < 2; k++) {
            const json *list = json_get(root, kinds[k]);
            assert_int_equal(json_size(list), counts[k]);
            for (size_t e = 0; e < 2; e++) {
                int64_t correct = 0, certified = 0;
                for (size_t p = 0; p < g->problem_count; p++) {
                    correct += (int64_t)grid_at(g, p, e)->correct;
                    certified += (int64_t)grid_at(g, p, e)->certified;
                }
                assert_int_equal(sum_of(list, e, "correct"), correct);
                assert_int_equal(sum_of(list, e, "certified"), certified);
                assert_int_equal(sum_of(list, e, "tasks"), 60);
            }
        }
    }
}

static void tables_have_a_row_a_stratum(void **state)
{
    (void)state;
    const made_ask wanted = made_ask_of(1, strengths, 2);
    SCOPED(made_destroy) made *m = made_create(&wanted);
    SCOPED(grid_destroy) grid *g = grid_create(&m->board);
    SCOPED(scoped_free) size_t *problems = xcalloc(g->problem_count, sizeof *problems);
    const strata_ask ask = ask_of(m, g, problems);
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    strata_markdown(&ask, &out);
    assert_non_null(
        strstr(buf_text(&out), "## By category\n\n| category | problems | ada | bea |"));
    assert_non_null(strstr(buf_text(&out), "\n| gemm | 4 | "));
    assert_non_null(strstr(buf_text(&out), "\n| f16 | 10 | "));
    assert_non_null(strstr(buf_text(&out), "| mean of strata / of tasks | |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strata_add_up),
        cmocka_unit_test(tables_have_a_row_a_stratum),
    };
    return cmocka_run_group_tests_name("strata", tests, NULL, NULL);
}
