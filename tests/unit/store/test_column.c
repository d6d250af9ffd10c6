/* test_column - every column type there and back
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/outcome.h"
#include "common/scoped.h"
#include "store/column.h"
#include "tests/unit/store/fixture.h"

typedef enum colour { COLOUR_RED, COLOUR_BLUE } colour;

typedef struct thing {
    const char *text;
    int64_t number, count, id;
    double real;
    hash name;
    bool yes;
    outcome result;
    colour hue;
} thing;

static const char *const colours[] = {"red", "blue", NULL};

static const column columns[] = {
    {"a_text", COLUMN_TEXT, offsetof(thing, text), NULL},
    {"a_number", COLUMN_INT, offsetof(thing, number), NULL},
    {"a_count", COLUMN_COUNT, offsetof(thing, count), NULL},
    {"an_id", COLUMN_ID, offsetof(thing, id), NULL},
    {"a_real", COLUMN_REAL, offsetof(thing, real), NULL},
    {"a_hash", COLUMN_HASH, offsetof(thing, name), NULL},
    {"a_bool", COLUMN_BOOL, offsetof(thing, yes), NULL},
    {"an_outcome", COLUMN_OUTCOME, offsetof(thing, result), NULL},
    {"a_colour", COLUMN_CHOICE, offsetof(thing, hue), colours},
    {0},
};

static const char table[] = "CREATE TABLE thing (a_text, a_number, a_count, an_id, a_real, a_hash, "
                            "a_bool, an_outcome, a_colour, k)";

static int insert_fn(store_tx *tx, void *arg, err *e)
{
    return column_insert(tx, "thing", columns, arg, "k", "key", e);
}

typedef struct reading {
    thing row;
    column_rows rows;
} reading;

static int read_fn(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    column_query query = {
        columns, sizeof(thing), "thing WHERE k = ?1 ORDER BY rowid", {"key", NULL}};
    if (column_first(tx, &query, &r->row, "thing", e) < 0)
        return -1;
    return column_select(tx, &query, &r->rows, e);
}

static void values_come_back_as_they_went_in(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, table);
    thing full = {"text", -5, 7, 9, 0.1, hash_of_text("x"), true, OUTCOME_WRONG, COLOUR_BLUE};
    fixture_do(f, insert_fn, &full);
    reading r = {0};
    fixture_do(f, read_fn, &r);
    assert_string_equal(r.row.text, "text");
    assert_int_equal(r.row.number, -5);
    assert_int_equal(r.row.count, 7);
    assert_int_equal(r.row.id, 9);
    assert_true(r.row.real == 0.1);
    assert_true(hash_equal(&r.row.name, &full.name));
    assert_true(r.row.yes);
    assert_int_equal(r.row.result, OUTCOME_WRONG);
    assert_int_equal(r.row.hue, COLOUR_BLUE);
    column_free(columns, &r.row);
    assert_null(r.row.text);
    column_rows_free(columns, sizeof(thing), r.rows.rows, r.rows.count);
}

static int peek_fn(store_tx *tx, void *arg, err *e)
{
    thing *row = arg;
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT * FROM thing", e);
    if (s == NULL || db_step(tx, s, e) < 0 || column_peek(s, 0, columns, row, e) < 0)
        return -1;
    assert_string_equal(row->text, "text"); /* SQLite's: gone after this job */
    row->text = NULL;
    return 0;
}

static void a_peek_copies_nothing(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, table);
    thing full = {"text", -5, 7, 9, 0.1, hash_of_text("x"), true, OUTCOME_WRONG, COLOUR_BLUE};
    fixture_do(f, insert_fn, &full);
    thing seen = {.text = NULL};
    fixture_do(f, peek_fn, &seen);
    assert_int_equal(seen.count, 7);
    assert_true(hash_equal(&seen.name, &full.name));
    assert_int_equal(seen.hue, COLOUR_BLUE);
    fixture_exec(f, "UPDATE thing SET a_colour = 'green'");
    assert_non_null(strstr(fixture_fails(f, peek_fn, &seen, ERR_CONFIG), "green"));
}

static void absent_values_are_null_in_the_database(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, table);
    thing empty = {.count = -1, .real = (double)NAN};
    for (int i = 0; i < 40; i++) /* more than a list's first room */
        fixture_do(f, insert_fn, &empty);
    assert_int_equal(
        fixture_count(f, "thing WHERE a_text IS NULL AND a_count IS NULL AND an_id IS NULL "
                         "AND a_real IS NULL AND a_hash IS NULL"),
        40);
    reading r = {0};
    fixture_do(f, read_fn, &r);
    assert_null(r.row.text);
    assert_int_equal(r.row.count, -1);
    assert_int_equal(r.row.id, 0);
    assert_true(isnan(r.row.real));
    assert_true(hash_is_zero(&r.row.name));
    column_free(columns, &r.row);
    assert_int_equal(r.rows.count, 40);
    column_rows_free(columns, sizeof(thing), r.rows.rows, r.rows.count);
    fixture_exec(f, "UPDATE thing SET an_outcome = NULL");
    fixture_do(f, read_fn, &r);
    assert_int_equal(r.row.result, OUTCOME_NOT_RUN);
    column_free(columns, &r.row);
    column_rows_free(columns, sizeof(thing), r.rows.rows, r.rows.count);
}

static void words_of_a_newer_ce_are_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, table);
    thing full = {"text", 1, 1, 1, 1, hash_of_text("x"), true, OUTCOME_OK, COLOUR_RED};
    fixture_do(f, insert_fn, &full);
    static const char *const updates[][2] = {
        {"UPDATE thing SET an_outcome = 'superb'", "unknown outcome 'superb'"},
        {"UPDATE thing SET an_outcome = 'ok', a_colour = 'green'", "unknown a_colour 'green'"},
        {"UPDATE thing SET a_colour = 'red', a_hash = 'abc'", "'abc' where a hash belongs"},
    };
    for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
        fixture_exec(f, updates[i][0]);
        reading r = {0};
        assert_non_null(strstr(fixture_fails(f, read_fn, &r, ERR_CONFIG), updates[i][1]));
    }
}

static void no_row_is_not_found(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, table);
    reading r = {0};
    assert_string_equal(fixture_fails(f, read_fn, &r, ERR_NOT_FOUND), "there is no thing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_went_in),
        cmocka_unit_test(a_peek_copies_nothing),
        cmocka_unit_test(absent_values_are_null_in_the_database),
        cmocka_unit_test(words_of_a_newer_ce_are_refused),
        cmocka_unit_test(no_row_is_not_found),
    };
    return cmocka_run_group_tests_name("column", tests, NULL, NULL);
}
