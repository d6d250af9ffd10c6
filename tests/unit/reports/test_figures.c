/* test_figures - one set of figures is what each of its parts is alone
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "reports/figures.h"
#include "tests/unit/reports/filled.h"

static void figures_are_those_of_their_board(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    const char *const run = "run-cuda";
    SCOPED(board_destroy)
    board *b = board_read(f->db, &(board_ask){.runs = &run, .run_count = 1}, NULL);
    SCOPED(agg_list_destroy) agg_list *aggs = agg_list_create(b);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    assert_ptr_equal(all->b, b);
    assert_int_equal(all->aggs->count, b->entrant_count);
    assert_int_equal(all->ranks->count, b->entrant_count);
    assert_int_equal(all->cells->problem_count, b->runs[0].problems.count);
    for (size_t e = 0; e < aggs->count; e++)
        assert_int_equal(all->aggs->rows[e].correct, aggs->rows[e].correct);
    figures_destroy(&all);
    assert_null(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures_are_those_of_their_board)};
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
