/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <string.h>

#include "providers/fault.h"

static void classes_say_what_to_do(void **state)
{
    (void)state;
    static const struct {
        fault_class class;
        const char *name;
        err_code code;
        bool retry, terminal, throttles;
    } cases[] = {{FAULT_AUTH, "auth", ERR_DENIED, false, true, false},
                 {FAULT_QUOTA, "quota", ERR_LIMIT, false, true, false},
                 {FAULT_REQUEST, "request", ERR_CONFIG, false, false, false},
                 {FAULT_RATE_LIMIT, "rate_limit", ERR_LIMIT, true, false, true},
                 {FAULT_OVERLOADED, "overloaded", ERR_UNAVAILABLE, true, false, true},
                 {FAULT_TIMEOUT, "timeout", ERR_TIMEOUT, true, false, false},
                 {FAULT_BAD_RESPONSE, "bad_response", ERR_PROTOCOL, true, false, false},
                 {FAULT_SERVER, "server", ERR_UNAVAILABLE, true, false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fault f;
        err e = {0};
        fault_set(&f, cases[i].class, "it went %s", "wrong");
        assert_string_equal(fault_class_name(f.class), cases[i].name);
        assert_true(fault_may_retry(&f) == cases[i].retry);
        assert_true(fault_is_terminal(&f) == cases[i].terminal);
        assert_true(fault_throttles(&f) == cases[i].throttles);
        assert_int_equal(fault_to_err(&f, &e), -1);
        assert_int_equal(e.code, cases[i].code);
        assert_true(e.retry == cases[i].retry);
        assert_non_null(strstr(e.text, cases[i].name));
        assert_non_null(strstr(e.text, "it went wrong"));
        f.final = true;
        assert_false(fault_may_retry(&f));
    }
}

static void a_status_alone_has_a_class(void **state)
{
    (void)state;
    static const struct {
        int64_t status;
        fault_class class;
    } cases[] = {{200, FAULT_NONE},       {302, FAULT_BAD_RESPONSE}, {400, FAULT_REQUEST},
                 {401, FAULT_AUTH},       {402, FAULT_QUOTA},        {403, FAULT_AUTH},
                 {404, FAULT_REQUEST},    {408, FAULT_TIMEOUT},      {409, FAULT_SERVER},
                 {413, FAULT_REQUEST},    {422, FAULT_REQUEST},      {429, FAULT_RATE_LIMIT},
                 {498, FAULT_OVERLOADED}, {500, FAULT_SERVER},       {502, FAULT_SERVER},
                 {503, FAULT_OVERLOADED}, {504, FAULT_TIMEOUT},      {529, FAULT_OVERLOADED},
                 {599, FAULT_SERVER}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(fault_of_status(cases[i].status), cases[i].class);
    }
}

static void the_text_is_one_line_of_utf8(void **state)
{
    (void)state;
    fault f;
    char longer[ERR_TEXT_MAX + 8];
    memset(longer, 'a', sizeof(longer));
    memcpy(longer + ERR_TEXT_MAX - 2, "\xC3\xA4\xC3\xA4", 5);
    fault_set(&f, FAULT_SERVER, "%s", longer);
    assert_int_equal(strlen(f.text), ERR_TEXT_MAX - 2);
    fault_set(&f, FAULT_SERVER, "a\r\nb\tc");
    assert_string_equal(f.text, "a  b c");
}

static void a_cancelled_wait_is_a_conflict(void **state)
{
    (void)state;
    fault f;
    err e = {0};
    fault_set(&f, FAULT_SERVER, "cancelled");
    f.cancelled = true;
    assert_int_equal(fault_to_err(&f, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_false(fault_may_retry(&f));
}

static void the_wait_that_was_asked_for_travels(void **state)
{
    (void)state;
    fault f;
    err e = {0};
    fault_set(&f, FAULT_RATE_LIMIT, "slow down");
    assert_int_equal(f.wait_ms, -1);
    fault_to_err(&f, &e);
    assert_int_equal(e.retry_after_ms, 0);
    f.wait_ms = 120000;
    fault_to_err(&f, &e);
    assert_int_equal(e.retry_after_ms, 120000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_say_what_to_do),
                                       cmocka_unit_test(a_status_alone_has_a_class),
                                       cmocka_unit_test(the_text_is_one_line_of_utf8),
                                       cmocka_unit_test(a_cancelled_wait_is_a_conflict),
                                       cmocka_unit_test(the_wait_that_was_asked_for_travels)};
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
