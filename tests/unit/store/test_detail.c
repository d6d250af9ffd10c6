/* test_detail - long texts of tasks, as one line of JSON each
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
#include "store/detail.h"
#include "tests/unit/store/fixture.h"

enum { TASKS = 3 };

typedef struct told {
    char profile[TASKS][96], lineage[TASKS][96];
    size_t seen;
    size_t stop_at; /* the callback fails here; 0: never */
} told;

static int keep(void *arg, size_t index, const detail_row *row, err *e)
{
    told *t = arg;
    if (t->stop_at > 0 && index + 1 == t->stop_at)
        return err_set(e, ERR_LIMIT, "enough");
    assert_int_equal(index, t->seen);
    assert_string_equal(row->modelled, "null");
    snprintf(t->profile[index], sizeof t->profile[index], "%s", row->profile);
    snprintf(t->lineage[index], sizeof t->lineage[index], "%s", row->lineage);
    t->seen++;
    return 0;
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    static const char *const tasks[TASKS] = {"task2", NULL, "task1"};
    return detail_each(tx, tasks, TASKS, keep, arg, e);
}

static void each_text_is_json_on_one_line(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(f, "UPDATE task SET profile = '{\"a\":[1,2.50]}', lineage = '[1,' || char(10) || "
                    "'2]' WHERE id = 'task2'; UPDATE task SET profile = 'no \"json' WHERE id = "
                    "'task1'");
    told t = {.seen = 0};
    fixture_do(f, read_fn, &t);
    assert_int_equal(t.seen, TASKS);
    assert_string_equal(t.profile[0], "{\"a\":[1,2.50]}"); /* as it is stored */
    assert_string_equal(t.lineage[0], "\"[1,\\n2]\"");     /* two lines: told as a string */
    assert_string_equal(t.profile[1], "null");             /* nobody was asked for */
    assert_string_equal(t.profile[2], "\"no \\\"json\"");  /* no JSON */
    assert_string_equal(t.lineage[2], "null");
}

static void what_the_callback_says_ends_it(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    told t = {.stop_at = 2};
    assert_string_equal(fixture_fails(f, read_fn, &t, ERR_LIMIT), "enough");
    assert_int_equal(t.seen, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_json_on_one_line),
        cmocka_unit_test(what_the_callback_says_ends_it),
    };
    return cmocka_run_group_tests_name("detail", tests, NULL, NULL);
}
