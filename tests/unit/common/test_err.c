/* test_err - the error value
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"

static void a_setter_fills_every_field_and_returns_minus_one(void **state)
{
    (void)state;
    err e = {.retry = true, .retry_after_ms = 9, .native = 7, .domain = ERR_DOMAIN_CURL};
    assert_int_equal(err_set(&e, ERR_CONFIG, "bad %s %d", "thing", 3), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_int_equal(e.domain, ERR_DOMAIN_NONE);
    assert_int_equal(e.native, 0);
    assert_false(e.retry);
    assert_int_equal(e.retry_after_ms, 0);
    assert_string_equal(e.text, "bad thing 3");
}

static void every_setter_takes_null(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ERR_GPU, "x"), -1);
    assert_int_equal(err_native(NULL, ERR_GPU, ERR_DOMAIN_CUDA, 700, "x"), -1);
    assert_int_equal(err_errno(NULL, ENOENT, "x"), -1);
    assert_int_equal(err_wrap(NULL, "x"), -1);
}

static void errno_values_become_what_a_caller_can_do(void **state)
{
    (void)state;
    static const struct {
        int errnum;
        err_code code;
        bool retry;
    } rows[] = {
        {ENOENT, ERR_NOT_FOUND, false},   {ENOTDIR, ERR_NOT_FOUND, false},
        {EACCES, ERR_DENIED, false},      {EPERM, ERR_DENIED, false},
        {EROFS, ERR_DENIED, false},       {EEXIST, ERR_CONFLICT, false},
        {ETIMEDOUT, ERR_TIMEOUT, true},   {ENOSPC, ERR_LIMIT, true},
        {ENOSYS, ERR_UNAVAILABLE, false}, {ECONNREFUSED, ERR_UNAVAILABLE, true},
        {EINTR, ERR_SYSTEM, true},        {EIO, ERR_SYSTEM, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e;
        assert_int_equal(err_errno(&e, rows[i].errnum, "open f"), -1);
        assert_int_equal(e.code, rows[i].code);
        assert_int_equal(e.retry, rows[i].retry);
        assert_int_equal(e.domain, ERR_DOMAIN_ERRNO);
        assert_int_equal(e.native, rows[i].errnum);
    }
    err e;
    err_errno(&e, ENOENT, "open %s", "/x");
    assert_string_equal(e.text, "open /x: No such file or directory");
    err_errno(&e, 4711, "open");
    assert_string_equal(e.text, "open: errno 4711");
}

static void the_reason_survives_a_path_that_is_too_long(void **state)
{
    (void)state;
    char path[400];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    err e;
    err_errno(&e, EACCES, "open %s", path);
    assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
    assert_true(str_ends(e.text, "ppp: Permission denied"));
}

static void text_is_cut_between_characters_at_every_offset(void **state)
{
    (void)state;
    char text[400] = "";
    for (size_t shift = 0; shift < 4; shift++) {
        size_t at = shift;
        memset(text, 'x', shift);
        for (; at + 4 < sizeof text; at += 4)
            memcpy(text + at, "\xf0\x9f\x98\x80", 4);
        text[at] = '\0';
        err e;
        err_set(&e, ERR_CONFIG, "%s", text);
        size_t size = strlen(e.text);
        assert_int_equal(str_utf8_valid(e.text, size), size);
        assert_true(size > ERR_TEXT_MAX - 5);
    }
}

static void foreign_bytes_do_not_pass(void **state)
{
    (void)state;
    err e;
    err_set(&e, ERR_PROTOCOL, "near '%s'", "a\xff\xc3\x1b[31m\n");
    assert_string_equal(e.text, "near 'a?? [31m '");
}

static void wrap_prefixes_and_keeps_the_code(void **state)
{
    (void)state;
    err e;
    err_native(&e, ERR_GPU, ERR_DOMAIN_CUDA, 700, "illegal address");
    e.retry = true;
    assert_int_equal(err_wrap(&e, "shard %d", 12), -1);
    assert_string_equal(e.text, "shard 12: illegal address");
    assert_int_equal(e.code, ERR_GPU);
    assert_int_equal(e.native, 700);
    assert_true(e.retry);
    for (int i = 0; i < 100; i++)
        err_wrap(&e, "again and again");
    assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
}

static void arguments_may_point_into_the_same_error(void **state)
{
    (void)state;
    err e;
    err_set(&e, ERR_CONFIG, "inner");
    err_set(&e, ERR_CONFIG, "outer(%s)", e.text);
    assert_string_equal(e.text, "outer(inner)");
}

static void every_code_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(err_code_name(ERR_NONE), "none");
    assert_string_equal(err_code_name(ERR_NOT_FOUND), "not_found");
    assert_string_equal(err_code_name(ERR_INTERNAL), "internal");
    assert_string_equal(err_code_name((err_code)99), "unknown");
    assert_string_equal(err_code_name((err_code)-1), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_setter_fills_every_field_and_returns_minus_one),
        cmocka_unit_test(every_setter_takes_null),
        cmocka_unit_test(errno_values_become_what_a_caller_can_do),
        cmocka_unit_test(the_reason_survives_a_path_that_is_too_long),
        cmocka_unit_test(text_is_cut_between_characters_at_every_offset),
        cmocka_unit_test(foreign_bytes_do_not_pass),
        cmocka_unit_test(wrap_prefixes_and_keeps_the_code),
        cmocka_unit_test(arguments_may_point_into_the_same_error),
        cmocka_unit_test(every_code_has_a_name),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
