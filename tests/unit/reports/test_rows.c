/* test_rows - rows of a table, by task and stage
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
#include "reports/rows.h"

static const char text[] = "{\"task\":\"b\",\"stage\":\"y\",\"n\":0}\n"
                           "{\"task\":\"a\",\"stage\":\"x\",\"n\":1,\"r\":1.5}\n"
                           "{\"task\":\"b\",\"stage\":\"x\",\"n\":2}\n"
                           "{\"task\":\"b\",\"stage\":\"y\",\"n\":3}\n"
                           "{\"id\":\"c\",\"stage\":\"x\",\"n\":4}\n";

static void rows_are_found_in_the_order_of_the_table(void **state)
{
    (void)state;
    SCOPED(rows_destroy) rows *all = rows_create(text, NULL);
    size_t first;
    assert_int_equal(all->count, 5);
    assert_int_equal(rows_find(all, "b", "y", &first), 2);
    assert_int_equal(rows_int(rows_at(all, first), "n"), 0);
    assert_int_equal(rows_int(rows_at(all, first + 1), "n"), 3);
    assert_int_equal(rows_find(all, "b", NULL, &first), 3);
    assert_int_equal(rows_find(all, "c", NULL, &first), 1); /* a task itself */
    assert_int_equal(rows_find(all, "aa", NULL, &first), 0);
    assert_int_equal(rows_find(all, "a", "z", &first), 0);
    assert_int_equal(rows_find(all, "a", "x", &first), 1);
    assert_true(rows_real(rows_at(all, first), "r") == 1.5);
    assert_true(isnan(rows_real(rows_at(all, first), "none")));
    assert_null(rows_text(rows_at(all, first), "none"));
    assert_int_equal(rows_int(rows_at(all, first), "none"), -1);
}

static void an_empty_table_has_no_rows(void **state)
{
    (void)state;
    SCOPED(rows_destroy) rows *none = rows_create("", NULL);
    size_t first;
    assert_int_equal(none->count, 0);
    assert_int_equal(rows_find(none, "a", NULL, &first), 0);
}

static void a_broken_line_is_named(void **state)
{
    (void)state;
    err e = {0};
    assert_null(rows_create("{}\n{\"a\":}\n", &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "line 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_in_the_order_of_the_table),
        cmocka_unit_test(an_empty_table_has_no_rows),
        cmocka_unit_test(a_broken_line_is_named),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
