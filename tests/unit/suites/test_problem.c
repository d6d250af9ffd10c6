/* test_problem - one folder of a suite, whole and broken
 *
 * Modules: text
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <unistd.h>

#include "suites/problem.h"
#include "suites/text.h"
#include "tests/unit/suites/folder.h"

static int load(const char *root, problem *out, err *e)
{
    SCOPED(scoped_free) char *folder = file_join(root, "small/twice");
    return problem_load(folder, out, e);
}

static void a_whole_folder_is_read(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(scoped_free) char *folder = file_join(root, "small/twice/");
    SCOPED(problem_fini) problem p = {0};
    err e = {0};
    assert_int_equal(problem_load(folder, &p, &e), 0);
    assert_string_equal(p.id, "twice");
    assert_string_equal(p.title, "Twice a vector");
    assert_string_equal(p.category, "elementwise");
    assert_string_equal(p.terms->problem, "twice");
    assert_string_equal(p.prompt, "Double x.\n");
    assert_string_equal(p.gold_source, "// twice\n");
    assert_string_equal(p.gold_plan, FOLDER_PLAN);
    assert_false(hash_is_zero(&p.content));
}

static void gold_files_may_both_be_absent(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(scoped_free) char *source = file_join(root, "small/twice/gold.cu");
    SCOPED(scoped_free) char *launch = file_join(root, "small/twice/gold.json");
    assert_int_equal(unlink(source), 0);
    assert_int_equal(unlink(launch), 0);
    SCOPED(problem_fini) problem p = {0};
    assert_int_equal(load(root, &p, NULL), 0);
    assert_null(p.gold_source);
    assert_null(p.gold_plan);
}

/* check breaks one file (text NULL: removes it) and wants the error to hold each piece. */
static void check(const char *file, const char *text, err_code code, const char *first,
                  const char *second)
{
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(scoped_free) char *name = xasprintf("small/twice/%s", file);
    SCOPED(scoped_free) char *path = file_join(root, name);
    if (text != NULL)
        folder_text(root, name, text);
    else
        assert_int_equal(unlink(path), 0);
    problem p = {.id = NULL};
    err e = {0};
    int rc = load(root, &p, &e);
    if (rc == 0 || strstr(e.text, first) == NULL || strstr(e.text, second) == NULL)
        print_error("%s: '%s' lacks '%s' or '%s'\n", file, e.text, first, second);
    assert_int_equal(rc, -1);
    assert_int_equal(e.code, code);
    assert_non_null(strstr(e.text, first));
    assert_non_null(strstr(e.text, second));
    assert_null(p.id);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    static const char *const files[] = {"problem.yaml", "prompt.md", "reference.py"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        check(files[i], NULL, ERR_NOT_FOUND, files[i], "small/twice");
    check("gold.cu", NULL, ERR_CONFIG, "gold.json is there", "gold.cu is missing");
    check("gold.json", NULL, ERR_CONFIG, "gold.cu is there", "gold.json is missing");
}

static void problem_yaml_faults_have_file_line_and_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *place, *cause;
    } rows[] = {
        {"id: twice", "id: thrice", "problem.yaml:1: /id", "folder is 'twice'"},
        {"id: twice\n", "", "problem.yaml", "\"id\" is missing"},
        {"title: Twice a vector", "title: \"\"", "problem.yaml:2: /title", "empty"},
        {"title: Twice a vector", "title: [a]", "problem.yaml:2: /title", "string"},
        {"category: elementwise", "category: magic", "problem.yaml:3: /category", "scan"},
        {"category:", "notes: 3\ncategory:", "problem.yaml:3: /notes", "string"},
        {"category:", "speed: 3\ncategory:", "problem.yaml:3: /speed", "unknown key"},
        {"{n: [0, 1000]}", "{n: [0]}", "problem.yaml:4: /dims/n", "[min, max]"},
        {"{n: [0, 1000]}", "{n: 5}", "problem.yaml:4: /dims/n", "array"},
        {"{n: [0, 1000]}", "{cc: [0, 1000]}", "problem.yaml:4: /dims/cc", "meaning"},
        {"  x: {dtype: f32, shape: [n]}", "  x: {dtype: f12, shape: [n]}",
         "problem.yaml:6: /inputs/x/dtype", "f12"},
        {"  x: {dtype: f32, shape: [n]}", "  x: {dtype: f32, shape: [m]}",
         "problem.yaml:6: /inputs/x/shape/0", "unknown variable m"},
        {"  x: {dtype: f32, shape: [n]}", "  x: {dtype: f32, shape: [n], domain: 1}",
         "problem.yaml:6: /inputs/x/domain", "unknown key"},
        {"  y: {dtype", "  x: {dtype", "problem.yaml:8: /outputs/x", "already"},
        {"{n: 7}", "{n: 1001}", "problem.yaml:11: /shapes/1/n", "range 0..1000"},
        {"benchmark: {n: 1000}", "benchmark: {n: many}", "problem.yaml:12: /benchmark/n",
         "integer"},
        {"benchmark: {n: 1000}", "benchmark: {n: 1000", "problem.yaml:", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *at = strstr(FOLDER_YAML, rows[i].from);
        assert_non_null(at);
        SCOPED(scoped_free)
        char *text = xasprintf("%.*s%s%s", (int)(at - FOLDER_YAML), FOLDER_YAML, rows[i].to,
                               at + strlen(rows[i].from));
        check("problem.yaml", text, ERR_CONFIG, rows[i].place, rows[i].cause);
    }
}

