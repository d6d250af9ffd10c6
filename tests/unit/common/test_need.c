/* test_need - which device fits, and what is said where none does
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/need.h"

enum { COUNT = 4 };
#define GIB(n) ((int64_t)((n)*1024) * 1024 * 1024)

static const need_device devices[COUNT] = {
    {"cuda", GIB(79.125), 80}, {"cuda", GIB(24), 90}, {"fake", GIB(80), 90}, {"emu", GIB(4), 0}};

static void the_first_device_that_has_it_all_is_found(void **state)
{
    (void)state;
    const struct {
        need_set need;
        const char *wanted;
        int found; /* -1: none */
    } rows[] = {{{0, 0}, "cuda", 0},        {{GIB(60), 0}, "cuda", 0},
                {{0, 90}, "cuda", 1},       {{GIB(60), 90}, "cuda", -1},
                {{GIB(81), 0}, "cuda", -1}, {{GIB(81), 0}, "auto", 3},
                {{GIB(80), 0}, "fake", 2},  {{GIB(80) + 1, 0}, "fake", -1},
                {{GIB(24), 90}, "cuda", 1}, {{0, 0}, "none", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const need_device *got = need_find(&rows[i].need, rows[i].wanted, devices, COUNT);
        assert_ptr_equal(got, rows[i].found < 0 ? NULL : &devices[rows[i].found]);
    }
}

static void what_a_device_does_not_tell_is_not_held_against_it(void **state)
{
    (void)state;
    const need_device quiet = {"cuda", 0, 0};
    const need_set much = {GIB(500), 120};
    assert_true(need_met(&much, &quiet));
}

static void what_is_missing_is_said_in_numbers(void **state)
{
    (void)state;
    const struct {
        need_set need;
        const char *wanted, *why;
    } rows[] = {{{GIB(81.25), 0},
                 "cuda",
                 "needs 81.2 GiB of device memory; the largest device has 79.1 GiB"},
                {{0, 100}, "cuda", "needs compute capability 10.0; the highest of a device is 9.0"},
                {{GIB(60), 90},
                 "cuda",
                 "needs 60.0 GiB of device memory and compute capability 9.0; no device has both"},
                {{0, 0}, "none", "needs a device of kind none; no connected node has one"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[NEED_TEXT];
        need_why(&rows[i].need, rows[i].wanted, devices, COUNT, why);
        assert_string_equal(why, rows[i].why);
    }
    char why[NEED_TEXT];
    need_why(&(need_set){0}, "auto", devices, 0, why);
    assert_string_equal(why, "needs a device of kind cuda or emu; no connected node has one");
}

static void a_compile_target_names_a_capability(void **state)
{
    (void)state;
    assert_int_equal(need_capability("sm_90a"), 90);
    assert_int_equal(need_capability("sm_100"), 100);
    assert_int_equal(need_capability(""), 0);
    assert_int_equal(need_capability("compute_80"), 0);
    assert_true(need_is_none(&(need_set){0, 0}));
    assert_false(need_is_none(&(need_set){0, 80}));
    assert_true(need_equal(&(need_set){1, 80}, &(need_set){1, 80}));
    assert_false(need_equal(&(need_set){1, 80}, &(need_set){2, 80}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_device_that_has_it_all_is_found),
        cmocka_unit_test(what_a_device_does_not_tell_is_not_held_against_it),
        cmocka_unit_test(what_is_missing_is_said_in_numbers),
        cmocka_unit_test(a_compile_target_names_a_capability),
    };
    return cmocka_run_group_tests_name("need", tests, NULL, NULL);
}
