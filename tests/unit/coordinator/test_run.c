/* test_run - a run is created whole or not at all, and opened from its id
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "store/artifact.h"
#include "wire/spec.h"
#include "world.h"

static void a_run_has_a_contract_task_per_problem_and_a_task_per_attempt(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){
        .only = "vector_add_fp32,argmax_fp32", .entrants = "gold,mock:x.json", .samples = 3});
    assert_int_equal(sched_count(w->run->tasks, SCHED_CONTRACT).planned, 2);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).planned, 2 * 2 * 3);
    assert_int_equal(w->run->entrant_count, 2);
    assert_string_equal(w->run->entrants[1], "mock:x.json");
    assert_int_equal(world_count(w, "problem WHERE gold_source IS NOT NULL"), 2);
    assert_int_equal(world_count(w, "problem WHERE id = 'argmax_fp32' AND dtype = 'i64'") +
                         world_count(w, "problem WHERE id = 'argmax_fp32' AND dtype = 'i32'"),
                     1);
}

typedef struct reading {
    hash name;
    buf text;
} reading;

static int read_artifact(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    return artifact_get(tx, &r->name, &r->text, e);
}

static void a_spec_carries_all_that_a_node_needs(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    for (size_t i = 0; i < sched_size(w->run->tasks); i++) {
        const sched_task *task = sched_get(w->run->tasks, i);
        reading r = {.name = task->spec};
        buf_init(&r.text, 1024 * 1024);
        assert_int_equal(store_run(w->store, read_artifact, &r, NULL), 0);
        SCOPED(task_spec_fini) task_spec spec;
        assert_int_equal(task_spec_read(r.text.data, r.text.size, &spec, NULL), 0);
        buf_fini(&r.text);
        bool contract_task = task->kind == SCHED_CONTRACT;
        assert_string_equal(spec.kind, contract_task ? "contract" : "synthesize");
        assert_string_equal(spec.problem, "vector_add_fp32");
        assert_string_equal(spec.device, "fake");
        assert_true(strstr(spec.reference_file, "internal/vector_add_fp32/reference.py") != NULL);
        assert_int_equal(spec.budgets[STAGE_CODEGEN], contract_task ? 0 : 3);
        assert_int_equal(spec.models[0] == NULL, contract_task);
        hash of = hash_of_text(spec.contract);
        assert_true(hash_equal(&of, &spec.contract_hash));
    }
}

static void an_opened_run_knows_what_was_finished(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    SCOPED(run_destroy) run *again = run_open(w->store, "latest", clock_wall_ms(), NULL);
    assert_non_null(again);
    assert_string_equal(again->id, w->run->id);
    assert_int_equal(again->settings.seed, 7);
    assert_int_equal(sched_size(again->tasks), sched_size(w->run->tasks));
    assert_false(sched_released(again->tasks));
    err e = {0};
    assert_null(run_open(w->store, "nosuchrun", clock_wall_ms(), &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

/* A lease is sent before it is durable: a coordinator that comes back cannot know the newest. */
static void each_opening_has_tokens_of_its_own(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    SCOPED(run_destroy) run *second = run_open(w->store, "latest", clock_wall_ms(), NULL);
    SCOPED(run_destroy) run *third = run_open(w->store, "latest", clock_wall_ms(), NULL);
    assert_int_equal(w->run->last_token, 0);
    assert_true(second->last_token > 1000000000);
    assert_true(third->last_token - second->last_token > 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_a_contract_task_per_problem_and_a_task_per_attempt),
        cmocka_unit_test(a_spec_carries_all_that_a_node_needs),
        cmocka_unit_test(an_opened_run_knows_what_was_finished),
        cmocka_unit_test(each_opening_has_tokens_of_its_own),
    };
    return cmocka_run_group_tests_name("coordinator/run", tests, NULL, NULL);
}
