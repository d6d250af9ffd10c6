/* test_frame - the head of every message
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "wire/frame.h"

static void the_layout_never_changes(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 100);
    frame head = {.version = 7, .number = 0x0102, .seq = UINT64_C(0x0304050607080910)};
    frame_write(&head, &out);
    assert_int_equal(out.size, FRAME_HEAD);
    assert_memory_equal(out.data, "ce\x07\x01\x02\x03\x04\x05\x06\x07\x08\x09\x10", FRAME_HEAD);
    frame back;
    assert_int_equal(frame_read(out.data, out.size, &back, NULL), 0);
    assert_int_equal(back.version, head.version);
    assert_int_equal(back.number, head.number);
    assert_true(back.seq == head.seq);
}

static void the_largest_values_fit(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 100);
    frame head = {.version = 255, .number = 65535, .seq = UINT64_MAX};
    frame_write(&head, &out);
    frame back;
    assert_int_equal(frame_read(out.data, out.size, &back, NULL), 0);
    assert_true(back.version == 255 && back.number == 65535 && back.seq == UINT64_MAX);
}

static void a_short_or_foreign_head_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        const char *says;
    } rows[] = {
        {"", 0, "too short"},
        {"ce\x01\0\1\0\0\0\0\0\0\0", 12, "too short"},
        {"GET / HTTP/1.1", 14, "not a message"},
        {"cE\x01\0\1\0\0\0\0\0\0\0\0", 13, "not a message"},
        {"\0\0\0\0\0\0\0\0\0\0\0\0\0", 13, "not a message"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        err e = {0};
        frame out = {.seq = 42};
        assert_int_equal(frame_read(rows[i].data, rows[i].size, &out, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
        assert_non_null(strstr(e.text, rows[i].says));
        assert_true(out.seq == 42);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_never_changes),
        cmocka_unit_test(the_largest_values_fit),
        cmocka_unit_test(a_short_or_foreign_head_is_refused),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
