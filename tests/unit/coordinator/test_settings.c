/* test_settings - what is written into a run is read back
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "world.h"

static void settings_survive_the_round_trip(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings written, read;
    world_settings(
        &(world_options){.only = "silu_fp16,argmax_fp32", .entrants = "gold,mock:x.json"},
        &written);
    SCOPED(scoped_free) char *text = settings_write(&written);
    assert_int_equal(settings_read(text, strlen(text), &read, NULL), 0);
    assert_int_equal(read.entrant_count, 2);
    assert_string_equal(read.entrants[1].models[STAGE_POLISH], "mock:x.json");
    assert_int_equal(read.only_count, 2);
    assert_string_equal(read.only[1].name, "argmax_fp32");
    assert_int_equal(read.entrants[0].budgets[STAGE_INTERVIEW], 2);
    assert_null(read.out);
    SCOPED(scoped_free) char *again = settings_write(&read);
    assert_string_equal(text, again);
}

static void unknown_and_missing_keys_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", "[]", "{\"samples\": 1, \"surprise\": 2}", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        SCOPED(settings_fini) settings read;
        err e = {0};
        assert_int_equal(settings_read(texts[i], strlen(texts[i]), &read, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
    }
}

static void an_entrants_models_are_an_object_by_stage(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings s;
    world_settings(&(world_options){.only = "silu_fp16"}, &s);
    SCOPED(scoped_free) char *text = settings_models(&s.entrants[0]);
    assert_string_equal(text,
                        "{\"codegen\":\"gold\",\"correctness\":\"gold\",\"interview\":\"gold\","
                        "\"performance\":\"gold\",\"polish\":\"gold\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_survive_the_round_trip),
        cmocka_unit_test(unknown_and_missing_keys_are_refused),
        cmocka_unit_test(an_entrants_models_are_an_object_by_stage),
    };
    return cmocka_run_group_tests_name("coordinator/settings", tests, NULL, NULL);
}
