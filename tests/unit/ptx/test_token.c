/* Words of PTX.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent-node/ptx/token.h"

typedef struct word_row {
    const char *text;
    token_kind kind;
    const char *word;
    uint64_t bits;
} word_row;

static const word_row words[] = {
    {"", TOKEN_END, "", 0},
    {"  // only a comment", TOKEN_END, "", 0},
    {"/* a\n b */ $L__BB0_2:", TOKEN_NAME, "$L__BB0_2", 0},
    {"%rd12,", TOKEN_NAME, "%rd12", 0},
    {"_ ", TOKEN_NAME, "_", 0},
    {".shared::cta.b32", TOKEN_DOT, "shared::cta", 0},
    {".mbarrier::complete_tx::bytes ", TOKEN_DOT, "mbarrier::complete_tx::bytes", 0},
    {".L2::128B", TOKEN_DOT, "L2::128B", 0},
    {"0f3F800000;", TOKEN_FLOAT, "0f3F800000", 0x3f800000},
    {"0D3ff0000000000000", TOKEN_FLOAT, "0D3ff0000000000000", 0x3ff0000000000000},
    {"2.0", TOKEN_FLOAT, "2.0", 0x4000000000000000},
    {"1e-1 ", TOKEN_FLOAT, "1e-1", 0x3fb999999999999a},
    {"0;", TOKEN_INT, "0", 0},
    {"18446744073709551615", TOKEN_INT, "18446744073709551615", UINT64_MAX},
    {"0XffU]", TOKEN_INT, "0XffU", 255},
    {"\"a\\\"b\" x", TOKEN_STRING, "a\\\"b", 0},
    {"+-", TOKEN_PUNCT, "+", 0},
};

static void every_kind_of_word_is_cut_where_it_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        token_reader reader = token_start(words[i].text, strlen(words[i].text));
        token t;
        err e = {.text = ""};
        if (token_next(&reader, &t, &e) != 0)
            fail_msg("%s: %s", words[i].text, e.text);
        if (t.kind != words[i].kind || t.bits != words[i].bits ||
            (t.kind != TOKEN_END && !str_equal(t.text, words[i].word)))
            fail_msg("%s: kind %d '%.*s' %llx", words[i].text, (int)t.kind, (int)t.text.size,
                     t.text.data, (unsigned long long)t.bits);
    }
}

static void lines_are_counted_through_comments(void **state)
{
    (void)state;
    static const char text[] = "a\n/* \n\n */ b // c\nd";
    static const uint32_t lines[] = {1, 4, 5, 5};
    token_reader reader = token_start(text, strlen(text));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        token t;
        assert_int_equal(token_next(&reader, &t, NULL), 0);
        assert_int_equal(t.line, lines[i]);
    }
}

static void bytes_that_are_no_words_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"\x80", ". x", "0f1234567", "0d12", "0b2", "09",
                                        "\\",   "`",   "\"open",    "/*",   "'x'", "1.2.3"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        token_reader reader = token_start(texts[i], strlen(texts[i]));
        token t;
        err e = {.code = ERR_NONE};
        if (token_next(&reader, &t, &e) == 0)
            fail_msg("%s is taken for a word", texts[i]);
        assert_int_equal(e.code, ERR_PROTOCOL);
    }
}

static void a_zero_byte_ends_no_number_quietly(void **state)
{
    (void)state;
    token_reader reader = token_start("0\0x", 3);
    token t;
    err e;
    assert_int_equal(token_next(&reader, &t, &e), 0);
    assert_int_equal(t.kind, TOKEN_INT);
    assert_int_equal(token_next(&reader, &t, &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_word_is_cut_where_it_ends),
        cmocka_unit_test(lines_are_counted_through_comments),
        cmocka_unit_test(bytes_that_are_no_words_are_refused),
        cmocka_unit_test(a_zero_byte_ends_no_number_quietly),
    };
    return cmocka_run_group_tests_name("ptx token", tests, NULL, NULL);
}
