/* test_csv - RFC 4180, and what is refused with its line
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/csv.h"
#include "common/scoped.h"

static csv *read_text(const char *text)
{
    err e = {0};
    csv *t = csv_create(text, strlen(text), "a.csv", &e);
    if (t == NULL)
        fail_msg("%s", e.text);
    return t;
}

static void cells_are_what_was_written(void **state)
{
    (void)state;
    SCOPED(csv_destroy)
    csv *t = read_text("\xEF\xBB\xBFname,value\r\nplain,1\r\n\"a, \"\"b\"\"\nc\",\n,\"\"\nlast,2");
    assert_int_equal(csv_rows(t), 4);
    assert_int_equal(csv_columns(t), 2);
    assert_int_equal(csv_column(t, "value"), 1);
    assert_int_equal(csv_column(t, "other"), 2);
    assert_string_equal(csv_cell(t, 0, 0), "plain");
    assert_string_equal(csv_cell(t, 1, 0), "a, \"b\"\nc");
    assert_string_equal(csv_cell(t, 1, 1), "");
    assert_string_equal(csv_cell(t, 2, 0), "");
    assert_string_equal(csv_cell(t, 3, 1), "2");
    err e = {0};
    assert_int_equal(csv_fail(t, 3, 1, &e, "no"), -1);
    assert_string_equal(e.text, "a.csv:6: value: no"); /* a cell above has a line end */
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "a.csv: empty"},
        {"a,b\n1\n", "a.csv:2: 1 cells, and 2 columns have a name"},
        {"a,b\n1,2,3\n", "a.csv:2: 3 cells"},
        {"a,b\n1,\"2\n3\n", "a.csv:2: a quote is opened"},
        {"a\n\"1\"2\n", "a.csv:2: text stands after"},
        {"a\n1\"2\n", "a.csv:2: a quote stands inside"},
        {"a,a\n", "a.csv:1: two columns are named a"},
        {"a\n\xFF\n", "a.csv: byte 2 is no text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        err e = {0};
        assert_null(csv_create(cases[i].text, strlen(cases[i].text), "a.csv", &e));
        assert_int_equal(e.code, ERR_CONFIG);
        if (strstr(e.text, cases[i].says) == NULL)
            fail_msg("%s", e.text);
    }
    assert_null(csv_create("a\nb\0c\n", 6, "a.csv", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_what_was_written),
        cmocka_unit_test(what_is_no_table_is_refused),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
