/* test_suite - suites on disk: found, listed, loaded, refused
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "suites/suite.h"
#include "tests/unit/suites/folder.h"

static void a_suite_is_loaded_in_its_order(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "small/also/problem.yaml",
                "id: also\n" /* the rest of twice's terms */
                "title: Also\ncategory: elementwise\ndims: {n: [0, 1000]}\n"
                "inputs: {x: {dtype: f32, shape: [n]}}\noutputs: {y: {dtype: f32, shape: [n]}}\n"
                "reduction: 1\nvalues: [normal]\nshapes: [{n: 0}]\nbenchmark: {n: 1000}\n");
    folder_text(root, "small/also/prompt.md", "Also.\n");
    folder_text(root, "small/also/reference.py", "def reference(x):\n    return x\n");
    folder_text(root, "small/suite.yaml",
                "id: small\nversion: \"1\"\ntitle: Two\nproblems: [twice, also]\n");
    err e = {0};
    SCOPED(suite_destroy) suite *s = suite_load(root, "small", &e);
    if (s == NULL)
        print_error("%s\n", e.text);
    assert_non_null(s);
    assert_string_equal(s->version, "1");
    assert_int_equal(s->problem_count, 2);
    assert_string_equal(s->problems[0].id, "twice");
    assert_ptr_equal(suite_find(s, "also"), &s->problems[1]);
    assert_null(suite_find(s, "none"));
}

static void the_hash_follows_version_and_problems(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(suite_destroy) suite *a = suite_load(root, "small", NULL);
    SCOPED(suite_destroy) suite *same = suite_load(root, "small", NULL);
    assert_true(hash_equal(&a->content, &same->content));
    folder_text(root, "small/twice/prompt.md", "Double x, please.\n");
    SCOPED(suite_destroy) suite *b = suite_load(root, "small", NULL);
    assert_false(hash_equal(&a->content, &b->content));
    folder_text(root, "small/suite.yaml",
                "id: small\nversion: \"2\"\ntitle: A small suite\nproblems: [twice]\n");
    SCOPED(suite_destroy) suite *c = suite_load(root, "small", NULL);
    assert_false(hash_equal(&b->content, &c->content));
    folder_text(root, "small/suite.yaml",
                "id: small\nversion: \"2\"\ntitle: Another title\nproblems: [twice]\n");
    SCOPED(suite_destroy) suite *d = suite_load(root, "small", NULL);
    assert_true(hash_equal(&c->content, &d->content));
}

static void an_unknown_suite_lists_the_known(void **state)
{
    (void)state;
    static const char *const names[] = {"big", "", "..", "../small", "small/", "small/twice"};
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "other/suite.yaml", "id: other\n");
    folder_text(root, "drafts/readme", "no suite\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        err e = {0};
        assert_null(suite_load(root, names[i], &e));
        assert_int_equal(e.code, ERR_NOT_FOUND);
        assert_non_null(strstr(e.text, "there are: other, small"));
    }
}

static void names_are_sorted_and_only_suites(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "another/suite.yaml", "id: another\n");
    folder_text(root, "drafts/readme", "no suite\n");
    folder_text(root, "suite.yaml", "a file, no folder\n");
    size_t count = 0;
    char **names = suite_names(root, &count, NULL);
    assert_non_null(names);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "another");
    assert_string_equal(names[1], "small");
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    err e = {0};
    assert_null(suite_names("/tmp/no-such-folder-of-ce", &count, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_null(suite_load("/tmp/no-such-folder-of-ce", "small", &e));
}

static void faults_of_suite_yaml_have_file_line_and_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *cause;
    } rows[] = {
        {"id: tiny\nversion: \"1\"\ntitle: t\nproblems: [twice]\n", "suite.yaml:1: /id",
         "folder is 'small'"},
        {"id: small\nversion: 0.1\ntitle: t\nproblems: [twice]\n", "suite.yaml:2: /version",
         "string"},
        {"id: small\nversion: \"\"\ntitle: t\nproblems: [twice]\n", "suite.yaml:2: /version",
         "1 to 63"},
        {"id: small\nversion: \"1\"\nproblems: [twice]\n", "suite.yaml", "\"title\" is missing"},
        {"id: small\nversion: \"1\"\ntitle: t\nowner: me\nproblems: [twice]\n",
         "suite.yaml:4: /owner", "unknown key"},
        {"id: small\nversion: \"1\"\ntitle: t\nproblems: []\n", "suite.yaml:4: /problems",
         "at least one"},
        {"id: small\nversion: \"1\"\ntitle: t\nproblems: [twice, twice]\n",
         "suite.yaml:4: /problems/1", "listed twice"},
        {"id: small\nversion: \"1\"\ntitle: t\nproblems: [twice, thrice]\n",
         "suite.yaml:4: /problems/1", "small/thrice/problem.yaml"},
        {"id: small\nversion: \"1\"\ntitle: t\nproblems: [../small/twice]\n",
         "suite.yaml:4: /problems/0", "name"},
        {"id: small\nversion: \"1\"\ntitle: t\nproblems:\n  - twice\n  - 7\n",
         "suite.yaml:6: /problems/1", "string"},
        {"id: small\n  version: [", "suite.yaml:", ""},
    };
    SCOPED(folder_destroy) char *root = folder_create();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_text(root, "small/suite.yaml", rows[i].text);
        err e = {0};
        suite *s = suite_load(root, "small", &e);
        if (s != NULL || strstr(e.text, rows[i].place) == NULL ||
            strstr(e.text, rows[i].cause) == NULL)
            print_error("'%s' lacks '%s' or '%s'\n", e.text, rows[i].place, rows[i].cause);
        assert_null(s);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, rows[i].place));
        assert_non_null(strstr(e.text, rows[i].cause));
    }
}

static void a_problem_that_is_not_listed_is_refused(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "small/forgotten/problem.yaml", "id: forgotten\n");
    err e = {0};
    assert_null(suite_load(root, "small", &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "/problems"));
    assert_non_null(strstr(e.text, "small/forgotten is not listed"));
}

static void a_broken_problem_breaks_the_suite_with_its_own_place(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "small/twice/gold.json", "{\"kernels\":[]}");
    err e = {0};
    assert_null(suite_load(root, "small", &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "small/twice/gold.json: /kernels"));
}

static void the_root_is_the_given_one_or_the_source_tree(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *given = suite_root("/some/where", NULL);
    assert_string_equal(given, "/some/where");
    SCOPED(scoped_free) char *found = suite_root(NULL, NULL);
    assert_string_equal(found, CE_SOURCE_DIR "/suites");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_suite_is_loaded_in_its_order),
        cmocka_unit_test(the_hash_follows_version_and_problems),
        cmocka_unit_test(an_unknown_suite_lists_the_known),
        cmocka_unit_test(names_are_sorted_and_only_suites),
        cmocka_unit_test(faults_of_suite_yaml_have_file_line_and_pointer),
        cmocka_unit_test(a_problem_that_is_not_listed_is_refused),
        cmocka_unit_test(a_broken_problem_breaks_the_suite_with_its_own_place),
        cmocka_unit_test(the_root_is_the_given_one_or_the_source_tree),
    };
    return cmocka_run_group_tests_name("suite", tests, NULL, NULL);
}
