/* test_html - text that cannot become markup, and a frame that fetches nothing
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "reports/html.h"

enum { MAX = 64 * 1024 };

static void text_is_escaped(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"<b>&\"'</b>", "&lt;b&gt;&amp;&quot;&#39;&lt;/b&gt;"},
        {"a\nb\tc", "a\nb\tc"},
        {"a\x01"
         "b\x7f\x1b[31m",
         "a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD\xEF\xBF\xBD[31m"},
        {"\xC3\xA4 \xFF \xC3", "\xC3\xA4 \xEF\xBF\xBD \xEF\xBF\xBD"},
        /* marks that turn the direction of writing: LRM, RLO, RLI */
        {"a\xE2\x80\x8E\xE2\x80\xAE\xE2\x81\xA7 \xE2\x80\x93 \xD7\x90",
         "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xE2\x80\x93 \xD7\x90"},
        {"", ""},
        {NULL, "–"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        html_text(&out, cases[i][0]);
        assert_string_equal(buf_text(&out), cases[i][1]);
    }
}

static void a_page_is_whole_and_alone(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    html_open(&out, "</title><script>");
    html_region(&out, "ranks", "Ranks");
    buf_puts(&out, "</table></div>\n");
    html_close(&out);
    const char *page = buf_text(&out);
    static const char *const wanted[] = {"<!DOCTYPE html>\n<html lang=\"en\">",
                                         "default-src 'none'",
                                         "name=\"viewport\"",
                                         "prefers-color-scheme:dark",
                                         "<title>&lt;/title&gt;&lt;script&gt;</title>",
                                         "role=\"region\" tabindex=\"0\" aria-labelledby=\"ranks\"",
                                         "<caption>Ranks</caption>",
                                         "</html>\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (strstr(page, wanted[i]) == NULL)
            fail_msg("no %s", wanted[i]);
    static const char *const never[] = {"<script", "http:", "https:", "url(", "@import", "<link"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_null(strstr(page, never[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(a_page_is_whole_and_alone),
    };
    return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
