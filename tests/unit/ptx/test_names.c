/* Names, scopes and the arena they live in.
 *
 * Modules: arena
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agent-node/ptx/names.h"
#include "common/scoped.h"

static const char *in(names *n, const char *text)
{
    return names_intern(n, text, strlen(text));
}

static name_meaning register_at(size_t index)
{
    return (name_meaning){.kind = NAME_REGISTER, .index = index};
}

static void equal_texts_are_one_pointer(void **state)
{
    (void)state;
    SCOPED(arena_destroy) arena *memory = arena_create(1 << 24);
    SCOPED(names_destroy) names *n = names_create(memory);
    const char *first[5000];
    for (int i = 0; i < 5000; i++) {
        char text[16];
        snprintf(text, sizeof text, "n%d", i);
        first[i] = in(n, text);
    }
    for (int i = 0; i < 5000; i++) {
        char text[16];
        snprintf(text, sizeof text, "n%d", i);
        assert_ptr_equal(first[i], in(n, text));
    }
}

static void an_inner_name_hides_the_outer_one_until_its_brace_closes(void **state)
{
    (void)state;
    SCOPED(arena_destroy) arena *memory = arena_create(1 << 20);
    SCOPED(names_destroy) names *n = names_create(memory);
    name_meaning m;
    const char *p = in(n, "p");
    assert_true(names_add(n, p, register_at(1)));
    assert_false(names_add(n, p, register_at(2)));
    names_open(n);
    assert_true(names_add(n, p, register_at(3)));
    assert_true(names_find(n, names_scope(n), p, &m) && m.index == 3);
    names_close(n);
    assert_true(names_find(n, names_scope(n), p, &m) && m.index == 1);
    assert_int_equal(names_depth(n), 0);
}

static void a_range_answers_for_its_numbers_only(void **state)
{
    (void)state;
    SCOPED(arena_destroy) arena *memory = arena_create(1 << 20);
    SCOPED(names_destroy) names *n = names_create(memory);
    name_meaning m;
    assert_true(names_add_range(n, in(n, "%r"), 10, 5));
    assert_false(names_add_range(n, in(n, "%r"), 10, 5));
    static const char *const outside[] = {"%r5", "%r", "%r01", "%r99999999999", "%q1", "%r1x"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        assert_false(names_find(n, 0, in(n, outside[i]), &m));
    assert_true(names_find(n, 0, in(n, "%r0"), &m) && m.index == 10);
    assert_true(names_find(n, 0, in(n, "%r4"), &m) && m.index == 14);
}

static void labels_and_variables_do_not_meet(void **state)
{
    (void)state;
    SCOPED(arena_destroy) arena *memory = arena_create(1 << 20);
    SCOPED(names_destroy) names *n = names_create(memory);
    name_meaning m;
    const char *x = in(n, "x");
    assert_true(names_add(n, x, (name_meaning){.kind = NAME_LABEL, .index = 7}));
    assert_false(names_find(n, 0, x, &m));
    assert_true(names_add(n, x, register_at(1)));
    assert_true(names_find_label(n, 0, x, &m) && m.index == 7);
}

static void an_arena_stops_at_its_maximum(void **state)
{
    (void)state;
    SCOPED(arena_destroy) arena *memory = arena_create(1 << 20);
    assert_null(arena_get(memory, 1 << 21, 1));
    assert_null(arena_get(memory, SIZE_MAX, 2));
    size_t got = 0;
    while (arena_get(memory, 1000, 1) != NULL && got < 10000)
        got++;
    assert_in_range(got, 900, 1048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_one_pointer),
        cmocka_unit_test(an_inner_name_hides_the_outer_one_until_its_brace_closes),
        cmocka_unit_test(a_range_answers_for_its_numbers_only),
        cmocka_unit_test(labels_and_variables_do_not_meet),
        cmocka_unit_test(an_arena_stops_at_its_maximum),
    };
    return cmocka_run_group_tests_name("ptx names", tests, NULL, NULL);
}
