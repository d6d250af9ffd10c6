/* test_pack - msgpack, strictly
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/pack.h"
#include "common/scoped.h"

static const int64_t numbers[] = {
    0,  1,   127, 128,  255,  256,    65535,  65536,       4294967295,  4294967296, INT64_MAX,
    -1, -32, -33, -128, -129, -32768, -32769, -2147483648, -2147483649, INT64_MIN};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static void integers_of_every_width_survive(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 1000);
    for (size_t i = 0; i < NUMBERS; i++)
        pack_i64(&b, numbers[i]);
    pack_reader r = {b.data, b.size, 0};
    for (size_t i = 0; i < NUMBERS; i++) {
        int64_t out = 77;
        assert_int_equal(pack_read_i64(&r, &out, NULL), 0);
        assert_true(out == numbers[i]);
    }
    assert_true(pack_at_end(&r));
}

static void texts_and_bytes_of_every_length_class_survive(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 31, 32, 255, 256, 65535, 65536};
    static char body[65536];
    memset(body, 'x', sizeof body);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        SCOPED(buf_fini) buf b;
        buf_init(&b, 200000);
        pack_str(&b, body, sizes[i]);
        pack_bytes(&b, body, sizes[i]);
        pack_reader r = {b.data, b.size, 0};
        str text = {NULL, 7};
        str bytes = {NULL, 7};
        assert_int_equal(pack_read_str(&r, sizes[i], &text, NULL), 0);
        assert_int_equal(pack_read_bytes(&r, sizes[i], &bytes, NULL), 0);
        assert_int_equal(text.size, sizes[i]);
        assert_int_equal(bytes.size, sizes[i]);
        assert_memory_equal(text.data, body, sizes[i]);
        assert_memory_equal(bytes.data, body, sizes[i]);
        assert_true(pack_at_end(&r));
    }
}

static void reals_and_flags_survive_bit_by_bit(void **state)
{
    (void)state;
    const double reals[] = {0.0,        -0.0, 1.5, 5e-324, 1.7976931348623157e308, (double)INFINITY,
                            (double)NAN};
    SCOPED(buf_fini) buf b;
    buf_init(&b, 1000);
    for (size_t i = 0; i < 7; i++)
        pack_f64(&b, reals[i]);
    pack_bool(&b, true);
    pack_bool(&b, false);
    pack_reader r = {b.data, b.size, 0};
    for (size_t i = 0; i < 7; i++) {
        double out;
        assert_int_equal(pack_read_f64(&r, &out, NULL), 0);
        assert_memory_equal(&out, &reals[i], sizeof out);
    }
    bool flag = false;
    assert_int_equal(pack_read_bool(&r, &flag, NULL), 0);
    assert_true(flag);
    assert_int_equal(pack_read_bool(&r, &flag, NULL), 0);
    assert_false(flag);
}

static void write_message(buf *b)
{
    pack_map(b, 3);
    pack_str(b, "id", 2);
    pack_i64(b, 70000);
    pack_str(b, "rows", 4);
    pack_array(b, 2);
    pack_f64(b, 2.5);
    pack_bytes(b, "\0\1\2", 3);
    pack_str(b, "ok", 2);
    pack_bool(b, true);
}

static int read_message(pack_reader *r, err *e)
{
    size_t n;
    str view;
    int64_t id;
    double real;
    bool ok;
    bool good = pack_read_map(r, 3, &n, e) == 0 && n == 3 && pack_read_str(r, 9, &view, e) == 0 &&
                pack_read_i64(r, &id, e) == 0 && pack_read_str(r, 9, &view, e) == 0 &&
                pack_read_array(r, 2, &n, e) == 0 && n == 2 && pack_read_f64(r, &real, e) == 0 &&
                pack_read_bytes(r, 3, &view, e) == 0 && pack_read_str(r, 9, &view, e) == 0 &&
                pack_read_bool(r, &ok, e) == 0 && id == 70000;
    return good ? 0 : -1;
}

static void a_message_cut_at_any_byte_is_a_protocol_error(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 1000);
    write_message(&b);
    for (size_t cut = 0; cut <= b.size; cut++) {
        char *exact = malloc(cut + 1); /* a sanitizer sees a read past `cut` bytes */
        memcpy(exact, b.data, cut);
        exact = realloc(exact, cut == 0 ? 1 : cut);
        pack_reader r = {exact, cut, 0};
        err e = {0};
        int rc = read_message(&r, &e);
        assert_int_equal(rc, cut == b.size ? 0 : -1);
        if (rc < 0) {
            assert_int_equal(e.code, ERR_PROTOCOL);
            assert_string_equal(e.text, "the message is cut short");
        }
        free(exact);
    }
}