static void gold_plan_faults_name_file_and_pointer(void **state)
{
    (void)state;
    check("gold.json", "{", ERR_CONFIG, "small/twice/gold.json: ", "launch plan");
    check("gold.json",
          "{\"kernels\":[{\"entry\":\"k\",\"grid\":[1],\"block\":[1],\"args\":[\"x\",\"z\"]}]}",
          ERR_CONFIG, "small/twice/gold.json: /kernels/0/args/1: ", "there are: x, y");
}

static void texts_must_be_text(void **state)
{
    (void)state;
    check("prompt.md", "", ERR_CONFIG, "prompt.md", "empty");
    check("prompt.md", " \n\t\n", ERR_CONFIG, "prompt.md", "empty");
    check("reference.py", "caf\xe9\n", ERR_CONFIG, "reference.py", "UTF-8");
    SCOPED(folder_destroy) char *root = folder_create();
    folder_write(root, "small/twice/prompt.md", "a\0b", 3);
    problem p = {.id = NULL};
    err e = {0};
    assert_int_equal(load(root, &p, &e), -1);
    assert_non_null(strstr(e.text, "NUL"));
}

static void a_file_past_the_limit_is_refused(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(scoped_free) char *text = xmalloc(SUITE_FILE_MAX + 1);
    memset(text, 'a', SUITE_FILE_MAX + 1);
    folder_write(root, "small/twice/prompt.md", text, SUITE_FILE_MAX);
    SCOPED(problem_fini) problem p = {0};
    err e = {0};
    assert_int_equal(load(root, &p, &e), 0);
    folder_write(root, "small/twice/prompt.md", text, SUITE_FILE_MAX + 1);
    problem too_large = {.id = NULL};
    assert_int_equal(load(root, &too_large, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

static void the_hash_covers_contract_prompt_and_reference_but_not_gold(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
        bool counts;
    } rows[] = {
        {"small/twice/prompt.md", "Double x!\n", true},
        {"small/twice/reference.py", "def reference(x):\n    return 2 * x\n", true},
        {"small/twice/gold.cu", "// other\n", false},
    };
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(problem_fini) problem before = {0};
    assert_int_equal(load(root, &before, NULL), 0);
    hash last = before.content;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_text(root, rows[i].file, rows[i].text);
        SCOPED(problem_fini) problem after = {0};
        assert_int_equal(load(root, &after, NULL), 0);
        assert_int_equal(!hash_equal(&last, &after.content), rows[i].counts);
        last = after.content;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_folder_is_read),
        cmocka_unit_test(gold_files_may_both_be_absent),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(problem_yaml_faults_have_file_line_and_pointer),
        cmocka_unit_test(gold_plan_faults_name_file_and_pointer),
        cmocka_unit_test(texts_must_be_text),
        cmocka_unit_test(a_file_past_the_limit_is_refused),
        cmocka_unit_test(the_hash_covers_contract_prompt_and_reference_but_not_gold),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
