/* test_expr - checked integer expressions
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/expr.h"
#include "common/scoped.h"
#include "common/str.h"

static const expr_var vars[] = {{"rows", 33}, {"cols", 1000},     {"zero", 0},
                                {"neg", -7},  {"big", INT64_MAX}, {"small", INT64_MIN}};
enum { VARS = sizeof vars / sizeof vars[0] };

static void values_follow_c(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"42", 42},
        {"0", 0},
        {" ( 7 ) ", 7},
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"100 / 10 / 5", 2},
        {"7 % 4 * 2", 6},
        {"-7 / 2", -3},
        {"-7 % 2", -1},
        {"neg / 2", -3},
        {"neg % 2", -1},
        {"- neg", 7},
        {"--neg", -7},
        {"1 - -1", 2},
        {"!zero + !5", 1},
        {"!!rows", 1},
        {"1 < 2 == 1", 1},
        {"3 > 2 > 1", 0},
        {"2 == 2 && 3 != 4 || 1 / 0", 1},
        {"zero && 1 / zero", 0},
        {"1 || 1 / zero", 1},
        {"rows || zero", 1},
        {"1 || 0 && 0", 1},
        {"zero ? 1 : 2", 2},
        {"1 ? 2 : 0 ? 3 : 4", 2},
        {"0 ? 2 : 0 ? 3 : 4", 4},
        {"zero == 0 ? 5 : 5 / zero", 5},
        {"1 ? zero ? 6 : 7 : 8", 7},
        {"rows <= 33 && rows >= 33", 1},
        {"ceil_div(rows, 16)", 3},
        {"ceil_div(32, 16)", 2},
        {"ceil_div(0, 16)", 0},
        {"ceil_div(-7, 2)", -3},
        {"ceil_div(-7, -2)", 4},
        {"ceil_div(7, -2)", -3},
        {"min(rows, cols) + max ( rows , cols )", 1033},
        {"min(neg, zero)", -7},
        {"next_pow2(33)", 64},
        {"next_pow2(64)", 64},
        {"next_pow2(0)", 1},
        {"next_pow2(1)", 1},
        {"next_pow2(4611686018427387904)", 4611686018427387904},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"small % -1", 0},
        {"big + small", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(expr_destroy) expr *x = expr_parse(rows[i].text, NULL, &e);
        if (x == NULL)
            print_message("%s: %s\n", rows[i].text, e.text);
        assert_non_null(x);
        int64_t out = 77;
        if (expr_eval(x, vars, VARS, &out, &e) < 0)
            print_message("%s: %s\n", rows[i].text, e.text);
        assert_true(out == rows[i].value);
    }
}

static void what_does_not_compute_is_an_answer(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"1 + big", "column 3: the result does not fit in 64 bits"},
        {"small - 1", "column 7: the result does not fit in 64 bits"},
        {"big * 2", "column 5: the result does not fit in 64 bits"},
        {"small * -1", "column 7: the result does not fit in 64 bits"},
        {"-small", "column 1: the result does not fit in 64 bits"},
        {"small / -1", "column 7: the result does not fit in 64 bits"},
        {"ceil_div(small, -1)", "column 1: the result does not fit in 64 bits"},
        {"next_pow2(4611686018427387905)", "column 1: the result does not fit in 64 bits"},
        {"next_pow2(neg)", "column 1: next_pow2 of a negative number"},
        {"1 / zero", "column 3: division by zero"},
        {"1 % zero", "column 3: division by zero"},
        {"ceil_div(1, zero)", "column 1: division by zero"},
        {"1 ? 1 / zero : 2", "column 7: division by zero"},
        {"rows + nobody", "column 8: variable nobody has no value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(expr_destroy) expr *x = expr_parse(rows[i][0], NULL, &e);
        assert_non_null(x);
        int64_t out = 77;
        assert_int_equal(expr_eval(x, vars, VARS, &out, &e), -1);
        assert_int_equal(out, 77);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_string_equal(e.text, rows[i][1]);
    }
}

static void bad_texts_are_refused_with_their_column(void **state)
{
    (void)state;
    static const char *const names[] = {"rows", "cols", NULL};
    static const char *const rows[][2] = {
        {"", "column 1: the expression ends where a value is expected"},
        {"1 +", "column 4: the expression ends where a value is expected"},
        {"(1", "column 3: the expression ends where ')' is expected"},
        {"1)", "column 2: ')' where an operator or the end is expected"},
        {"1 2", "column 3: '2' where an operator or the end is expected"},
        {"1 ? 2", "column 6: the expression ends where ':' is expected"},
        {"* 2", "column 1: '*' where a value is expected"},
        {"rows = 1", "column 6: '=' where an operator or the end is expected"},
        {"rows & 1", "column 6: '&' where an operator or the end is expected"},
        {"1 << 2", "column 4: '<' where a value is expected"},
        {"depth", "column 1: unknown variable depth"},
        {"min(1)", "column 6: ')' where ',' is expected"},
        {"min(1, 2, 3)", "column 9: ',' where ')' is expected"},
        {"next_pow2()", "column 11: ')' where a value is expected"},
        {"min", "column 1: min is a function and needs arguments"},
        {"sin(1)", "column 1: unknown function sin"},
        {"rows(1)", "column 1: unknown function rows"},
        {"010", "column 1: a number must not begin with 0"},
        {"0x10", "column 1: not a decimal whole number"},
        {"1.5", "column 1: not a decimal whole number"},
        {"9223372036854775808", "column 1: the number does not fit in 64 bits"},
        {"\xff", "column 1: '?' where a value is expected"},
        {"rows + cols $", "column 13: '$' where an operator or the end is expected"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(expr_destroy) expr *x = expr_parse(rows[i][0], names, &e);
        assert_null(x);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_string_equal(e.text, rows[i][1]);
    }
}

/* wrapped puts `count` openers before and closers behind "1". */
static char *wrapped(const char *open, const char *close, int count, char *out)
{
    size_t opening = strlen(open);
    size_t closing = strlen(close);
    char *at = out;
    for (int i = 0; i < count; i++, at += opening)
        memcpy(at, open, opening);
    *at++ = '1';
    for (int i = 0; i < count; i++, at += closing)
        memcpy(at, close, closing);
    *at = '\0';
    return out;
}

