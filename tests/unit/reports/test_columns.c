/* test_columns - cells of a known board, and columns that a stable board leaves out
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
#include "reports/columns.h"
#include "reports/figures.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 4096, NARROW = 9 };

static const columns_column *column_of(columns_id id, const char *name)
{
    for (const columns_column *c = columns_tables[id].columns; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    fail_msg("no column %s", name);
    return NULL;
}

static void cells_say_what_is_known(void **state)
{
    (void)state;
    static const struct {
        columns_id table;
        const char *column;
        size_t entrant;
        const char *want;
    } cases[] = {
        {COLUMNS_RANKS, "rank", 0, "human"},
        {COLUMNS_RANKS, "rank", 1, "1 [1–1]"},
        {COLUMNS_RANKS, "certified fast_1", 0, "50.0 % [15.0, 85.0]"},
        {COLUMNS_RANKS, "correct", 1, "25.0 % [4.6, 69.9]"},
        {COLUMNS_SPEED, "coverage", 1, "1/4"},
        {COLUMNS_SPEED, "geomean over own", 1, "1.60× (n=1)"},
        {COLUMNS_FAST, "p = 1.5", 0, "25.0 % (25.0 %)"},
        {COLUMNS_PASS, "pass@1", 1, "25.0 %"},
        {COLUMNS_PASS, "pass@5", 1, "– (n=1 < 5)"},
        {COLUMNS_COST, "cost", 1, "$0.1400 + 1 unknown"},
        {COLUMNS_COST, "per certified win", 1, "≥ $0.1400"},
        {COLUMNS_COST, "tokens in / cache read / cache write / out", 1,
         "10,000 / 2,000 / 0 / 4,500 (unknown for 1)"},
        {COLUMNS_EFFORT, "attempts", 1, "6"},
        {COLUMNS_EFFORT, "model time a task, median / 95 %", 0, "–"},
        {COLUMNS_EFFORT, "model time a task, median / 95 %", 1, "3.8 s / 5.8 s"},
        {COLUMNS_CHECKS, "hidden run", 1, "1 passed, 0 failed"},
        {COLUMNS_CHECKS, "sanitizer", 0, "not run"},
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(board_destroy)
    board *b =
        board_read(f->db, &(board_ask){.runs = &(const char *){"run-cuda"}, .run_count = 1}, NULL);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    const columns_view v = {b, all->aggs, all->ranks, false};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        column_of(cases[i].table, cases[i].column)->put(&v, cases[i].entrant, &out);
        assert_string_equal(buf_text(&out), cases[i].want);
    }
}

static void tables_are_narrow_and_stable_ones_tell_no_durations(void **state)
{
    (void)state;
    const columns_view stable = {.stable = true};
    size_t hidden = 0;
    for (size_t t = 0; t < COLUMNS_COUNT; t++) {
        size_t count = 0;
        for (const columns_column *c = columns_tables[t].columns; c->name != NULL; c++) {
            count++;
            hidden += columns_is_shown(&stable, c) ? 0 : 1;
        }
        assert_in_range(count, 2, NARROW);
    }
    assert_int_equal(hidden, 3); /* model time, wall, device */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_say_what_is_known),
        cmocka_unit_test(tables_are_narrow_and_stable_ones_tell_no_durations),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
