/* test_grid - several samples make one cell
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "reports/grid.h"
#include "tests/unit/reports/filled.h"

static void cells_hold_the_median_of_measured_samples(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_newer(f);
    fixture_exec(f, "UPDATE run SET samples = 3 WHERE id = 'run-cuda'");
    fixture_exec(
        f, "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, outcome, "
           "speedup, device_kind) SELECT id || 'b', run, kind, problem, entrant, 1, spec, state, "
           "outcome, 3.5, device_kind FROM task WHERE id = 'run-cuda-add-gold-0'");
    fixture_exec(
        f, "INSERT INTO task (id, run, kind, problem, entrant, sample, spec, state, outcome, "
           "reason, device_kind) SELECT id || 'c', run, kind, problem, entrant, 2, spec, state, "
           "'wrong', 'not correct', device_kind FROM task WHERE id = 'run-cuda-add-gold-0'");
    const char *const runs[] = {"run-newer", "run-cuda"};
    SCOPED(board_destroy)
    board *b = board_read(f->db, &(board_ask){.runs = runs, .run_count = 2}, NULL);
    SCOPED(grid_destroy) grid *g = grid_create(b);
    assert_int_equal(g->problem_count, 4);
    assert_int_equal(g->entrant_count, 3);
    assert_string_equal(g->problems[2], "scan");
    const grid_cell *gold = grid_at(g, 0, 1);
    assert_int_equal(gold->correct, 2);
    assert_int_equal(gold->measured, 2);
    assert_true(fabs(gold->speedup - 3.0) < 1e-9); /* of 2.5 and 3.5 */
    assert_true(fabs(gold->low - 2.75) < 1e-9 && fabs(gold->high - 3.25) < 1e-9); /* quartiles */
    const grid_cell *lone = grid_at(g, 1, 1);
    assert_int_equal(lone->measured, 1);
    assert_true(lone->low < lone->speedup && lone->speedup < lone->high); /* its interval */
    const grid_cell *unmeasured = grid_at(g, 2, 1);
    assert_int_equal(unmeasured->correct, 1);
    assert_int_equal(unmeasured->measured, 0);
    assert_true(isnan(unmeasured->speedup) && isnan(unmeasured->low));
    assert_true(fabs(grid_at(g, 3, 0)->speedup - 0.9) < 1e-9);
    assert_int_equal(grid_at(g, 3, 2)->correct, 0);
}

static void a_problem_that_an_entrant_lacks_is_an_empty_cell(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_partial(f); /* only problem add */
    const char *const runs[] = {"run-part", "run-cuda"};
    SCOPED(board_destroy)
    board *b = board_read(f->db, &(board_ask){.runs = runs, .run_count = 2}, NULL);
    SCOPED(grid_destroy) grid *g = grid_create(b);
    assert_int_equal(g->problem_count, 4);
    assert_non_null(grid_at(g, 0, 0)->example);
    assert_null(grid_at(g, 1, 0)->example);
    assert_true(isnan(grid_at(g, 1, 0)->speedup));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_the_median_of_measured_samples),
        cmocka_unit_test(a_problem_that_an_entrant_lacks_is_an_empty_cell),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