static void depth_and_length_are_limited(void **state)
{
    (void)state;
    char text[EXPR_TEXT_MAX + 2];
    err e = {0};
    SCOPED(expr_destroy)
    expr *deepest = expr_parse(wrapped("(", ")", EXPR_DEPTH_MAX - 1, text), NULL, &e);
    assert_non_null(deepest);
    static const char *const pairs[][2] = {{"(", ")"}, {"!", ""}, {"1?", ":1"}, {"0?1:", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        wrapped(pairs[i][0], pairs[i][1], EXPR_DEPTH_MAX, text);
        assert_null(expr_parse(text, NULL, &e));
        assert_true(str_ends(e.text, "nested more than 64 deep"));
    }
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_null(expr_parse(text, NULL, &e));
    assert_string_equal(e.text, "an expression of 513 bytes; the maximum is 512");
    for (size_t i = 1; i < EXPR_TEXT_MAX; i += 2)
        text[i] = '+';
    text[EXPR_TEXT_MAX - 1] = '\0'; /* a long flat sum is fine */
    SCOPED(expr_destroy) expr *sum = expr_parse(text, NULL, &e);
    int64_t out = 0;
    assert_int_equal(expr_eval(sum, NULL, 0, &out, &e), 0);
    assert_int_equal(out, EXPR_TEXT_MAX / 2);
}

static void names_have_a_limit_too(void **state)
{
    (void)state;
    char name[EXPR_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[EXPR_NAME_MAX] = '\0';
    err e = {0};
    SCOPED(expr_destroy) expr *x = expr_parse(name, NULL, &e);
    assert_non_null(x);
    assert_true(expr_uses(x, name));
    name[EXPR_NAME_MAX] = 'n';
    name[EXPR_NAME_MAX + 1] = '\0';
    assert_null(expr_parse(name, NULL, &e));
    assert_string_equal(e.text, "column 1: a name longer than 63 characters");
}

static void uses_finds_variables_in_every_branch(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(expr_destroy) expr *x = expr_parse("a ? min(b, 1) : !c", NULL, &e);
    assert_true(expr_uses(x, "a") && expr_uses(x, "b") && expr_uses(x, "c"));
    assert_false(expr_uses(x, "min") || expr_uses(x, "d") || expr_uses(x, ""));
    SCOPED(expr_destroy) expr *c = expr_const(-3);
    int64_t out = 0;
    assert_int_equal(expr_eval(c, NULL, 0, &out, &e), 0);
    assert_int_equal(out, -3);
    assert_false(expr_uses(c, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_c),
        cmocka_unit_test(what_does_not_compute_is_an_answer),
        cmocka_unit_test(bad_texts_are_refused_with_their_column),
        cmocka_unit_test(depth_and_length_are_limited),
        cmocka_unit_test(names_have_a_limit_too),
        cmocka_unit_test(uses_finds_variables_in_every_branch),
    };
    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
