/* test_event - events come in order and rebuild every state
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "store/event.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

typedef struct grant {
    const char *task, *node;
    int64_t token;
} grant;

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    grant *g = arg;
    return task_grant(tx, g->task, g->node, g->token, 2000 + g->token, e);
}

static int return_fn(store_tx *tx, void *arg, err *e)
{
    return task_return(tx, arg, e);
}

static int fail_fn(store_tx *tx, void *arg, err *e)
{
    return task_fail(tx, arg, "gave up after 3 leases", 5000, e);
}

static int reclaim_fn(store_tx *tx, void *arg, err *e)
{
    grant *g = arg;
    return task_reclaim(tx, g->task, g->node, g->token, 6500, e);
}

static int recover_fn(store_tx *tx, void *arg, err *e)
{
    return task_recover(tx, "run1", *(bool *)arg, 6000, e);
}

static const char *replayed(const event_list *events, const char *task)
{
    static const struct {
        const char *kind, *state;
    } rows[] = {{"granted", "leased"},    {"returned", "waiting"}, {"lost", "waiting"},
                {"cancelled", "waiting"}, {"revived", "waiting"},  {"failed", "failed"},
                {"reclaimed", "leased"},  {"done", "done"}};
    const char *now = "waiting";
    for (size_t i = 0; i < events->count; i++)
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            if (events->rows[i].task != NULL && strcmp(events->rows[i].task, task) == 0 &&
                strcmp(events->rows[i].kind, rows[k].kind) == 0)
                now = rows[k].state;
    return now;
}

typedef struct history {
    event_list events;
    task_list tasks;
} history;

static int history_fn(store_tx *tx, void *arg, err *e)
{
    history *h = arg;
    if (event_list_read(tx, "run1", NULL, &h->events, e) < 0)
        return -1;
    return task_list_read(tx, "run1", NULL, &h->tasks, e);
}

static void expect_replay(fixture *f)
{
    history h = {0};
    fixture_do(f, history_fn, &h);
    assert_int_equal(h.tasks.count, 2);
    for (size_t i = 0; i < h.tasks.count; i++)
        assert_string_equal(replayed(&h.events, h.tasks.rows[i].id),
                            task_state_name(h.tasks.rows[i].state));
    event_list_fini(&h.events);
    task_list_fini(&h.tasks);
}

static int result_fn(store_tx *tx, void *arg, err *e)
{
    grant *g = arg;
    result_row row = fixture_ok_result(1, 2);
    return result_put(tx, g->task, g->token, &row, 7000, e);
}

static void replaying_events_rebuilds_every_state(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    expect_replay(f);
    fixture_do(f, grant_fn, &(grant){"task1", "node-a", 1});
    fixture_do(f, grant_fn, &(grant){"task2", "node-a", 1});
    expect_replay(f);
    fixture_do(f, return_fn, &(task_return_args){"task1", 1, TASK_CANCELLED, NULL, 3000});
    fixture_do(f, recover_fn, &(bool){false});
    expect_replay(f);
    fixture_do(f, reclaim_fn, &(grant){"task2", "node-a", 1});
    expect_replay(f);
    fixture_do(f, recover_fn, &(bool){false});
    fixture_do(f, fail_fn, (char[]){"task2"});
    fixture_do(f, grant_fn, &(grant){"task1", "node-b", 2});
    fixture_do(f, result_fn, &(grant){"task1", NULL, 2});
    fixture_fails(f, return_fn, &(task_return_args){"task1", 1, TASK_LOST, NULL, 1}, ERR_CONFLICT);
    expect_replay(f);
    fixture_do(f, recover_fn, &(bool){true});
    expect_replay(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaying_events_rebuilds_every_state),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
