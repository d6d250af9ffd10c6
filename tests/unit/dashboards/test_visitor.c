/* test_visitor - who is answered
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "dashboards/visitor.h"

static void an_address_is_read_or_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        int port;
        bool loopback, six;
    } good[] = {
        {"8700", "127.0.0.1", 8700, true, false},
        {"0", "127.0.0.1", 0, true, false},
        {"localhost:8700", "127.0.0.1", 8700, true, false},
        {"127.3.2.1:1", "127.3.2.1", 1, true, false},
        {"[::1]:8700", "::1", 8700, true, true},
        {":8700", "0.0.0.0", 8700, false, false},
        {"10.0.0.7:65535", "10.0.0.7", 65535, false, false},
        {"[::]:80", "::", 80, false, true},
    };
    static const char *const bad[] = {
        "",       ":", "x", "65536", "-1", "host.example:80", "1.2.3:80", "[::1]", "127.0.0.1:80x",
        "[::1:80"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        visitor_address at;
        err e = {0};
        if (visitor_listen(good[i].text, &at, &e) < 0)
            fail_msg("%s: %s", good[i].text, e.text);
        assert_string_equal(at.host, good[i].host);
        assert_int_equal(at.port, good[i].port);
        assert_true(at.loopback == good[i].loopback && at.six == good[i].six);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        visitor_address at;
        err e = {0};
        assert_int_equal(visitor_listen(bad[i], &at, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "--http"));
    }
}

static void off_loopback_a_token_is_required(void **state)
{
    (void)state;
    const visitor_address near = {.loopback = true}, far = {.host = "0.0.0.0"};
    err e = {0};
    assert_int_equal(visitor_token(&near, NULL, &e), 0);
    assert_int_equal(visitor_token(&far, NULL, &e), -1);
    assert_non_null(strstr(e.text, "CE_HTTP_TOKEN"));
    assert_int_equal(visitor_token(&far, "0123456789abcdef", &e), 0);
    assert_int_equal(visitor_token(&far, "short", &e), -1);
    assert_int_equal(visitor_token(&near, "with spaces in between", &e), -1);
}

static void every_rule_is_asked(void **state)
{
    (void)state;
    static const char token[] = "0123456789abcdef";
    static const struct {
        const char *what;
        visitor_request request;
        const char *token;
        bool far;
        int status;
    } rows[] = {
        {"plain", {"GET", "localhost:8700", NULL, NULL, NULL}, NULL, false, 0},
        {"head", {"HEAD", "127.0.0.1", NULL, NULL, NULL}, NULL, false, 0},
        {"six", {"GET", "[::1]:8700", NULL, NULL, NULL}, NULL, false, 0},
        {"post", {"POST", "localhost", NULL, NULL, NULL}, NULL, false, 405},
        {"delete", {"DELETE", "localhost", NULL, NULL, NULL}, NULL, false, 405},
        {"no host", {"GET", NULL, NULL, NULL, NULL}, NULL, false, 403},
        {"rebound", {"GET", "evil.example", NULL, NULL, NULL}, NULL, false, 403},
        {"almost", {"GET", "localhost.evil.example", NULL, NULL, NULL}, NULL, false, 403},
        {"own origin", {"GET", "localhost:1", "http://localhost:1", NULL, NULL}, NULL, false, 0},
        {"origin", {"GET", "localhost:1", "http://evil.example", NULL, NULL}, NULL, false, 403},
        {"other port", {"GET", "localhost:1", "http://localhost:2", NULL, NULL}, NULL, false, 403},
        {"null origin", {"GET", "localhost:1", "null", NULL, NULL}, NULL, false, 403},
        {"any name", {"GET", "box.example", NULL, "Bearer 0123456789abcdef", NULL}, token, true, 0},
        {"cookie", {"GET", "box", NULL, NULL, "0123456789abcdef"}, token, true, 0},
        {"no token", {"GET", "box", NULL, NULL, NULL}, token, true, 401},
        {"wrong", {"GET", "box", NULL, "Bearer 0123456789abcdeX", NULL}, token, true, 401},
        {"basic", {"GET", "box", NULL, "0123456789abcdef", NULL}, token, true, 401},
        {"prefix", {"GET", "box", NULL, NULL, "0123456789abcde"}, token, true, 401},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const visitor_address at = {.loopback = !rows[i].far};
        const char *why = NULL;
        int status = visitor_check(&at, rows[i].token, &rows[i].request, &why);
        if (status != rows[i].status)
            fail_msg("%s: %d", rows[i].what, status);
        assert_true((why != NULL) == (status != 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_read_or_refused_with_a_sentence),
        cmocka_unit_test(off_loopback_a_token_is_required),
        cmocka_unit_test(every_rule_is_asked),
    };
    return cmocka_run_group_tests_name("visitor", tests, NULL, NULL);
}
