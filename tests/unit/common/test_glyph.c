/* test_glyph - what a terminal is given of foreign text
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/glyph.h"
#include "common/scoped.h"

#define BAD "\xef\xbf\xbd"

static void text_is_inert_and_keeps_its_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text, *utf8, *ascii;
        size_t columns, ascii_columns;
    } rows[] = {
        {"", "", "", 0, 0},
        {"plain ~", "plain ~", "plain ~", 7, 7},
        {"a\033[31mb", "a" BAD "[31mb", "a?[31mb", 7, 7},
        {"a\nb\rc\td\x7f", "a" BAD "b" BAD "c" BAD "d" BAD, "a?b?c?d?", 8, 8},
        {"\xc2\x9b"
         "2J",
         BAD "2J", "?2J", 3, 3},                            /* CSI as one character */
        {"\xff\xc3k", BAD BAD "k", "??k", 3, 3},            /* no UTF-8 */
        {"m\xc3\xbcller", "m\xc3\xbcller", "m?ller", 6, 6}, /* ü */
        {"\xe6\xbc\xa2\xe5\xad\x97z", "\xe6\xbc\xa2\xe5\xad\x97z", "??z", 5,
         3}, /* two columns each */
        {"a\xe2\x80\xae"
         "b",
         "a" BAD "b", "a?b", 3, 3}, /* right-to-left override */
        {"a\xe2\x81\xa6"
         "b",
         "a" BAD "b", "a?b", 3, 3}, /* isolate */
        {"\xd7\xa9\xd7\x9c"
         "x",
         BAD BAD "x", "??x", 3, 3},         /* Hebrew letters */
        {"e\xcc\x81", "e" BAD, "e?", 2, 2}, /* a mark on the letter before */
        {"a\xe2\x80\x8b"
         "b",
         "a" BAD "b", "a?b", 3, 3}, /* no width at all */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf wide, ascii;
        buf_init(&wide, 100);
        buf_init(&ascii, 100);
        assert_int_equal(glyph_add(&wide, rows[i].text, 50, true), rows[i].columns);
        assert_int_equal(glyph_add(&ascii, rows[i].text, 50, false), rows[i].ascii_columns);
        assert_string_equal(buf_text(&wide), rows[i].utf8);
        assert_string_equal(buf_text(&ascii), rows[i].ascii);
        assert_int_equal(glyph_width(rows[i].text, true), rows[i].columns);
        assert_int_equal(glyph_width(rows[i].text, false), rows[i].ascii_columns);
    }
}

static void what_does_not_fit_is_cut_at_a_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        bool utf8;
        const char *shown;
        size_t taken;
    } rows[] = {
        {"abcdef", 6, true, "abcdef", 6},
        {"abcdef", 5, true, "abcd\xe2\x80\xa6", 5},
        {"abcdef", 5, false, "ab...", 5},
        {"abcdef", 2, false, "ab", 2},
        {"abcdef", 0, true, "", 0},
        {"\xe6\xbc\xa2\xe5\xad\x97", 3, true, "\xe6\xbc\xa2\xe2\x80\xa6", 3},
        {"\xe6\xbc\xa2\xe5\xad\x97", 2, true, "\xe2\x80\xa6", 1}, /* half a character is none */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, 100);
        assert_int_equal(glyph_add(&out, rows[i].text, rows[i].columns, rows[i].utf8),
                         rows[i].taken);
        assert_string_equal(buf_text(&out), rows[i].shown);
    }
}

static void a_cell_is_filled_up(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 100);
    glyph_fill(&out, "\xe6\xbc\xa2", 4, true);
    glyph_fill(&out, "abcdef", 4, false);
    assert_string_equal(buf_text(&out), "\xe6\xbc\xa2  a...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_inert_and_keeps_its_columns),
        cmocka_unit_test(what_does_not_fit_is_cut_at_a_column),
        cmocka_unit_test(a_cell_is_filled_up),
    };
    return cmocka_run_group_tests_name("common/glyph", tests, NULL, NULL);
}
