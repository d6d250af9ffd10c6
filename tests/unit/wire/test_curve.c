/* test_curve - key pairs and key files
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/curve.h"

typedef struct fixture {
    char folder[64];
    char *path;
    curve_file file;
} fixture;

static int make_file(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    *state = f;
    snprintf(f->folder, sizeof(f->folder), "/tmp/ce-test-XXXXXX");
    if (mkdtemp(f->folder) == NULL)
        return -1;
    f->path = file_join(f->folder, "a.key");
    memcpy(f->file.name, "a100-1", 7);
    curve_pair other;
    if (curve_new(&f->file.pair, NULL) < 0 || curve_new(&other, NULL) < 0)
        return -1;
    f->file.coordinator = other.open;
    return 0;
}

static int remove_file(void **state)
{
    fixture *f = *state;
    file_remove_tree(f->folder, NULL);
    free(f->path);
    free(f);
    return 0;
}

static void a_key_file_is_read_as_it_was_written_and_only_ours(void **state)
{
    fixture *f = *state;
    curve_file back;
    struct stat found;
    assert_int_equal(curve_save(f->path, &f->file, NULL), 0);
    assert_int_equal(stat(f->path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_int_equal(curve_load(f->path, &back, NULL), 0);
    assert_string_equal(back.name, "a100-1");
    assert_true(curve_equal(&back.pair.open, &f->file.pair.open));
    assert_true(curve_equal(&back.pair.secret, &f->file.pair.secret));
    assert_true(curve_equal(&back.coordinator, &f->file.coordinator));
}

static void a_key_is_never_overwritten(void **state)
{
    fixture *f = *state;
    err e = {0};
    assert_int_equal(curve_save(f->path, &f->file, NULL), 0);
    assert_int_equal(curve_save(f->path, &f->file, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
}

static void a_key_file_that_others_may_read_is_refused(void **state)
{
    fixture *f = *state;
    curve_file back;
    err e = {0};
    assert_int_equal(curve_save(f->path, &f->file, NULL), 0);
    assert_int_equal(chmod(f->path, 0640), 0);
    assert_int_equal(curve_load(f->path, &back, &e), -1);
    assert_int_equal(e.code, ERR_DENIED);
    assert_non_null(strstr(e.text, "chmod 600"));
}

static void a_spoilt_key_file_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{}", "name"},
        {"{\"name\": \"a b\"}", "/name"},
        {"{\"name\": \"a\", \"public\": \"12\"}", "/public: a key has 64 hex digits"},
        {"{\"name\": \"a\", \"other\": 1}", "other"},
        {"nonsense", "a.key"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        curve_file back;
        err e = {0};
        assert_int_equal(file_write(f->path, cases[i].text, strlen(cases[i].text), NULL), 0);
        assert_int_equal(chmod(f->path, 0600), 0);
        assert_int_equal(curve_load(f->path, &back, &e), -1);
        assert_non_null(strstr(e.text, cases[i].says));
    }
}

static void keys_have_a_text_and_names_are_plain(void **state)
{
    fixture *f = *state;
    char text[CURVE_TEXT], brief[CURVE_BRIEF];
    curve_key back;
    curve_text(&f->file.pair.open, text);
    curve_brief(&f->file.pair.open, brief);
    assert_true(curve_parse(text, &back) && curve_equal(&back, &f->file.pair.open));
    assert_memory_equal(text, brief, CURVE_BRIEF - 1);
    assert_true(curve_is_name("a100-1_x"));
    assert_false(curve_is_name(""));
    assert_false(curve_is_name("a.b"));
    assert_false(curve_is_name("../a"));
    assert_false(curve_is_name("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)
    const struct CMUnitTest tests[] = {
        TEST(a_key_file_is_read_as_it_was_written_and_only_ours),
        TEST(a_key_is_never_overwritten),
        TEST(a_key_file_that_others_may_read_is_refused),
        TEST(a_spoilt_key_file_is_refused_with_its_place),
        TEST(keys_have_a_text_and_names_are_plain),
    };
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
