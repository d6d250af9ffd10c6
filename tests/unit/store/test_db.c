/* test_db - what the database says becomes what a caller can do
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/db.h"
#include "tests/unit/store/fixture.h"

static int exec_fn(store_tx *tx, void *arg, err *e)
{
    return db_exec(tx, arg, e);
}

static void failures_have_the_code_that_fits(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f,
                 "CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (p REFERENCES "
                 "parent(id), n INTEGER NOT NULL CHECK (n > 0)); INSERT INTO parent VALUES (1)");
    static const struct {
        const char *sql;
        err_code code;
    } rows[] = {
        {"INSERT INTO child VALUES (2, 1)", ERR_NOT_FOUND},
        {"INSERT INTO child VALUES (1, 0)", ERR_PROTOCOL},
        {"INSERT INTO child VALUES (1, NULL)", ERR_PROTOCOL},
        {"INSERT INTO parent VALUES (1)", ERR_CONFLICT},
        {"SELECT nonsense", ERR_INTERNAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free) char *sql = xstrdup(rows[i].sql);
        fixture_fails(f, exec_fn, sql, rows[i].code);
    }
}

/* The same text gives the same statement; binding starts afresh each time. */
static int cache_fn(store_tx *tx, void *arg, err *e)
{
    static const char sql[] = "SELECT ?1 IS NULL";
    sqlite3_stmt **seen = arg;
    for (int i = 0; i < 2; i++) {
        SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
        seen[i] = s;
        if (i == 0)
            db_text(s, 1, "bound");
        if (s == NULL || db_step(tx, s, e) != 1)
            return err_set(e, ERR_INTERNAL, "no row");
        if (sqlite3_column_int(s, 0) != i)
            return err_set(e, ERR_INTERNAL, "a binding survived");
    }
    for (int i = 0; i < 50; i++) {
        SCOPED(scoped_free) char *other = xasprintf("SELECT %d", i);
        SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, other, e);
        if (s == NULL || db_step(tx, s, e) != 1 || sqlite3_column_int(s, 0) != i)
            return err_set(e, ERR_INTERNAL, "statement %d is another one", i);
    }
    return 0;
}

static void statements_are_cached_by_their_text(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    sqlite3_stmt *seen[2] = {NULL, NULL};
    fixture_do(f, cache_fn, seen);
    assert_non_null(seen[0]);
    assert_ptr_equal(seen[0], seen[1]);
}

static int null_fn(store_tx *tx, void *arg, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT (?1 IS NULL) + (?2 IS NULL) + (?3 IS NULL)", e);
    hash zero = {{0}};
    if (s == NULL)
        return -1;
    db_text(s, 1, NULL);
    db_real(s, 2, (double)NAN);
    db_hash(s, 3, &zero);
    if (db_step(tx, s, e) != 1)
        return -1;
    *(int *)arg = sqlite3_column_int(s, 0);
    return 0;
}

static void write_number(buf *out, const void *arg)
{
    const int *number = arg;
    buf_printf(out, "SELECT %d", *number);
}

static int built_fn(store_tx *tx, void *arg, err *e)
{
    static const int numbers[] = {1, 2};
    int *sum = arg;
    for (int i = 0; i < 4; i++) {
        int now = numbers[i % 2] + (i / 2) * 100; /* not asked for the second time */
        SCOPED(db_reset)
        sqlite3_stmt *s = db_prepare_built(tx, &numbers[i % 2], write_number, &now, e);
        if (s == NULL || db_step(tx, s, e) != 1)
            return -1;
        *sum += sqlite3_column_int(s, 0);
    }
    return 0;
}

static void a_text_is_built_once_for_each_key(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    int sum = 0;
    fixture_do(f, built_fn, &sum);
    assert_int_equal(sum, 1 + 2 + 1 + 2);
}

static void nothing_binds_null(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    int nulls = 0;
    fixture_do(f, null_fn, &nulls);
    assert_int_equal(nulls, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_have_the_code_that_fits),
        cmocka_unit_test(statements_are_cached_by_their_text),
        cmocka_unit_test(a_text_is_built_once_for_each_key),
        cmocka_unit_test(nothing_binds_null),
    };
    return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
