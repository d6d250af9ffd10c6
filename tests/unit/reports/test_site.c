/* test_site - a run as pages: what they hold, and what they must not
 *
 * Modules: site_task
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/folder.h"
#include "reports/site.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 8 * 1024 * 1024 };

typedef struct place {
    char folder[32];
} place;

static void place_init(place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/ce-site-test-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
}

static void place_fini(place *p)
{
    file_remove_tree(p->folder, NULL);
}

static void make(fixture *f, const place *p, keyscan_list known)
{
    err e = {0};
    if (site_write(f->db, "run-cuda", known, p->folder, &e) < 0)
        fail_msg("%s", e.text);
}

static char *page(const place *p, const char *name)
{
    SCOPED(scoped_free) char *path = file_join(p->folder, name);
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, MAX);
    assert_int_equal(file_read(path, &text, NULL), 0);
    return buf_take(&text);
}

static void expect_in(const place *p, const char *name, const char *part)
{
    SCOPED(scoped_free) char *text = page(p, name);
    if (strstr(text, part) == NULL)
        fail_msg("no %s in %s", part, name);
}

static void pages_lead_from_the_board_to_the_candidate(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    make(f, &p, NULL);
    expect_in(&p, "index.html", "<a href=\"p/1.html\">add</a>");
    expect_in(&p, "index.html", "<a href=\"run.html\">");
    expect_in(&p, "run.html", "<a href=\"report/results.csv\">");
    expect_in(&p, "p/1.html", "<a href=\"../t/1.html\">gold</a>");
    expect_in(&p, "p/1.html", "Problem text");
    expect_in(&p, "t/1.html", "<a href=\"../p/1.html\">problem</a>");
    expect_in(&p, "t/1.html", "2.50×");
    expect_in(&p, "t/2.html", "wrong");
}

static void the_same_run_gives_the_same_bytes(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place one, two;
    place_init(&one);
    place_init(&two);
    filled_cuda(f);
    make(f, &one, NULL);
    make(f, &two, NULL);
    SCOPED(folder_list_fini) folder_list files = {0};
    assert_int_equal(folder_read(one.folder, &files, NULL), 0);
    assert_true(files.count > 20);
    for (size_t i = 0; i < files.count; i++) {
        SCOPED(scoped_free) char *a = page(&one, files.paths[i]);
        SCOPED(scoped_free) char *b = page(&two, files.paths[i]);
        if (strcmp(a, b) != 0)
            fail_msg("%s differs", files.paths[i]);
    }
    place_fini(&two);
}

/* Texts that a stranger wrote, in every column of every table that a page shows. */
static void strangers_write_no_markup(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    fixture_exec(f, "UPDATE entrant SET name = '<script>1</script>' WHERE name = 'gold'");
    fixture_exec(f, "UPDATE run SET command = '<script>2</script>'");
    fixture_exec(
        f, "UPDATE problem SET title = '<script>3</script>', category = '<script>4</script>'");
    fixture_exec(f, "UPDATE task SET text = '<script>5</script>', detail = '<script>6</script>', "
                    "marks = '<script>7</script>', device = '<script>8</script>'");
    fixture_exec(f,
                 "UPDATE attempt SET text = '<script>9</script>', detail = '<script>a</script>'");
    fixture_exec(f,
                 "UPDATE model_call SET model = '<script>b</script>', stop = '<script>c</script>'");
    make(f, &p, NULL);
    SCOPED(folder_list_fini) folder_list files = {0};
    assert_int_equal(folder_read(p.folder, &files, NULL), 0);
    size_t looked = 0;
    for (size_t i = 0; i < files.count; i++) {
        if (strstr(files.paths[i], ".html") == NULL)
            continue;
        SCOPED(scoped_free) char *text = page(&p, files.paths[i]);
        looked++;
        if (strstr(text, "<script") != NULL)
            fail_msg("%s: %.60s", files.paths[i], strstr(text, "<script"));
    }
    assert_int_equal(looked,
                     2 + 4 + 8 + 1); /* index, run, problems, candidates, the board of the report */
    expect_in(&p, "run.html", "&lt;script&gt;2");
    expect_in(&p, "t/1.html", "&lt;script&gt;5");
}

static void a_key_is_in_no_page(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    fixture_exec(f, "UPDATE run SET command = 'ce-coord eval --key my-own-secret-7'");
    fixture_exec(f, "UPDATE task SET text = 'it said my-own-secret-7'");
    const char *const known[] = {"my-own-secret-7", NULL};
    make(f, &p, known);
    SCOPED(folder_list_fini) folder_list files = {0};
    assert_int_equal(folder_read(p.folder, &files, NULL), 0);
    for (size_t i = 0; i < files.count; i++) {
        SCOPED(scoped_free) char *text = page(&p, files.paths[i]);
        if (strstr(text, "my-own-secret-7") != NULL)
            fail_msg("the key is in %s", files.paths[i]);
    }
    expect_in(&p, "run.html", KEYSCAN_MASK);
}

static void scripted_times_are_not_shown(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    err e = {0};
    place_init(&p);
    filled_fake(f);
    if (site_write(f->db, "run-fake", NULL, p.folder, &e) < 0)
        fail_msg("%s", e.text);
    SCOPED(scoped_free) char *text = page(&p, "t/1.html");
    assert_non_null(strstr(text, "scripted times, not a measurement"));
    assert_null(strstr(text, " ms</dd>"));
    assert_null(strstr(text, "median "));
}

static void a_folder_that_is_no_pack_is_named(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(place_fini) place p;
    place_init(&p);
    assert_int_equal(site_write_pack("/nowhere", p.folder, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_lead_from_the_board_to_the_candidate),
        cmocka_unit_test(the_same_run_gives_the_same_bytes),
        cmocka_unit_test(strangers_write_no_markup),
        cmocka_unit_test(a_key_is_in_no_page),
        cmocka_unit_test(scripted_times_are_not_shown),
        cmocka_unit_test(a_folder_that_is_no_pack_is_named),
    };
    return cmocka_run_group_tests_name("site", tests, NULL, NULL);
}
