/* test_manifest - what is listed is found again, whatever else is told
 *
 * Modules: folder
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
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/folder.h"
#include "reports/manifest.h"

enum { TEXT_MAX = 65536 };

static char place[64];

static void put(const char *path, const char *text)
{
    SCOPED(scoped_free) char *whole = file_join(place, path);
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    assert_int_equal(file_mkdirs(whole, NULL), 0);
    *slash = '/';
    assert_int_equal(file_write(whole, text, strlen(text), NULL), 0);
}

static int set_up(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *about = json_new_object();
    snprintf(place, sizeof place, "/tmp/ce-manifest-XXXXXX");
    assert_non_null(mkdtemp(place));
    put("a.md", "one\n");
    put("deep/er/b.json", "{}");
    put("empty", "");
    json_set_str(about, "run", "r1");
    assert_int_equal(manifest_write(place, about, NULL), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(place, NULL);
}

static size_t findings(const char *says)
{
    SCOPED(manifest_destroy) manifest *m = manifest_read(place, NULL);
    SCOPED(buf_fini) buf out = {0};
    size_t n = 99;
    err e = {0};
    buf_init(&out, TEXT_MAX);
    assert_non_null(m);
    assert_string_equal(json_str(json_get(manifest_about(m), "run"), ""), "r1");
    if (manifest_check(m, place, &n, &out, &e) < 0)
        fail_msg("%s", e.text);
    if (says != NULL && strstr(buf_text(&out), says) == NULL)
        fail_msg("%s is not in %s", says, buf_text(&out));
    return n;
}

static void files_are_listed_in_order(void **state)
{
    (void)state;
    SCOPED(folder_list_fini) folder_list list = {0};
    assert_int_equal(folder_read(place, &list, NULL), 0);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.paths[0], "a.md");
    assert_string_equal(list.paths[1], "deep/er/b.json");
    assert_true(folder_has(&list, "manifest.json"));
    assert_false(folder_has(&list, "deep"));
    err e = {0};
    SCOPED(folder_list_fini) folder_list none = {0};
    assert_int_equal(folder_read("/nowhere/at/all", &none, &e), -1);
}

static void a_whole_pack_has_no_findings(void **state)
{
    (void)state;
    assert_int_equal(findings(NULL), 0);
}

static void every_change_is_found(void **state)
{
    (void)state;
    put("a.md", "onE\n");
    assert_int_equal(findings("a.md: changed"), 1);
    put("a.md", "one more\n");
    assert_int_equal(findings("a.md: 9 bytes, the manifest says 4"), 1);
    put("a.md", "one\n");
    put("new", "x");
    assert_int_equal(findings("new: too many"), 1);
    SCOPED(scoped_free) char *added = file_join(place, "new");
    SCOPED(scoped_free) char *removed = file_join(place, "empty");
    assert_int_equal(unlink(added), 0);
    assert_int_equal(unlink(removed), 0);
    assert_int_equal(findings("empty: missing"), 1);
}

static void links_are_refused(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *link = file_join(place, "link");
    SCOPED(manifest_destroy) manifest *m = manifest_read(place, NULL);
    SCOPED(buf_fini) buf out = {0};
    size_t n;
    err e = {0};
    buf_init(&out, TEXT_MAX);
    assert_int_equal(symlink("/etc/hostname", link), 0);
    assert_int_equal(manifest_check(m, place, &n, &out, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "neither a file nor a folder"));
}

static void what_is_no_manifest_is_told(void **state)
{
    (void)state;
#define ROW(path)  "{\"path\":\"" path "\",\"size\":1,\"sha256\":\"" ZEROS "\"}"
#define ZEROS      "0000000000000000000000000000000000000000000000000000000000000000"
#define LIST(rows) "{\"format\":\"ce-evidence-1\",\"files\":[" rows "]}"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "manifest.json"},
        {"{}", "format"},
        {"{\"format\":\"ce-evidence-9\",\"files\":[]}", "is not ce-evidence-1"},
        {"{\"format\":\"ce-evidence-1\"}", "files"},
        {LIST(ROW("/etc/x")), "no path inside"},
        {LIST(ROW("../x")), "no path inside"},
        {LIST(ROW("b") "," ROW("a")), "not in order"},
        {LIST(ROW("a") "," ROW("a")), "there twice"},
        {LIST("{\"path\":\"a\",\"size\":-1,\"sha256\":\"" ZEROS "\"}"), "/files/0/size"},
        {LIST("{\"path\":\"a\",\"size\":1,\"sha256\":\"00\"}"), "64 hex digits"},
        {LIST("{\"path\":\"a\",\"size\":1,\"sha256\":\"" ZEROS "\",\"more\":1}"), "more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        err e = {0};
        put(MANIFEST_FILE, cases[i].text);
        SCOPED(manifest_destroy) manifest *m = manifest_read(place, &e);
        assert_null(m);
        if (strstr(e.text, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].text, e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_listed_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_whole_pack_has_no_findings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_change_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_manifest_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
