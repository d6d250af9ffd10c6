/* test_site_text - texts of strangers: escaped, cut, and pointing at lines
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
#include "common/xalloc.h"
#include "reports/site_text.h"

enum { MAX = 1024 * 1024 };

typedef void put_fn(const site_text *text, buf *out);

static void source(const site_text *text, buf *out)
{
    site_text_source(text, "a1L", out);
}

static void compiler_log(const site_text *text, buf *out)
{
    site_text_log(text, "a1L", out);
}

static void has(put_fn *put, const char *text, const char *part)
{
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    put(&(site_text){text, NULL}, &out);
    if (strstr(buf_text(&out), part) == NULL)
        fail_msg("no %s in %s", part, buf_text(&out));
}

static void has_not(put_fn *put, const char *text, const char *part)
{
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, MAX);
    put(&(site_text){text, NULL}, &out);
    if (strstr(buf_text(&out), part) != NULL)
        fail_msg("%s in %s", part, buf_text(&out));
}

static void lines_have_ids(void **state)
{
    (void)state;
    has(source, "a\n\nb<",
        "<span id=\"a1L1\">a</span><span id=\"a1L2\"></span>"
        "<span id=\"a1L3\">b&lt;</span></pre>");
    has(source, "", "\"></pre>");
}

static void errors_point_at_lines(void **state)
{
    (void)state;
    has(compiler_log, "kernel.cu(12): error: x",
        "<a href=\"#a1L12\">kernel.cu(12)</a>: error: x\n");
    has(compiler_log, "ok\nk.cu(3)", "ok\n<a href=\"#a1L3\">k.cu(3)</a>\n");
    static const char *const no[] = {"kernel.cu(): x",
                                     "kernel.cu(1x): y",
                                     "kernel.cpp(1): z",
                                     "kernel.cu(12",
                                     "(12): a",
                                     "cu(1): b",
                                     "kernel.cu(1234567):",
                                     ".c(1)",
                                     ""};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        has_not(compiler_log, no[i], "<a ");
    has(compiler_log, "<i>.cu(1): <b>", "&lt;i&gt;.cu(1)</a>: &lt;b&gt;");
}

static void prompts_stand_by_turns(void **state)
{
    (void)state;
    has(site_text_prompt, "[{\"role\":\"system\",\"text\":\"a<b\"}]", "system</p>");
    has(site_text_prompt, "[{\"role\":\"system\",\"text\":\"a<b\"}]", ">a&lt;b</pre>");
    has(site_text_prompt, "not JSON <", "not JSON &lt;");
}

static void a_long_line_is_cut_and_says_where_it_is_whole(void **state)
{
    (void)state;
    static put_fn *const all[] = {site_text_plain, source, compiler_log, site_text_prompt};
    SCOPED(scoped_free) char *line = xcalloc(2 * SITE_TEXT_MAX, 1);
    memset(line, 'x', 2 * SITE_TEXT_MAX - 1);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, MAX);
        all[i](&(site_text){line, "../x/1.txt"}, &out);
        assert_in_range(out.size, SITE_TEXT_MAX, SITE_TEXT_MAX + 512);
        assert_non_null(strstr(buf_text(&out), "<a href=\"../x/1.txt\">the whole text</a>"));
        SCOPED(buf_fini) buf brief = {0};
        buf_init(&brief, MAX);
        all[i](&(site_text){"short", "../x/1.txt"}, &brief);
        assert_null(strstr(buf_text(&brief), "whole"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_ids),
        cmocka_unit_test(errors_point_at_lines),
        cmocka_unit_test(prompts_stand_by_turns),
        cmocka_unit_test(a_long_line_is_cut_and_says_where_it_is_whole),
    };
    return cmocka_run_group_tests_name("site_text", tests, NULL, NULL);
}
