/* test_redact - what a run's records name goes with its texts
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "coordinator/redact.h"
#include "world.h"

static void a_run_is_looked_at_before_it_is_redacted(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, world_serve), COORD_FINISHED);
    redact_plan plan;
    assert_int_equal(redact_look(w->store, "latest", &plan, NULL), 0);
    assert_string_equal(plan.run, w->run->id);
    assert_true(plan.counts.texts >= 2); /* prompt and reference */
    assert_false(plan.already);
    int64_t texts = plan.counts.texts;
    assert_int_equal(redact_do(w->store, plan.run, 7, &plan, NULL), 0);
    assert_int_equal(plan.counts.texts, texts);
    assert_int_equal(world_count(w, "artifact WHERE length(data) = 0"), texts);
    assert_int_equal(redact_look(w->store, "latest", &plan, NULL), 0);
    assert_true(plan.already && plan.counts.texts == 0);
}

static void an_unknown_run_is_named(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    redact_plan plan;
    err e = {0};
    assert_int_equal(redact_look(w->store, "nowhere", &plan, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_looked_at_before_it_is_redacted),
        cmocka_unit_test(an_unknown_run_is_named),
    };
    return cmocka_run_group_tests_name("coordinator/redact", tests, NULL, NULL);
}
