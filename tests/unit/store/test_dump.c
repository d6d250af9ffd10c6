/* test_dump - every table goes out and comes back the same
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

#include "common/scoped.h"
#include "store/dump.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

enum { TEXT_MAX = 1024 * 1024, TABLES_MAX = 32 };

typedef struct texts {
    buf tables[TABLES_MAX];
} texts;

static void texts_fini(texts *self)
{
    for (size_t i = 0; i < TABLES_MAX; i++)
        buf_fini(&self->tables[i]);
}

static int finish_fn(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    result_row row = fixture_ok_result(1, 2);
    if (task_grant(tx, "task1", "node", 1, 2000, e) < 0 ||
        result_put(tx, "task1", 1, &row, 3000, e) < 0)
        return -1;
    return run_set_state(tx, "run1", RUN_COMPLETE, 4000, e);
}

static int write_fn(store_tx *tx, void *arg, err *e)
{
    texts *out = arg;
    for (size_t i = 0; dump_name(i) != NULL; i++) {
        buf_init(&out->tables[i], TEXT_MAX);
        if (dump_write(tx, i, "run1", &out->tables[i], e) < 0)
            return -1;
    }
    return 0;
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    texts *in = arg;
    for (size_t i = 0; dump_name(i) != NULL; i++)
        if (dump_read(tx, i, buf_text(&in->tables[i]), e) < 0)
            return err_wrap(e, "%s", dump_name(i));
    return 0;
}

/* Artifacts that rows refer to, without their bytes. */
static int blobs_fn(store_tx *tx, void *arg, err *e)
{
    const dump_blob_list *list = arg;
    for (size_t i = 0; i < list->count; i++)
        if (dump_blob_absent(tx, &list->rows[i].name, 7, e) < 0)
            return -1;
    return 0;
}

static int list_fn(store_tx *tx, void *arg, err *e)
{
    return dump_blobs(tx, "run1", arg, e);
}

static void what_is_read_back_is_written_the_same(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *from = fixture_create();
    SCOPED(fixture_destroy) fixture *to = fixture_create();
    SCOPED(texts_fini) texts first = {0};
    SCOPED(texts_fini) texts second = {0};
    SCOPED(dump_blob_list_fini) dump_blob_list blobs = {0};
    fixture_seed(from);
    fixture_do(from, finish_fn, NULL);
    fixture_do(from, write_fn, &first);
    fixture_do(from, list_fn, &blobs);
    assert_true(blobs.count > 0);
    fixture_do(to, blobs_fn, &blobs);
    fixture_do(to, read_fn, &first);
    fixture_do(to, write_fn, &second);
    for (size_t i = 0; dump_name(i) != NULL; i++)
        assert_string_equal(buf_text(&first.tables[i]), buf_text(&second.tables[i]));
    assert_int_equal(fixture_count(to, "task WHERE speedup = 2.0 AND state = 'done'"), 1);
}

/* A table that is added must be dumped, or be named here with a reason. */
static void no_table_is_forgotten(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    int64_t dumped = 0;
    for (size_t i = 0; dump_name(i) != NULL; i++) {
        char from[128];
        snprintf(from, sizeof from, "sqlite_schema WHERE type = 'table' AND name = '%s'",
                 dump_name(i));
        assert_int_equal(fixture_count(f, from), 1);
        dumped++;
    }
    /* artifact: files of their own; baseline, claim, night and self-tests: belong to no run;
     * late: decides nothing */
    assert_int_equal(fixture_count(f,
                                   "sqlite_schema WHERE type = 'table' AND name NOT IN "
                                   "('artifact', 'baseline', 'claim', 'selftest', "
                                   "'calibration', 'late', 'night') AND name NOT LIKE 'sqlite_%'"),
                     dumped);
}

typedef struct reading {
    size_t table;
    const char *text;
} reading;

static int one_fn(store_tx *tx, void *arg, err *e)
{
    const reading *r = arg;
    return dump_read(tx, r->table, r->text, e);
}

static void what_is_no_row_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        err_code code;
    } cases[] = {
        {"{\"id\":1", "line 1", ERR_CONFIG},
        {"\n", "line 1", ERR_CONFIG},
        {"[]", "want an object", ERR_CONFIG},
        {"{}", "without columns", ERR_CONFIG},
        {"{\"id\":[]}", "want a number or a text", ERR_CONFIG},
        {"{\"id) VALUES (1); --\":1}", "is no column", ERR_CONFIG},
        {"{\"nobody\":1}", "no column named nobody", ERR_CONFIG},
        {"{\"id\":\"x\"}", "NOT NULL", ERR_PROTOCOL},
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r = {0, cases[i].text};
        const char *told = fixture_fails(f, one_fn, &r, cases[i].code);
        if (strstr(told, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].text, told);
    }
}

static int csv_fn(store_tx *tx, void *arg, err *e)
{
    for (size_t i = 0; dump_name(i) != NULL; i++)
        if (strcmp(dump_name(i), "entrant") == 0)
            return dump_csv(tx, i, "run1", arg, e);
    return -1;
}

static void fields_of_csv_are_quoted_where_they_need_to_be(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(f, "UPDATE entrant SET name = 'a,\"b\"' || char(10) || 'c', models = 'plain'");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, TEXT_MAX);
    fixture_do(f, csv_fn, &out);
    assert_true(strncmp(buf_text(&out), "id,run,name,models\r\n", 20) == 0);
    assert_non_null(strstr(buf_text(&out), ",run1,\"a,\"\"b\"\"\nc\",plain\r\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_csv_are_quoted_where_they_need_to_be),
        cmocka_unit_test(what_is_read_back_is_written_the_same),
        cmocka_unit_test(no_table_is_forgotten),
        cmocka_unit_test(what_is_no_row_is_refused),
    };
    return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
