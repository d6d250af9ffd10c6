/* test_board_html - the page of known boards: complete, balanced, and nobody's markup but ours
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
#include "reports/board_html.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 4 * 1024 * 1024 };

static void page_of(fixture *f, const char *const *runs, size_t count, bool stable, buf *out)
{
    err e = {0};
    SCOPED(board_destroy)
    board *b = board_read(f->db, &(board_ask){.runs = runs, .run_count = count}, &e);
    if (b == NULL)
        fail_msg("%s", e.text);
    buf_init(out, MAX);
    SCOPED(figures_destroy) figures *all = figures_create(b);
    board_html_write(all, stable, out);
    assert_false(out->overflow);
}

static const char *const runs[] = {"run-cuda", "run-newer"};

static void a_board_is_one_page(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_cuda(f);
    filled_newer(f);
    page_of(f, runs, 2, false, &page);
    const char *start = strstr(buf_text(&page), "<main>");
    assert_non_null(start); /* before it is the frame, with its style */
    golden("board.html", start);
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

static void tags_are_balanced_and_tables_have_heads(void **state)
{
    (void)state;
    static const char *const tags[] = {"table", "thead", "tbody", "tr", "td", "th", "div",
                                       "ul",    "li",    "p",     "h2", "dl", "dd", "dt"};
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_cuda(f);
    filled_partial(f);
    page_of(f, (const char *const[]){"run-cuda", "run-part"}, 2, false, &page);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        SCOPED(scoped_free) char *plain = xasprintf("<%s>", tags[i]);
        SCOPED(scoped_free) char *more = xasprintf("<%s ", tags[i]);
        SCOPED(scoped_free) char *end = xasprintf("</%s>", tags[i]);
        size_t open = count_of(buf_text(&page), plain) + count_of(buf_text(&page), more);
        assert_int_equal(open, count_of(buf_text(&page), end));
    }
    assert_int_equal(count_of(buf_text(&page), "<table>"), count_of(buf_text(&page), "<caption>"));
    assert_int_equal(count_of(buf_text(&page), "<th"), count_of(buf_text(&page), "<th scope=") +
                                                           count_of(buf_text(&page), "<thead>"));
    assert_non_null(strstr(buf_text(&page), "2 of 3 tasks are not scored"));
}

static void strangers_write_no_markup(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_cuda(f);
    static const char evil[] = "<script>alert(1)</script>\"><img src=x onerror=y>'";
    static const char *const updates[] = {
        "UPDATE entrant SET name = %s || id", "UPDATE model_call SET served = %s, model = %s",
        "UPDATE task SET device = %s, driver = %s, torch = %s, baseline_mode = %s, detail = %s",
        "UPDATE run SET suite = %s, suite_version = %s, command = %s, version = %s",
        "UPDATE problem SET title = %s, category = %s"};
    for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
        SCOPED(buf_fini) buf sql = {0};
        buf_init(&sql, MAX);
        for (const char *p = updates[i]; *p != '\0'; p++)
            if (strncmp(p, "%s", 2) == 0) {
                buf_printf(&sql, "'%.*s'''", (int)strlen(evil) - 1, evil);
                p++;
            } else {
                buf_add(&sql, p, 1);
            }
        fixture_exec(f, buf_text(&sql));
    }
    page_of(f, runs, 1, false, &page);
    assert_null(strstr(buf_text(&page), "<script"));
    assert_null(strstr(buf_text(&page), "<img"));
    assert_non_null(strstr(buf_text(&page), "&lt;script&gt;"));
}

static void problems_that_stand_apart_are_explained(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf plain = {0};
    SCOPED(buf_fini) buf page = {0};
    filled_cuda(f);
    page_of(f, runs, 1, false, &plain);
    assert_null(strstr(buf_text(&plain), "degenerate"));
    assert_null(strstr(buf_text(&plain), "gemm"));
    fixture_exec(f, "UPDATE problem SET category = 'gemm' WHERE id = 'add'; "
                    "UPDATE problem SET category = 'degenerate' WHERE id = 'norm'");
    page_of(f, runs, 1, false, &page);
    assert_non_null(strstr(buf_text(&page), "Their own geometric means: gold 2.50× (n=1), "));
    assert_non_null(strstr(buf_text(&page), "passed by an answer that computes nothing"));
    assert_non_null(strstr(buf_text(&page), "correct and certified: gold 1 and "));
}

static void a_stable_page_tells_no_run(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(buf_fini) buf page = {0};
    filled_cuda(f);
    page_of(f, runs, 1, true, &page);
    assert_null(strstr(buf_text(&page), "run-cuda"));
    assert_null(strstr(buf_text(&page), "wall, sum"));
    assert_null(strstr(buf_text(&page), "2025-11-30"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_board_is_one_page),
        cmocka_unit_test(tags_are_balanced_and_tables_have_heads),
        cmocka_unit_test(strangers_write_no_markup),
        cmocka_unit_test(problems_that_stand_apart_are_explained),
        cmocka_unit_test(a_stable_page_tells_no_run),
    };
    return cmocka_run_group_tests_name("board_html", tests, NULL, NULL);
}
