/* test_str - views and small text helpers
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

static void views_compare_trim_and_match(void **state)
{
    (void)state;
    assert_int_equal(str_of(NULL).size, 0);
    assert_true(str_equal(str_of("abc"), "abc"));
    assert_false(str_equal(str_of("abc"), "ab"));
    assert_false(str_equal(str_of("ab"), "abc"));
    assert_true(str_equal(str_of(NULL), ""));
    assert_true(str_equal(str_trim(str_of(" \t\r\n a b \v\f")), "a b"));
    assert_true(str_equal(str_trim(str_of("  ")), ""));
    assert_true(str_starts("--suite", "--"));
    assert_false(str_starts("-", "--"));
    assert_true(str_ends("a.yaml", ".yaml"));
    assert_false(str_ends("yaml", ".yaml"));
}

/* pieces joins what a splitter gives with '|'. */
static void pieces(const char *text, bool lines, char *out, size_t size)
{
    str rest = str_of(text);
    out[0] = '\0';
    for (str piece; lines ? str_line(&rest, &piece) : str_split(&rest, ',', &piece);) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%.*s|", (int)piece.size, piece.data);
    }
}

static void splitting_counts_empty_pieces(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"a,b", "a|b|"}, {"a", "a|"},     {"", "|"},
                                          {"a,", "a||"},   {",,b", "||b|"}, {NULL, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[64];
        pieces(rows[i][0], false, out, sizeof out);
        assert_string_equal(out, rows[i][1]);
    }
}

static void lines_end_with_or_without_carriage_return(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a\nb", "a|b|"}, {"a\nb\n", "a|b|"}, {"a\r\n\r\nb\r", "a||b|"},
        {"", ""},         {"\n", "|"},        {"\n\n", "||"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[64];
        pieces(rows[i][0], true, out, sizeof out);
        assert_string_equal(out, rows[i][1]);
    }
}

static void whole_numbers_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } rows[] = {{"0", true, 0},
                {"-0", true, 0},
                {"42", true, 42},
                {"0042", true, 42},
                {"9223372036854775807", true, INT64_MAX},
                {"-9223372036854775808", true, INT64_MIN},
                {"9223372036854775808", false, 0},
                {"-9223372036854775809", false, 0},
                {"99999999999999999999999", false, 0},
                {"", false, 0},
                {"-", false, 0},
                {"+1", false, 0},
                {" 1", false, 0},
                {"1 ", false, 0},
                {"1x", false, 0},
                {"0x10", false, 0},
                {"1.0", false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = 77;
        assert_int_equal(str_to_i64(rows[i].text, &value), rows[i].ok);
        assert_int_equal(value, rows[i].ok ? rows[i].value : 77);
    }
}

static void reals_are_read_whole_and_finite_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        double value;
    } rows[] = {{"1.5", true, 1.5},  {"-2e3", true, -2000.0}, {"+.5", true, 0.5}, {"7", true, 7.0},
                {"1e-400", true, 0}, {"1e400", false, 0},     {"nan", false, 0},  {"inf", false, 0},
                {"0x1p3", false, 0}, {"", false, 0},          {" 1", false, 0},   {"1 ", false, 0},
                {"1.5.5", false, 0}, {"e5", false, 0},        {"-", false, 0},    {"1e", false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = 77;
        assert_int_equal(str_to_f64(rows[i].text, &value), rows[i].ok);
        assert_true(value == (rows[i].ok ? rows[i].value : 77));
    }
}

static void names_are_c_identifiers_of_limited_length(void **state)
{
    (void)state;
    assert_true(str_is_name("_a9", 3));
    assert_false(str_is_name("_a9b", 3));
    assert_false(str_is_name("", 3));
    assert_false(str_is_name("9a", 3));
    assert_false(str_is_name("a-b", 9));
    assert_false(str_is_name("\xc3\xa9", 9));
}

static void utf8_follows_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t step;
    } rows[] = {{"a", 1},
                {"\xc2\x80", 2},
                {"\xe0\xa0\x80", 3},
                {"\xed\x9f\xbf", 3},
                {"\xee\x80\x80", 3},
                {"\xf0\x90\x80\x80", 4},
                {"\xf4\x8f\xbf\xbf", 4},
                {"\x80", 0},             /* continuation alone */
                {"\xc0\x80", 0},         /* overlong */
                {"\xc1\xbf", 0},         /* overlong */
                {"\xe0\x9f\xbf", 0},     /* overlong */
                {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
                {"\xed\xa0\x80", 0},     /* surrogate */
                {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
                {"\xf5\x80\x80\x80", 0},
                {"\xff", 0},
                {"\xe2\x82", 0},   /* cut short */
                {"\xe2\x82z", 0}}; /* broken off */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(str_utf8_step(rows[i].text, strlen(rows[i].text)), rows[i].step);
    assert_int_equal(str_utf8_step("", 0), 0);
    assert_int_equal(str_utf8_valid("ab\xe2\x82\xac\xe2\x82", 7), 5);
    assert_int_equal(str_utf8_valid("", 0), 0);
}

static void the_nearest_word_is_a_slip_away_or_none(void **state)
{
    (void)state;
    static const char *const words[] = {"suite", "model-id", "samples", "seed", "db", NULL};
    assert_string_equal(str_nearest("siute", words), "suite");
    assert_string_equal(str_nearest("model_id", words), "model-id");
    assert_string_equal(str_nearest("sample", words), "samples");
    assert_string_equal(str_nearest("sede", words), "seed");
    assert_null(str_nearest("device", words));
    assert_null(str_nearest("x", words));
    assert_null(str_nearest("", words));
    char endless[300];
    memset(endless, 's', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    assert_null(str_nearest(endless, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_compare_trim_and_match),
        cmocka_unit_test(splitting_counts_empty_pieces),
        cmocka_unit_test(lines_end_with_or_without_carriage_return),
        cmocka_unit_test(whole_numbers_are_read_whole_or_not_at_all),
        cmocka_unit_test(reals_are_read_whole_and_finite_or_not_at_all),
        cmocka_unit_test(names_are_c_identifiers_of_limited_length),
        cmocka_unit_test(utf8_follows_the_standard),
        cmocka_unit_test(the_nearest_word_is_a_slip_away_or_none),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
