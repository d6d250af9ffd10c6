/* test_selection - which problems a run is about
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/selection.h"
#include "suites/suite.h"
#include "world.h"

static void only_and_limit_pick_in_suite_order(void **state)
{
    (void)state;
    static const struct {
        const char *only;
        int64_t limit;
        const char *want; /* ids joined by spaces */
    } rows[] = {
        {"silu_fp16,vector_add_fp32", 0, "vector_add_fp32 silu_fp16"},
        {NULL, 2, "vector_add_fp32 silu_fp16"},
        {"argmax_fp32,silu_fp16", 1, "silu_fp16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(settings_fini) settings s;
        world_settings(&(world_options){.only = rows[i].only}, &s);
        s.limit = rows[i].limit;
        SCOPED(selection_destroy) selection *chosen = selection_create(&s, NULL);
        assert_non_null(chosen);
        char got[256] = "";
        for (size_t k = 0; k < chosen->count; k++) {
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k ? " " : "",
                     chosen->problems[k]->id);
            assert_string_equal(chosen->suite_of[k]->id, "internal");
        }
        assert_string_equal(got, rows[i].want);
        assert_string_equal(chosen->name, "internal");
    }
}

static void the_suites_hash_does_not_depend_on_what_is_picked(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings one, all;
    world_settings(&(world_options){.only = "silu_fp16"}, &one);
    world_settings(&(world_options){.only = NULL}, &all);
    SCOPED(selection_destroy) selection *a = selection_create(&one, NULL);
    SCOPED(selection_destroy) selection *b = selection_create(&all, NULL);
    assert_true(hash_equal(&a->content, &b->content));
    SCOPED(suite_destroy) suite *whole = suite_load(CE_SOURCE_DIR "/suites", "internal", NULL);
    assert_non_null(whole);
    assert_int_equal(b->count, whole->problem_count);
}

static void what_is_unknown_is_named_with_the_nearest(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(settings_fini) settings s;
    world_settings(&(world_options){.only = "silu_fp61"}, &s);
    assert_null(selection_create(&s, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "did you mean silu_fp16?"));
    free(s.suites[0].name);
    s.suites[0].name = xstrdup("internale");
    assert_null(selection_create(&s, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "internal"));
}

static void one_problem_in_two_suites_is_refused(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(settings_fini) settings s;
    world_settings(&(world_options){.only = NULL}, &s);
    s.suites = xreallocarray(s.suites, 2, sizeof *s.suites);
    s.suites[s.suite_count++].name = xstrdup("internal");
    assert_null(selection_create(&s, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "vector_add_fp32"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_and_limit_pick_in_suite_order),
        cmocka_unit_test(the_suites_hash_does_not_depend_on_what_is_picked),
        cmocka_unit_test(what_is_unknown_is_named_with_the_nearest),
        cmocka_unit_test(one_problem_in_two_suites_is_refused),
    };
    return cmocka_run_group_tests_name("coordinator/selection", tests, NULL, NULL);
}
