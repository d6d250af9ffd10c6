/* test_shelf - suites and problems by name, as rows of JSON
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coordinator/shelf.h"
#include "tests/unit/suites/folder.h"

static void things_are_found_by_name(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(shelf_destroy) shelf *all = shelf_load(root, NULL);
    const suite *of = NULL;
    assert_int_equal(all->count, 1);
    assert_non_null(shelf_suite(all, "small"));
    assert_null(shelf_suite(all, "twice"));
    assert_non_null(shelf_problem(all, "twice", &of));
    assert_string_equal(of->id, "small");
    assert_null(shelf_problem(all, "small", &of));
}

static void a_broken_suite_is_an_error(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(root, "small/twice/problem.yaml", "id: thrice\n");
    err e = {0};
    assert_null(shelf_load(root, &e));
    assert_int_equal(e.code, ERR_CONFIG);
}

static void rows_have_hash_texts_and_mutants(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    folder_text(
        root, "small/twice/mutants/mutants.yaml",
        "- {name: zeros, expect: wrong, detail: element, emu: [race, wrong], why: y is 0}\n");
    folder_text(root, "small/twice/mutants/zeros.cu", "// zeros\n");
    SCOPED(shelf_destroy) shelf *all = shelf_load(root, NULL);
    const suite *of;
    const problem *p = shelf_problem(all, "twice", &of);
    SCOPED(json_destroy) json *whole = shelf_json(all->suites, all->count);
    SCOPED(json_destroy) json *one = shelf_problem_json(of, p);
    assert_int_equal(strlen(json_str(json_get(json_at(json_get(whole, "suites"), 0), "hash"), "")),
                     HASH_HEX - 1);
    assert_string_equal(json_str(json_get(json_at(json_get(whole, "problems"), 0), "id"), ""),
                        "twice");
    assert_string_equal(json_str(json_get(one, "prompt"), ""), "Double x.\n");
    const json *row = json_at(json_get(one, "mutants"), 0);
    assert_string_equal(json_str(json_at(json_get(row, "expect"), 0), ""), "wrong");
    assert_string_equal(json_str(json_at(json_get(row, "emu"), 0), ""), "race");
    assert_string_equal(json_str(json_get(row, "source"), ""), "// zeros\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_are_found_by_name),
        cmocka_unit_test(a_broken_suite_is_an_error),
        cmocka_unit_test(rows_have_hash_texts_and_mutants),
    };
    return cmocka_run_group_tests_name("coordinator/shelf", tests, NULL, NULL);
}
