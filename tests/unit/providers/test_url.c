/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "providers/url.h"

static void a_base_url_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kept; /* NULL: refused */
    } cases[] = {{"https://api.openai.com/v1", "https://api.openai.com/v1"},
                 {"https://openrouter.ai/api/v1///", "https://openrouter.ai/api/v1"},
                 {"http://127.0.0.1:8000", "http://127.0.0.1:8000"},
                 {"http://[::1]:1/v1", "http://[::1]:1/v1"},
                 {"ftp://host", NULL},
                 {"https://", NULL},
                 {"https://user:key@host/v1", NULL},
                 {"https://host/v1?key=abc", NULL},
                 {"https://host/v1#x", NULL},
                 {"https://host/a b", NULL},
                 {"https://host/a\nb", NULL},
                 {"https://h\xC3\xB6st/", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64] = "untouched";
        err e = {0};
        int rc = url_check(cases[i].text, out, sizeof(out), &e);
        assert_int_equal(rc, cases[i].kept != NULL ? 0 : -1);
        assert_string_equal(out, cases[i].kept != NULL ? cases[i].kept : "untouched");
        assert_null(strstr(e.text, "abc")); /* a key that was put there by mistake */
    }
    char small[8];
    err e = {0};
    assert_int_equal(url_check("https://a.example", small, sizeof(small), &e), -1);
}

static void only_this_machine_is_loopback(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool loopback, open;
    } cases[] = {{"http://127.0.0.1:1/v1", true, false},
                 {"http://localhost/v1", true, false},
                 {"http://LOCALHOST:80", true, false},
                 {"http://[::1]:80/", true, false},
                 {"http://127.0.0.1.evil.example/", false, true},
                 {"http://localhost.example", false, true},
                 {"http://gpu-box:8000/v1", false, true},
                 {"https://localhost.example", false, false},
                 {"nothing", false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(url_is_loopback(cases[i].url) == cases[i].loopback);
        assert_true(url_is_open(cases[i].url) == cases[i].open);
    }
    assert_true(url_is_host("https://openrouter.ai:443/api/v1", "openrouter.ai"));
    assert_false(url_is_host("https://openrouter.ai.example/api/v1", "openrouter.ai"));
}

static void a_segment_of_a_path_is_escaped(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 256);
    url_escape(&out, "gemini-4.0_x~");
    url_escape(&out, "a/b:c?d\xC3\xA4");
    assert_string_equal(buf_text(&out), "gemini-4.0_x~a%2Fb%3Ac%3Fd%C3%A4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_base_url_is_checked),
                                       cmocka_unit_test(only_this_machine_is_loopback),
                                       cmocka_unit_test(a_segment_of_a_path_is_escaped)};
    return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
