/* test_query - which run speaks for an entrant
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "store/query.h"
#include "store/run.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

static int finish_fn(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    result_row row = fixture_ok_result(1, 2);
    if (task_grant(tx, "task1", "node", 1, 2000, e) < 0 ||
        result_put(tx, "task1", 1, &row, 3000, e) < 0)
        return -1;
    return run_set_state(tx, "run1", RUN_COMPLETE, 4000, e);
}

typedef struct made {
    const char *id, *suite, *content, *entrant;
    int64_t created_ms;
    run_state state;
} made;

static int make_fn(store_tx *tx, void *arg, err *e)
{
    made *m = arg;
    run_row run = {.id = m->id,
                   .created_ms = m->created_ms,
                   .state = m->state,
                   .suite = m->suite,
                   .suite_version = "1",
                   .suite_hash = hash_of_text(m->content),
                   .device = "cuda",
                   .samples = 1,
                   .correct_protocol = "c",
                   .timing_protocol = "t",
                   .settings = "{}",
                   .command = "ce-coord",
                   .version = "0"};
    entrant_row entrant = {.run = m->id, .name = m->entrant, .models = "{}"};
    int64_t id;
    return run_insert(tx, &run, e) < 0 ? -1 : entrant_insert(tx, &entrant, &id, e);
}

typedef struct asked {
    const char *suite;
    standing_list got;
} asked;

static int newest_fn(store_tx *tx, void *arg, err *e)
{
    asked *a = arg;
    return query_newest(tx, a->suite, &a->got, e);
}

static void the_newest_complete_run_on_the_newest_hash_speaks(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_fails(f, newest_fn, &(asked){0}, ERR_NOT_FOUND);
    made rows[] = {
        {"a", "internal", "old", "gold", 900, RUN_COMPLETE},
        {"b", "internal", "new", "gold", 1000, RUN_COMPLETE},
        {"c", "internal", "new", "gold", 2000, RUN_COMPLETE},
        {"d", "internal", "new", "gold", 3000, RUN_INCOMPLETE},
        {"e", "internal", "new", "mock", 1500, RUN_COMPLETE},
        {"f", "other", "x", "zeta", 500, RUN_COMPLETE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        fixture_do(f, make_fn, &rows[i]);
    asked a = {0};
    fixture_do(f, newest_fn, &a);
    assert_int_equal(a.got.count, 2);
    assert_string_equal(a.got.rows[0].entrant, "gold");
    assert_string_equal(a.got.rows[0].run, "c");
    assert_string_equal(a.got.rows[1].run, "e");
    standing_list_fini(&a.got);
    a.suite = "other";
    fixture_do(f, newest_fn, &a);
    assert_int_equal(a.got.count, 1);
    assert_string_equal(a.got.rows[0].run, "f");
    standing_list_fini(&a.got);
    a.suite = "none";
    assert_string_equal(fixture_fails(f, newest_fn, &a, ERR_NOT_FOUND),
                        "there is no complete run of suite none");
}

/* A run is in the view `ranked` when a task of it ran on a real device. */
static void ranked_runs_speak_before_newer_ones_that_are_not(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f); /* run1, gold, internal 0.1 */
    fixture_do(f, finish_fn, NULL);
    made fake = {"run9", "internal", "internal 0.1", "gold", 9000, RUN_COMPLETE};
    fixture_do(f, make_fn, &fake);
    asked a = {0};
    fixture_do(f, newest_fn, &a);
    assert_int_equal(a.got.count, 1);
    assert_string_equal(a.got.rows[0].run, "run1");
    standing_list_fini(&a.got);
    fixture_exec(f, "UPDATE task SET device_kind = 'emu'");
    fixture_do(f, newest_fn, &a);
    assert_string_equal(a.got.rows[0].run, "run9");
    standing_list_fini(&a.got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_complete_run_on_the_newest_hash_speaks),
        cmocka_unit_test(ranked_runs_speak_before_newer_ones_that_are_not),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
