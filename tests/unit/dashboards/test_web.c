/* test_web - the page's files are there, and whole
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "dashboards/web.h"

static const web_file *find(const char *path)
{
    for (const web_file *f = web_files; f->path != NULL; f++)
        if (strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

/* Every src and href of the page leads to a file of ours: it needs no other server. */
static void the_page_asks_only_for_what_is_there(void **state)
{
    (void)state;
    const web_file *page = find("/");
    assert_non_null(page);
    size_t links = 0;
    static const char *const attributes[] = {"src=\"", "href=\""};
    for (size_t a = 0; a < 2; a++) {
        const char *at = (const char *)page->data;
        while ((at = strstr(at, attributes[a])) != NULL) {
            char path[64];
            at += strlen(attributes[a]);
            snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "\""), at);
            if (path[0] != '#' && find(path) == NULL)
                fail_msg("%s is not among the files", path);
            links++;
        }
    }
    assert_true(links >= 3);
}

/* The content security policy forbids both, and a browser would drop them without a word. */
static void nothing_stands_inline(void **state)
{
    (void)state;
    static const char *const never[] = {
        "<style", " style=", "onclick=", "javascript:", "http://", "https://"};
    const char *page = (const char *)find("/")->data;
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_null(strstr(page, never[i]));
    assert_null(strstr((const char *)find("/page.js")->data, "innerHTML"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_asks_only_for_what_is_there),
        cmocka_unit_test(nothing_stands_inline),
    };
    return cmocka_run_group_tests_name("web", tests, NULL, NULL);
}
