/* test_diff - what differs between two suites
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "suites/diff.h"
#include "tests/unit/suites/folder.h"

/* A second problem, and the order of the two. */
static char *create(const char *order)
{
    char *root = folder_create();
    SCOPED(scoped_free)
    char *list =
        xasprintf("id: small\nversion: \"1\"\ntitle: A small suite\nproblems: [%s]\n", order);
    SCOPED(scoped_free) char *yaml = xasprintf("id: again\n%s", strchr(FOLDER_YAML, '\n') + 1);
    folder_text(root, "small/suite.yaml", list);
    folder_text(root, "small/again/problem.yaml", yaml);
    folder_text(root, "small/again/prompt.md", "Double x.\n");
    folder_text(root, "small/again/reference.py", "def reference(x):\n    return x + x\n");
    return root;
}

static suite *load(const char *root)
{
    err e = {0};
    suite *s = suite_load(root, "small", &e);
    if (s == NULL)
        fail_msg("%s", e.text);
    return s;
}

static void equal_suites_have_no_difference(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *x = create("twice, again");
    SCOPED(folder_destroy) char *y = create("twice, again");
    SCOPED(suite_destroy) suite *a = load(x);
    SCOPED(suite_destroy) suite *b = load(y);
    SCOPED(diff_fini) diff d = diff_suites(a, b);
    assert_int_equal(d.count, 0);
}

static void problems_come_and_go(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *x = folder_create();
    SCOPED(folder_destroy) char *y = create("again, twice");
    SCOPED(suite_destroy) suite *a = load(x);
    SCOPED(suite_destroy) suite *b = load(y);
    SCOPED(diff_fini) diff more = diff_suites(a, b);
    SCOPED(diff_fini) diff less = diff_suites(b, a);
    assert_int_equal(more.count, 1);
    assert_int_equal(more.rows[0].kind, DIFF_ADDED);
    assert_string_equal(more.rows[0].id, "again");
    assert_int_equal(less.count, 1);
    assert_int_equal(less.rows[0].kind, DIFF_REMOVED);
}

static void another_order_is_a_difference(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *x = create("twice, again");
    SCOPED(folder_destroy) char *y = create("again, twice");
    SCOPED(suite_destroy) suite *a = load(x);
    SCOPED(suite_destroy) suite *b = load(y);
    SCOPED(diff_fini) diff d = diff_suites(a, b);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.rows[0].kind, DIFF_MOVED);
    assert_string_equal(diff_kind_name(d.rows[0].kind), "moved");
}

static void each_part_is_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
        int part;
    } rows[] = {
        {"small/twice/prompt.md", "Two times x.\n", DIFF_PROMPT},
        {"small/twice/reference.py", "def reference(x):\n    return 2 * x\n", DIFF_REFERENCE},
        {"small/twice/gold.cu", "// faster\n", DIFF_GOLD},
        {"small/twice/mutants/zeros.cu", "// other zeros\n", DIFF_MUTANTS},
        {"small/twice/mutants/mutants.yaml", "- {name: zeros, expect: hung, why: z}\n",
         DIFF_MUTANTS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(folder_destroy) char *x = folder_create();
        SCOPED(folder_destroy) char *y = folder_create();
        char *const roots[] = {x, y};
        for (size_t k = 0; k < 2; k++) {
            folder_text(roots[k], "small/twice/mutants/mutants.yaml",
                        "- {name: zeros, expect: wrong, why: z}\n");
            folder_text(roots[k], "small/twice/mutants/zeros.cu", "// zeros\n");
        }
        folder_text(y, rows[i].file, rows[i].text);
        SCOPED(suite_destroy) suite *a = load(x);
        SCOPED(suite_destroy) suite *b = load(y);
        SCOPED(diff_fini) diff d = diff_suites(a, b);
        assert_int_equal(d.count, 1);
        assert_int_equal(d.rows[0].kind, DIFF_CHANGED);
        for (int part = 0; part < DIFF_PARTS; part++)
            assert_int_equal(d.rows[0].parts[part], part == rows[i].part);
        assert_int_equal(hash_equal(&a->content, &b->content), rows[i].part >= DIFF_HASHED);
        assert_non_null(diff_part_name(rows[i].part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_suites_have_no_difference),
        cmocka_unit_test(problems_come_and_go),
        cmocka_unit_test(another_order_is_a_difference),
        cmocka_unit_test(each_part_is_told_apart),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
