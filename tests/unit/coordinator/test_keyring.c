/* test_keyring - the list of allowed keys
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
#include "coordinator/keyring.h"

typedef struct fixture {
    char folder[64];
    char *keys;
    char *path; /* of a key file */
} fixture;

static int make_folder(void **state)
{
    fixture *f = xcalloc(1, sizeof *f);
    *state = f;
    snprintf(f->folder, sizeof f->folder, "/tmp/ce-test-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    f->keys = file_join(f->folder, "keys");
    f->path = file_join(f->folder, "a.key");
    return 0;
}

static int remove_folder(void **state)
{
    fixture *f = *state;
    file_remove_tree(f->folder, NULL);
    free(f->keys);
    free(f->path);
    free(f);
    return 0;
}

static int add(const fixture *f, const char *name, keyring_role role, const char *path, err *e)
{
    const keyring_new_key wanted = {.name = name, .role = role, .path = path, .now_ms = 77};
    return keyring_add(f->keys, &wanted, e);
}

static void a_new_key_is_allowed_and_a_revoked_one_is_not(void **state)
{
    const fixture *f = *state;
    curve_file node;
    keyring_row row;
    SCOPED(keyring_destroy) keyring *k = keyring_open(f->keys, NULL);
    assert_non_null(k);
    int64_t generation = keyring_generation(k);
    assert_int_equal(add(f, "a100-1", KEYRING_NODE, f->path, NULL), 0);
    assert_int_equal(curve_load(f->path, &node, NULL), 0);
    assert_true(curve_equal(&node.coordinator, &keyring_own(k)->pair.open));
    keyring_refresh(k);
    assert_true(keyring_generation(k) > generation);
    assert_true(keyring_find(k, &node.pair.open, &row));
    assert_string_equal(row.name, "a100-1");
    assert_int_equal(row.role, KEYRING_NODE);
    assert_int_equal(row.created_ms, 77);
    assert_int_equal(keyring_revoke(f->keys, "a100-1", NULL), 0);
    keyring_refresh(k);
    assert_false(keyring_find(k, &node.pair.open, NULL));
}

static void a_name_is_taken_once_and_must_be_plain(void **state)
{
    const fixture *f = *state;
    SCOPED(scoped_free) char *second = file_join(f->folder, "b.key");
    err e = {0};
    assert_int_equal(add(f, "a", KEYRING_NODE, f->path, NULL), 0);
    assert_int_equal(add(f, "a", KEYRING_NODE, second, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(add(f, "../a", KEYRING_NODE, second, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_false(file_exists(second));
    assert_int_equal(keyring_revoke(f->keys, "../../etc/passwd", &e), -1);
    assert_int_equal(keyring_revoke(f->keys, "nobody", &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void a_key_file_that_cannot_be_written_allows_nobody(void **state)
{
    const fixture *f = *state;
    SCOPED(scoped_free) keyring_row *rows = NULL;
    size_t count = 9;
    assert_int_equal(add(f, "a", KEYRING_NODE, "/nowhere/a.key", NULL), -1);
    assert_int_equal(keyring_list(f->keys, &rows, &count, NULL), 0);
    assert_int_equal(count, 0);
}

static void the_list_is_sorted_and_tells_roles(void **state)
{
    const fixture *f = *state;
    SCOPED(scoped_free) keyring_row *rows = NULL;
    SCOPED(scoped_free) char *second = file_join(f->folder, "b.key");
    size_t count;
    assert_int_equal(add(f, "b", KEYRING_NODE, f->path, NULL), 0);
    assert_int_equal(add(f, "a", KEYRING_OPERATOR, second, NULL), 0);
    assert_int_equal(keyring_list(f->keys, &rows, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].name, "a");
    assert_string_equal(keyring_role_name(rows[0].role), "operator");
    assert_string_equal(keyring_role_name(rows[1].role), "node");
}

static void a_spoilt_row_allows_nobody_and_harms_no_other(void **state)
{
    const fixture *f = *state;
    SCOPED(scoped_free) char *bad = file_join(f->keys, "allowed/bad.json");
    SCOPED(scoped_free) keyring_row *rows = NULL;
    size_t count;
    assert_int_equal(add(f, "good", KEYRING_NODE, f->path, NULL), 0);
    assert_int_equal(file_write(bad, "{\"public\": 1}", 13, NULL), 0);
    assert_int_equal(keyring_list(f->keys, &rows, &count, NULL), 0);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].name, "good");
}

static void secrets_are_kept_to_ourselves(void **state)
{
    const fixture *f = *state;
    struct stat found;
    SCOPED(scoped_free) char *own = file_join(f->keys, "coordinator.key");
    SCOPED(keyring_destroy) keyring *k = keyring_open(f->keys, NULL);
    assert_non_null(k);
    assert_int_equal(stat(own, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_int_equal(stat(f->keys, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0700);
}

static void the_coordinators_key_stays_the_same(void **state)
{
    const fixture *f = *state;
    SCOPED(keyring_destroy) keyring *first = keyring_open(f->keys, NULL);
    SCOPED(keyring_destroy) keyring *second = keyring_open(f->keys, NULL);
    assert_true(curve_equal(&keyring_own(first)->pair.open, &keyring_own(second)->pair.open));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_new_key_is_allowed_and_a_revoked_one_is_not),
        TEST(a_name_is_taken_once_and_must_be_plain),
        TEST(a_key_file_that_cannot_be_written_allows_nobody),
        TEST(the_list_is_sorted_and_tells_roles),
        TEST(a_spoilt_row_allows_nobody_and_harms_no_other),
        TEST(secrets_are_kept_to_ourselves),
        TEST(the_coordinators_key_stays_the_same),
    };
    return cmocka_run_group_tests_name("keyring", tests, NULL, NULL);
}
