/* test_buf - a growing byte buffer with a maximum
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

#include "common/buf.h"
#include "common/scoped.h"

static void an_empty_buffer_reads_as_empty_text(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 10);
    assert_null(b.data);
    assert_string_equal(buf_text(&b), "");
    assert_int_equal(buf_add(&b, NULL, 0), 0);
    assert_non_null(b.data);
    assert_string_equal(buf_text(&b), "");
}

static void appends_stay_terminated(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 1000);
    assert_int_equal(buf_puts(&b, "ab"), 0);
    assert_int_equal(buf_add(&b, "\0c", 2), 0);
    assert_int_equal(buf_printf(&b, "%d-%s", 42, "x"), 0);
    assert_int_equal(b.size, 8);
    assert_memory_equal(b.data, "ab\0c42-x", 9);
}

static void whole_numbers_are_written_in_decimal(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {{0, "0"},
                {7, "7"},
                {-10, "-10"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"}};
    SCOPED(buf_fini) buf b;
    buf_init(&b, 100);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_clear(&b);
        assert_int_equal(buf_int(&b, rows[i].value), 0);
        assert_string_equal(buf_text(&b), rows[i].text);
    }
}

static void the_maximum_is_exact(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 5);
    assert_int_equal(buf_puts(&b, "12345"), 0);
    assert_false(b.overflow);
    assert_int_equal(buf_add(&b, "", 0), 0);
    assert_int_equal(buf_puts(&b, "6"), -1);
    assert_true(b.overflow);
    assert_string_equal(buf_text(&b), "12345");
    assert_true(b.cap <= 6);
}

static void an_overflow_stays_until_clear(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 4);
    assert_int_equal(buf_printf(&b, "%s", "12345"), -1);
    assert_int_equal(b.size, 0);
    assert_int_equal(buf_puts(&b, "1"), -1);
    buf_clear(&b);
    assert_int_equal(buf_puts(&b, "1"), 0);
    assert_string_equal(buf_text(&b), "1");
}

static void growing_byte_by_byte_keeps_everything(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 100000);
    for (int i = 0; i < 100000; i++) {
        char c = (char)i;
        assert_int_equal(buf_add(&b, &c, 1), 0);
    }
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b.data[i], (char)i);
    assert_int_equal(buf_add(&b, "", 1), -1);
}

static void a_huge_size_does_not_wrap(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, SIZE_MAX);
    assert_int_equal(buf_puts(&b, "x"), 0);
    assert_int_equal(buf_add(&b, "y", SIZE_MAX - 1), -1);
    assert_string_equal(buf_text(&b), "x");
}

typedef struct sink {
    buf got;
    int calls_left; /* then it fails */
} sink;

static int drain(void *arg, const void *data, size_t size)
{
    sink *s = arg;
    return s->calls_left-- > 0 ? buf_add(&s->got, data, size) : -1;
}

static void a_drained_buffer_loses_nothing(void **state)
{
    (void)state;
    sink s = {.calls_left = 1000};
    buf whole, b;
    buf_init(&s.got, 100000);
    buf_init(&whole, 100000);
    buf_init_drain(&b, 16, drain, &s);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(buf_printf(&b, "%d,", i * 37), 0);
        buf_printf(&whole, "%d,", i * 37);
        assert_true(b.size <= 16);
    }
    buf_add(&s.got, buf_text(&b), b.size);
    assert_string_equal(buf_text(&s.got), buf_text(&whole));
    assert_int_equal(buf_puts(&b, "longer than sixteen bytes"), -1);
    buf_fini(&b);
    buf_fini(&whole);
    buf_fini(&s.got);
}

static void a_drain_that_fails_is_an_overflow(void **state)
{
    (void)state;
    sink s = {.calls_left = 0};
    buf b;
    buf_init_drain(&b, 4, drain, &s);
    assert_int_equal(buf_puts(&b, "abc"), 0);
    assert_int_equal(buf_puts(&b, "de"), -1);
    assert_true(b.overflow);
    assert_int_equal(buf_puts(&b, ""), -1);
    buf_fini(&b);
}

static void take_hands_over_and_the_buffer_starts_again(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 3);
    char *nothing = buf_take(&b);
    assert_string_equal(nothing, "");
    free(nothing);
    buf_puts(&b, "abc");
    buf_puts(&b, "d");
    char *text = buf_take(&b);
    assert_string_equal(text, "abc");
    free(text);
    assert_int_equal(b.size, 0);
    assert_false(b.overflow);
    assert_int_equal(buf_puts(&b, "xyz"), 0);
    assert_int_equal(buf_puts(&b, "!"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_reads_as_empty_text),
        cmocka_unit_test(appends_stay_terminated),
        cmocka_unit_test(whole_numbers_are_written_in_decimal),
        cmocka_unit_test(the_maximum_is_exact),
        cmocka_unit_test(an_overflow_stays_until_clear),
        cmocka_unit_test(growing_byte_by_byte_keeps_everything),
        cmocka_unit_test(a_huge_size_does_not_wrap),
        cmocka_unit_test(a_drained_buffer_loses_nothing),
        cmocka_unit_test(a_drain_that_fails_is_an_overflow),
        cmocka_unit_test(take_hands_over_and_the_buffer_starts_again),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