typedef int read_fn(pack_reader *r, err *e);

static int read_map(pack_reader *r, err *e)
{
    size_t n;
    return pack_read_map(r, 10, &n, e);
}

static int read_array(pack_reader *r, err *e)
{
    size_t n;
    return pack_read_array(r, 10, &n, e);
}

static int read_i64(pack_reader *r, err *e)
{
    int64_t out;
    return pack_read_i64(r, &out, e);
}

static int read_f64(pack_reader *r, err *e)
{
    double out;
    return pack_read_f64(r, &out, e);
}

static int read_bool(pack_reader *r, err *e)
{
    bool out;
    return pack_read_bool(r, &out, e);
}

static int read_str(pack_reader *r, err *e)
{
    str out;
    return pack_read_str(r, 10, &out, e);
}

static int read_bytes(pack_reader *r, err *e)
{
    str out;
    return pack_read_bytes(r, 10, &out, e);
}

static void wrong_types_limits_and_lies_are_refused_in_place(void **state)
{
    (void)state;
    static const struct {
        read_fn *read;
        const char *bytes;
        size_t size;
        err_code code;
    } rows[] = {
        {read_map, "\x93\1\2\3", 4, ERR_PROTOCOL},
        {read_map, "\x8b", 1, ERR_LIMIT},
        {read_map, "\xdf\xff\xff\xff\xff", 5, ERR_LIMIT},
        {read_map, "\x8a\1", 2, ERR_PROTOCOL}, /* ten members in one byte */
        {read_array, "\x80", 1, ERR_PROTOCOL},
        {read_array, "\xdc\x00\x0b", 3, ERR_LIMIT},
        {read_array, "\x9a\1", 2, ERR_PROTOCOL},
        {read_i64, "\xcb\0\0\0\0\0\0\0\0", 9, ERR_PROTOCOL}, /* a real */
        {read_i64, "\xc0", 1, ERR_PROTOCOL},
        {read_i64, "\xcf\x80\0\0\0\0\0\0\0", 9, ERR_PROTOCOL}, /* 2^63 */
        {read_f64, "\x01", 1, ERR_PROTOCOL},
        {read_f64, "\xca\0\0\0\0", 5, ERR_PROTOCOL}, /* single precision */
        {read_bool, "\x01", 1, ERR_PROTOCOL},
        {read_bool, "\xc0", 1, ERR_PROTOCOL},
        {read_str, "\xc4\x01x", 3, ERR_PROTOCOL},
        {read_str, "\xabxxxxxxxxxxx", 12, ERR_LIMIT},
        {read_str, "\xa2\xc3\x28", 3, ERR_PROTOCOL}, /* no UTF-8 */
        {read_str, "\xa2x\0", 3, ERR_PROTOCOL},
        {read_str, "\xdb\xff\xff\xff\xff", 5, ERR_LIMIT},
        {read_bytes, "\xa1x", 2, ERR_PROTOCOL},
        {read_bytes, "\xc6\xff\xff\xff\xff", 5, ERR_LIMIT},
        {read_bytes, "\xc1", 1, ERR_PROTOCOL}, /* never used by msgpack */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pack_reader r = {rows[i].bytes, rows[i].size, 0};
        err e = {0};
        assert_int_equal(rows[i].read(&r, &e), -1);
        assert_int_equal(e.code, rows[i].code);
        assert_int_equal(r.at, 0);
    }
}

static void a_writer_past_the_maximum_marks_the_buffer(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf b;
    buf_init(&b, 10);
    write_message(&b);
    assert_true(b.overflow);
    assert_true(b.size <= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_width_survive),
        cmocka_unit_test(texts_and_bytes_of_every_length_class_survive),
        cmocka_unit_test(reals_and_flags_survive_bit_by_bit),
        cmocka_unit_test(a_message_cut_at_any_byte_is_a_protocol_error),
        cmocka_unit_test(wrong_types_limits_and_lies_are_refused_in_place),
        cmocka_unit_test(a_writer_past_the_maximum_marks_the_buffer),
    };
    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
