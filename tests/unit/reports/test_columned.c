/* test_columned - columns that give way
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/columned.h"

static const columned_column columns[] = {{4, 9}, {3, 1}, {2, 5}};

static void fill(columned *table)
{
    columned_init(table, columns, 3);
    columned_add(table, (char *[]){xstrdup("matmul"), xstrdup("gold"), xstrdup("3 s")});
    columned_add(table, (char *[]){xstrdup("a\tb"), NULL, xstrdup("\xe6\xbc\xa2")});
}

static void columns_narrow_and_then_go(void **state)
{
    (void)state;
    static const struct {
        size_t width;
        const char *first, *second;
    } rows[] = {
        {80, "matmul  gold  3 s",
         "a\xef\xbf\xbd"
         "b           \xe6\xbc\xa2"},
        {17, "matmul  gold  3 s",
         "a\xef\xbf\xbd"
         "b           \xe6\xbc\xa2"},
        {15, "mat\xe2\x80\xa6  gold  3 s",
         "a\xef\xbf\xbd"
         "b         \xe6\xbc\xa2"},
        {14, "mat\xe2\x80\xa6  go\xe2\x80\xa6  3 s",
         "a\xef\xbf\xbd"
         "b        \xe6\xbc\xa2"},
        {12, "matmul  3 s",
         "a\xef\xbf\xbd"
         "b     \xe6\xbc\xa2"},
        {7, "matmul",
         "a\xef\xbf\xbd"
         "b"},
        {3, "ma\xe2\x80\xa6",
         "a\xef\xbf\xbd"
         "b"},
        {0, "", ""},
    };
    SCOPED(columned_fini) columned table;
    fill(&table);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t widths[COLUMNED_MAX];
        columned_widths(&table, rows[i].width, true, widths);
        const char *const want[] = {rows[i].first, rows[i].second};
        for (size_t row = 0; row < 2; row++) {
            SCOPED(buf_fini) buf out;
            buf_init(&out, 200);
            columned_row(&table, row, widths, true, &out);
            assert_string_equal(buf_text(&out), want[row]);
        }
    }
}

static void no_rows_have_no_width(void **state)
{
    (void)state;
    size_t widths[COLUMNED_MAX];
    SCOPED(columned_fini) columned table;
    columned_init(&table, columns, 3);
    columned_widths(&table, 80, false, widths);
    assert_true(widths[0] == 0 && widths[1] == 0 && widths[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_narrow_and_then_go),
        cmocka_unit_test(no_rows_have_no_width),
    };
    return cmocka_run_group_tests_name("columned", tests, NULL, NULL);
}
