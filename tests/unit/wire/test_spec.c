/* test_spec - what a leased task is
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/spec.h"

#define TEXT(literal) ((char *)(uintptr_t)(literal))

static char *sample(void)
{
    spec_replay replay[] = {{TEXT("codegen"), 0, hash_of_text("a"), TEXT("ok")},
                            {TEXT("codegen"), 1, {{0}}, TEXT("length")}};
    spec_demand demands[] = {{TEXT("codegen"), TEXT("chat"), TEXT("high"), NULL, (double)NAN, 0.5},
                             {TEXT("escalation"), NULL, NULL, TEXT("LAB"), 0.25, (double)NAN}};
    task_spec s = {.kind = TEXT("synthesize"),
                   .run = TEXT("r"),
                   .problem = TEXT("silu_fp16"),
                   .suite = TEXT("internal"),
                   .sample = 2,
                   .contract = TEXT("{\"problem\":\"silu_fp16\"}"),
                   .contract_hash = hash_of_text("c"),
                   .prompt = hash_of_text("p"),
                   .reference = hash_of_text("r"),
                   .reference_file = TEXT("suites/internal/silu_fp16/reference.py"),
                   .entrant = TEXT("e"),
                   .seed = INT64_MAX,
                   .device = TEXT("fake"),
                   .target = 1.0,
                   .escalation = TEXT("openai:x"),
                   .demands = demands,
                   .demand_count = 2,
                   .replay = replay,
                   .replay_count = 2};
    for (int i = 0; i < SPEC_STAGES; i++) {
        s.models[i] = TEXT("gold");
        s.budgets[i] = i + 1;
    }
    s.models[STAGE_POLISH] = NULL;
    return task_spec_write(&s);
}

static void a_spec_comes_back_as_it_was_written(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = sample();
    task_spec back SCOPED(task_spec_fini) = {0};
    err e = {0};
    if (task_spec_read(text, strlen(text), &back, &e) != 0) {
        fail_msg("%s", e.text);
    }
    assert_string_equal(back.models[STAGE_CODEGEN], "gold");
    assert_null(back.models[STAGE_POLISH]);
    assert_int_equal(back.budgets[STAGE_POLISH], 5);
    assert_true(back.seed == INT64_MAX);
    assert_null(back.arch);
    assert_string_equal(back.escalation, "openai:x");
    assert_int_equal(back.demand_count, 2);
    const spec_demand *demand = spec_demand_of(back.demands, 2, "codegen");
    assert_string_equal(demand->effort, "high");
    assert_true(isnan(demand->temperature) && demand->top_p == 0.5);
    assert_string_equal(spec_demand_of(back.demands, 2, SPEC_ESCALATION)->key, "LAB");
    assert_null(spec_demand_of(back.demands, 2, "polish"));
    assert_true(hash_is_zero(&back.gold_source));
    assert_int_equal(back.replay_count, 2);
    assert_string_equal(back.replay[1].stop, "length");
    assert_true(hash_is_zero(&back.replay[1].answer));
    SCOPED(scoped_free) char *again = task_spec_write(&back);
    assert_string_equal(again, text);
}

/* The sample with each `from` replaced by `to`, which must occur. */
static char *changed(const char *from, const char *to)
{
    SCOPED(scoped_free) char *text = sample();
    char *found = strstr(text, from);
    if (found == NULL) {
        fail_msg("the sample has no %s", from);
    }
    *found = '\0';
    return xasprintf("%s%s%s", text, to, found + strlen(from));
}

static void every_fault_is_told_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *place;
    } cases[] = {{"\"seed\":9223372036854775807,", "", "seed"},
                 {"\"seed\":9223372036854775807", "\"seed\":9223372036854775808", "task spec"},
                 {"\"device\":\"fake\"", "\"device\":null", "/device"},
                 {"\"run\":\"r\"", "\"run\":\"r\",\"ruin\":1", "ruin"},
                 {"\"polish\":5", "\"polish\":\"5\"", "/budgets/polish"},
                 {"\"polish\":5", "\"polish\":5,\"review\":1", "review"},
                 {"\"codegen\":\"gold\"", "\"codegen\":7", "/models/codegen"},
                 {"\"interview\":\"gold\",", "", "interview"},
                 {"\"index\":1", "\"index\":1.5", "/replay/1/index"},
                 {"\"target\":1.0", "\"target\":[1]", "/target"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED(scoped_free) char *text = changed(cases[i].from, cases[i].to);
        task_spec out;
        static const task_spec empty;
        err e = {0};
        assert_int_equal(task_spec_read(text, strlen(text), &out, &e), -1);
        assert_memory_equal(&out, &empty, sizeof(out));
        if (strstr(e.text, cases[i].place) == NULL || strstr(e.text, "task spec") == NULL) {
            fail_msg("case %zu says: %s", i, e.text);
        }
    }
}

static void stages_have_names_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < SPEC_STAGES; i++) {
        assert_int_equal(stage_parse(stage_name((stage_id)i)), i);
    }
    assert_string_equal(stage_name(STAGE_CORRECTNESS), "correctness");
    assert_int_equal(stage_parse("contract"), -1);
    assert_int_equal(stage_parse(""), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_spec_comes_back_as_it_was_written),
                                       cmocka_unit_test(every_fault_is_told_with_its_place),
                                       cmocka_unit_test(stages_have_names_both_ways)};
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
