/* test_validation - a stored validation is judged by what each kernel had to get
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/validation.h"
#include "world.h"

static world *create(void)
{
    return world_create(
        &(world_options){.only = "silu_fp16", .entrants = "gold,mutant", .validate = true});
}

/* How many mutants the shipped problem has. */
static size_t mutant_count(void)
{
    SCOPED(suite_destroy) suite *s = suite_load(CE_SOURCE_DIR "/suites", "internal", NULL);
    assert_non_null(s);
    return suite_find(s, "silu_fp16")->wrong.count;
}

static void validations_are_runs_of_their_own_kind(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = create();
    assert_int_equal(w->run->kind, RUN_VALIDATE);
    assert_int_equal(world_count(w, "run WHERE kind = 'validate'"), 1);
    assert_int_equal(sched_count(w->run->tasks, SCHED_CONTRACT).planned, 1);
    assert_int_equal(sched_count(w->run->tasks, SCHED_SYNTHESIZE).planned, 1 + mutant_count());
}

static char *summary(const validation *v)
{
    buf out;
    buf_init(&out, VALIDATION_TEXT_MAX);
    validation_summary(v, &out);
    return buf_take(&out);
}

static void what_has_not_run_has_not_passed(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = create();
    SCOPED(validation_destroy) validation *v = validation_read(w->store, w->run->id, NULL);
    assert_non_null(v);
    assert_false(validation_ended(v));
    assert_false(validation_passed(v));
    SCOPED(scoped_free) char *text = summary(v);
    assert_non_null(strstr(text, "reference not run"));
    assert_non_null(strstr(text, "gold must be ok and is not scored"));
}

/* A node on which everything passes, the wrong kernels too. */
static void a_mutant_that_passes_is_a_failure(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = create();
    assert_int_equal(world_play(w, world_serve), COORD_FINISHED);
    SCOPED(validation_destroy) validation *v = validation_read(w->store, w->run->id, NULL);
    assert_true(validation_ended(v));
    assert_false(validation_passed(v));
    SCOPED(scoped_free) char *text = summary(v);
    assert_non_null(strstr(text, "NO  silu_fp16"));
    SCOPED(scoped_free)
    char *line = xasprintf("gold 1/1, kernels as stated 0/%zu, reference ok", mutant_count());
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, "sigmoid_only must be wrong(element) and is ok"));
    SCOPED(json_destroy) json *document = validation_json(v);
    assert_false(json_bool(json_get(document, "passed"), true));
    const json *row = json_at(json_get(document, "problems"), 0);
    assert_int_equal(json_size(json_get(row, "kernels")), 1 + mutant_count());
    SCOPED(buf_fini) buf report;
    buf_init(&report, VALIDATION_TEXT_MAX);
    validation_markdown(v, &report);
    assert_non_null(strstr(buf_text(&report), "0 of 1 problems admitted"));
    assert_non_null(strstr(buf_text(&report), "| silu_fp16 | gold | ok | ok | yes |"));
}

/* A node that finds the reference wanting and refuses every kernel. */
static void refuse_all(client *box, world *w)
{
    (void)w;
    message m;
    client_join(box, "box", 1);
    for (;;) {
        client_pull(box, 1);
        MUST(client_next(box, 10000, &m));
        bool leave = m.type == MSG_BYE;
        if (m.type == MSG_LEASE)
            MUST(client_result(box, &m, "wrong", "no good") == 0);
        message_fini(&m);
        if (leave)
            return;
    }
}

static void a_reference_that_fails_does_not_stop_the_validation(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = create();
    assert_int_equal(world_play(w, refuse_all), COORD_FINISHED);
    SCOPED(validation_destroy) validation *v = validation_read(w->store, w->run->id, NULL);
    assert_true(validation_ended(v));
    assert_false(validation_passed(v));
    SCOPED(scoped_free) char *text = summary(v);
    assert_non_null(strstr(text, "reference no good"));
    assert_non_null(strstr(text, "gold must be ok and is wrong: no good"));
}

static void an_evaluation_is_no_validation(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "silu_fp16", .entrants = "gold,mutant"});
    err e = {0};
    assert_null(validation_read(w->store, w->run->id, &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "is no validation"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validations_are_runs_of_their_own_kind),
        cmocka_unit_test(what_has_not_run_has_not_passed),
        cmocka_unit_test(a_mutant_that_passes_is_a_failure),
        cmocka_unit_test(a_reference_that_fails_does_not_stop_the_validation),
        cmocka_unit_test(an_evaluation_is_no_validation),
    };
    return cmocka_run_group_tests_name("coordinator/validation", tests, NULL, NULL);
}
