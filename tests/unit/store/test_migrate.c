/* test_migrate - databases of this, of a newer and of no ce
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/migrate.h"
#include "tests/unit/store/fixture.h"

static void a_newer_database_is_refused_and_left_alone(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, "PRAGMA user_version = 99");
    store_destroy(&f->db);
    static const store_mode modes[] = {STORE_OWN, STORE_READ};
    for (size_t i = 0; i < 2; i++) {
        err e = {0};
        assert_null(store_open(f->path, modes[i], &e));
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, "written by a newer ce (schema 99"));
    }
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    char other[128], text[128];
    snprintf(other, sizeof other, "%s/other.db", f->folder);
    snprintf(text, sizeof text, "%s/text.db", f->folder);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(other, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE a (b)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(
        file_write(text, "this is no database, only a long enough line of text\n", 53, NULL), 0);
    const char *const paths[] = {other, text};
    for (size_t i = 0; i < 2; i++) {
        err e = {0};
        assert_null(store_open(paths[i], STORE_OWN, &e));
        assert_int_equal(e.code, ERR_CONFIG);
        assert_null(store_open(paths[i], STORE_READ, &e));
        assert_int_equal(e.code, ERR_CONFIG);
    }
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

static void running_twice_changes_nothing(void **state)
{
    (void)state;
    sqlite3 *db;
    err e = {0};
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(migrate_check(db, "x", &e), -1); /* nothing there yet */
    assert_int_equal(e.code, ERR_CONFIG);
    assert_int_equal(migrate_run(db, "x", &e), 0);
    int64_t tables = ask(db, "SELECT count(*) FROM sqlite_schema");
    assert_true(tables > 15);
    assert_int_equal(ask(db, "PRAGMA user_version"), MIGRATE_VERSION);
    assert_int_equal(ask(db, "PRAGMA application_id"), MIGRATE_APPLICATION);
    assert_int_equal(migrate_run(db, "x", &e), 0);
    assert_int_equal(migrate_check(db, "x", &e), 0);
    assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_schema"), tables);
    sqlite3_close(db);
}

/* A reader changes nothing: it says what to do, and that helps. */
static void an_older_database_is_read_after_migrating(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, "DROP INDEX task_leased; DROP INDEX task_failed; "
                    "CREATE INDEX task_by_run ON task (run, state); "
                    "ALTER TABLE run DROP COLUMN opened; DROP TABLE night; DROP TABLE late; DROP "
                    "TABLE calibration; "
                    "DROP TABLE selftest; DROP TABLE claim; ALTER TABLE "
                    "model_call DROP COLUMN served; "
                    "ALTER TABLE task DROP COLUMN sanitizer; ALTER TABLE task DROP COLUMN profile; "
                    "ALTER TABLE task DROP COLUMN lineage; "
                    "ALTER TABLE comparison DROP COLUMN gain; "
                    "ALTER TABLE comparison DROP COLUMN kept; "
                    "ALTER TABLE comparison DROP COLUMN profile; PRAGMA user_version = 5");
    store_destroy(&f->db);
    err e = {0};
    assert_null(store_open(f->path, STORE_READ, &e));
    assert_int_equal(e.code, ERR_CONFIG);
    SCOPED(scoped_free) char *advice = xasprintf("run `ce-coord migrate --db %s`", f->path);
    assert_non_null(strstr(e.text, "has schema 5"));
    assert_non_null(strstr(e.text, advice));
    SCOPED(store_destroy) store *owner = store_open(f->path, STORE_OWN, &e);
    assert_non_null(owner);
    store_destroy(&owner);
    SCOPED(store_destroy) store *reader = store_open(f->path, STORE_READ, &e);
    assert_non_null(reader);
}

/* A migration that breaks off in the middle: here because a table is in its way. */
static void a_failing_migration_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    sqlite3 *db;
    err e = {0};
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    SCOPED(scoped_free)
    char *sql =
        xasprintf("CREATE TABLE event (a); PRAGMA application_id = %d", MIGRATE_APPLICATION);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(migrate_run(db, "x", &e), -1);
    assert_non_null(strstr(e.text, "already exists"));
    assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_int_equal(ask(db, "PRAGMA user_version"), 0);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_database_is_refused_and_left_alone),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(running_twice_changes_nothing),
        cmocka_unit_test(an_older_database_is_read_after_migrating),
        cmocka_unit_test(a_failing_migration_leaves_the_file_as_it_was),
    };
    return cmocka_run_group_tests_name("migrate", tests, NULL, NULL);
}
