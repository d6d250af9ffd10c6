/* test_prune - only what no row names is removed
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "common/scoped.h"
#include "store/prune.h"
#include "tests/unit/store/fixture.h"

typedef struct job {
    hash names[3];
    int64_t removed;
    prune_size size;
} job;

static int prune(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return prune_artifacts(tx, j->names, 3, &j->removed, e);
}

static int size(store_tx *tx, void *arg, err *e)
{
    job *j = arg;
    return prune_size_read(tx, &j->size, e);
}

static void what_a_row_names_stays(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    job j = {.names = {fixture_text(f, "nobody's"), fixture_text(f, "a kernel's"),
                       fixture_text(f, "a baseline's")}};
    const int64_t before = fixture_count(f, "artifact");
    char kernel[HASH_HEX], cache[HASH_HEX], sql[512];
    hash_hex(&j.names[1], kernel);
    hash_hex(&j.names[2], cache);
    snprintf(sql, sizeof sql,
             "UPDATE task SET source = '%s' WHERE id = 'task1'; "
             "UPDATE problem SET gold_plan = '%s' WHERE id = 'add'",
             kernel, cache);
    fixture_exec(f, sql);
    fixture_do(f, prune, &j);
    assert_int_equal(j.removed, 1);
    assert_int_equal(fixture_count(f, "artifact"), before - 1);
    fixture_do(f, prune, &j);
    assert_int_equal(j.removed, 0);
}

static void the_file_has_a_size_and_unused_pages(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    job j = {.removed = 0};
    fixture_exec(f, "CREATE TABLE ballast (b BLOB); INSERT INTO ballast VALUES (zeroblob(100000)); "
                    "DROP TABLE ballast");
    fixture_do(f, size, &j);
    assert_true(j.size.unused >= 100000);
    assert_true(j.size.file > j.size.unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_row_names_stays),
        cmocka_unit_test(the_file_has_a_size_and_unused_pages),
    };
    return cmocka_run_group_tests_name("prune", tests, NULL, NULL);
}
