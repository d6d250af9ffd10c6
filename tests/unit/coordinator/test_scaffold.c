/* test_scaffold - arguments of `suite new`, and the files that an answer becomes (the rest: tests/service)
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coordinator/scaffold.h"
#include "suites/suite.h"
#include "tests/unit/suites/folder.h"

enum { WORDS = 4 };

typedef struct words {
    const char *name, *from, *shapes[WORDS], *dtypes[WORDS];
} words;

static scaffold_request request_of(const words *w)
{
    scaffold_request r = {.name = w->name,
                          .from = w->from,
                          .shapes = w->shapes,
                          .dtypes = w->dtypes,
                          .suite = "small"};
    while (r.shape_count < WORDS && w->shapes[r.shape_count] != NULL)
        r.shape_count++;
    while (r.dtype_count < WORDS && w->dtypes[r.dtype_count] != NULL)
        r.dtype_count++;
    return r;
}

static void every_bad_argument_has_its_own_message(void **state)
{
    (void)state;
    static const struct {
        words typed;
        const char *says;
    } rows[] = {
        {{"2x", "m:f", {"x=n:4"}, {"f32"}}, "'2x' is no name"},
        {{"p", NULL, {"x=n:4"}, {"f32"}}, "--from is missing"},
        {{"p", "f", {"x=n:4"}, {"f32"}}, "--from f: write file.py:function"},
        {{"p", "m:1f", {"x=n:4"}, {"f32"}}, "write file.py:function"},
        {{"p", "/nowhere.py:f", {"x=n:4"}, {"f32"}}, "there is no file /nowhere.py"},
        {{"p", "m:f", {NULL}, {"f32"}}, "--shape is missing"},
        {{"p", "m:f", {"x"}, {"f32"}}, "--shape x: write INPUT=SIZE"},
        {{"p", "m:f", {"=4"}, {"f32"}}, "write INPUT=SIZE"},
        {{"p", "m:f", {"x=n:4", "x=n"}, {"f32"}}, "x has a shape already"},
        {{"p", "m:f", {"x=n:0"}, {"f32"}}, "'0' is no size of n"},
        {{"p", "m:f", {"x=n:four"}, {"f32"}}, "'four' is no size of n"},
        {{"p", "m:f", {"x=0"}, {"f32"}}, "a size is at least 1"},
        {{"p", "m:f", {"x=n:4,,"}, {"f32"}}, "'' is neither a size nor a name"},
        {{"p", "m:f", {"x=n:4", "w=n:5"}, {"f32"}}, "n is 4 elsewhere"},
        {{"p", "m:f", {"x=n"}, {"f32"}}, "no size is said for n"},
        {{"p", "m:f", {"x=x:4"}, {"f32"}}, "x is an input and a dim"},
        {{"p", "m:f", {"x=1,1,1,1,1,1,1,1,1"}, {"f32"}}, "more than 8 sizes"},
        {{"p", "m:f", {"x=n:4"}, {NULL}}, "--dtype is missing for input x"},
        {{"p", "m:f", {"x=n:4"}, {"f31"}}, "there is no dtype f31"},
        {{"p", "m:f", {"x=n:4"}, {"x=f31"}}, "there is no dtype f31"},
        {{"p", "m:f", {"x=n:4"}, {"f32", "w=f16"}}, "no --shape names an input w"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scaffold_request r = request_of(&rows[i].typed);
        err e = {0};
        SCOPED(json_destroy) json *question = scaffold_question(&r, &e);
        assert_null(question);
        assert_int_equal(e.code, ERR_USAGE);
        if (strstr(e.text, rows[i].says) == NULL)
            fail_msg("'%s' lacks '%s'", e.text, rows[i].says);
    }
}

static void good_arguments_become_a_question(void **state)
{
    (void)state;
    const words typed = {"p", "m:f", {"x=rows:64,cols:32", "w=cols", "s="}, {"f16", "w=f32"}};
    scaffold_request r = request_of(&typed);
    SCOPED(json_destroy) json *question = scaffold_question(&r, NULL);
    SCOPED(scoped_free) char *text = json_dump(question);
    assert_string_equal(text, "{\"dims\":{\"cols\":32,\"rows\":64},\"from\":\"m:f\",\"inputs\":["
                              "{\"dtype\":\"f16\",\"name\":\"x\",\"sizes\":[\"rows\",\"cols\"]},"
                              "{\"dtype\":\"f32\",\"name\":\"w\",\"sizes\":[\"cols\"]},"
                              "{\"dtype\":\"f16\",\"name\":\"s\",\"sizes\":[]}]}");
}

static const char answer_text[] =
    "{\"scalars\":[{\"name\":\"eps\",\"dtype\":\"f32\",\"value\":0.5}],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f16\",\"sizes\":[\"rows * cols\",2]}],"
    "\"reduction\":\"cols\",\"values\":[\"normal\",\"zeros\"],\"elementwise\":false,"
    "\"dims\":{\"rows\":[0,8192],\"cols\":[1,8192]},\"shapes\":[{\"rows\":0,\"cols\":3},"
    "{\"rows\":5,\"cols\":7}]}";

static void an_answer_becomes_a_problem_that_loads(void **state)
{
    (void)state;
    const words typed = {"fresh", "m:f", {"x=rows:64,cols:32"}, {"f16"}};
    scaffold_request r = request_of(&typed);
    SCOPED(json_destroy) json *question = scaffold_question(&r, NULL);
    SCOPED(json_doc_destroy)
    json_doc *answer = json_parse(answer_text, strlen(answer_text), "answer", NULL);
    SCOPED(scoped_free) char *yaml = scaffold_yaml("fresh", question, json_doc_root(answer));
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "small/fresh/problem.yaml", yaml);
    folder_text(root, "small/fresh/prompt.md", "f\n");
    folder_text(root, "small/fresh/reference.py", "def reference(x, eps):\n    return x\n");
    SCOPED(scoped_free) char *folder = file_join(root, "small/fresh");
    SCOPED(problem_fini) problem p = {0};
    err e = {0};
    if (problem_load(folder, &p, &e) < 0)
        fail_msg("%s\n%s", e.text, yaml);
    assert_int_equal(p.terms->shape_count, 2);
    assert_int_equal(p.terms->dims[0].min, 0);
    assert_string_equal(p.terms->tensors[1].shape_text[0], "rows * cols");
    assert_int_equal(p.terms->benchmark.dims[1], 32);
    assert_string_equal(p.category, "reduction");
}

static void the_list_of_a_suite_gets_one_line(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *whole = scaffold_list("id: s\nproblems:\n  - a\n", "b");
    SCOPED(scoped_free) char *open = scaffold_list("id: s\nproblems:\n  - a", "b");
    assert_string_equal(whole, "id: s\nproblems:\n  - a\n  - b\n");
    assert_string_equal(open, "id: s\nproblems:\n  - a\n  - b\n");
    assert_null(scaffold_list("id: s\nproblems: [a]\n", "b"));
}

static void a_place_that_is_taken_is_left_alone(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    const words typed = {"twice", "m:f", {"x=n:64"}, {"f16"}};
    scaffold_request r = request_of(&typed);
    scaffold_result made = {.folder = NULL};
    err e = {0};
    r.root = root;
    assert_int_equal(scaffold_make(&r, &made, &e), -1);
    assert_non_null(strstr(e.text, "small/twice exists already"));
    SCOPED(suite_destroy) suite *s = suite_load(root, "small", NULL);
    assert_int_equal(s->problem_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_argument_has_its_own_message),
        cmocka_unit_test(good_arguments_become_a_question),
        cmocka_unit_test(an_answer_becomes_a_problem_that_loads),
        cmocka_unit_test(the_list_of_a_suite_gets_one_line),
        cmocka_unit_test(a_place_that_is_taken_is_left_alone),
    };
    return cmocka_run_group_tests_name("coordinator/scaffold", tests, NULL, NULL);
}
