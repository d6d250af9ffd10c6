/* test_family - lists of value families
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
#include "suites/family.h"

static int read_text(const char *text, family_list *out, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "f.json", e);
    assert_non_null(doc);
    json_cursor root = json_root(doc);
    return family_read(&root, out, e);
}

static void a_list_keeps_its_order_and_outlives_its_text(void **state)
{
    (void)state;
    static const char text[] = "[\"offset\",\"normal\",\"log_uniform\"]";
    SCOPED(family_list_fini) family_list list = {0};
    assert_int_equal(read_text(text, &list, NULL), 0);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.names[0], "offset");
    assert_true(family_list_has(&list, "log_uniform"));
    assert_false(family_list_has(&list, "zeros"));
    SCOPED(json_destroy) json *back = family_list_json(&list);
    SCOPED(scoped_free) char *again = json_dump(back);
    assert_string_equal(again, text);
}

static void empty_unknown_and_doubled_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cause;
    } rows[] = {{"[]", "at least one"},
                {"[\"normal\",\"gauss\"]", "gauss"},
                {"[\"normal\",\"normal\"]", "twice"},
                {"[1]", "/0"},
                {"\"normal\"", "array"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(family_list_fini) family_list list = {0};
        err e = {0};
        assert_int_equal(read_text(rows[i].text, &list, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, rows[i].cause));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_keeps_its_order_and_outlives_its_text),
        cmocka_unit_test(empty_unknown_and_doubled_are_refused),
    };
    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
