/* test_estimate - counting what a run would be, and asking
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/estimate.h"
#include "world.h"

static const int64_t NOVEMBER = INT64_C(1796040000000); /* 2026-11-30 */

static void calls_are_bounded_by_budgets(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings s;
    world_settings(&(world_options){.only = "silu_fp16,argmax_fp32",
                                    .entrants = "gold,mock:x.json",
                                    .samples = 3},
                   &s);
    SCOPED(selection_destroy) selection *chosen = selection_create(&s, NULL);
    estimate plan = estimate_of(&s, chosen, NOVEMBER);
    assert_int_equal(plan.contract_tasks, 2);
    assert_int_equal(plan.all.tasks, 12);
    assert_int_equal(plan.all.calls_max, 12 * 12);
    assert_int_equal(plan.all.paid_max, 0);
    SCOPED(json_destroy) json *root = estimate_json(&plan, &s, chosen);
    assert_int_equal(json_int(json_get(root, "tasks"), 0), 12);
    assert_int_equal(json_size(json_get(root, "problems")), 2);
}

static void money_is_estimated_by_entrant(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings s;
    world_settings(
        &(world_options){.only = "silu_fp16", .entrants = "gold,claude-opus-5-5,openai:gpt-4o"},
        &s);
    SCOPED(selection_destroy) selection *chosen = selection_create(&s, NULL);
    estimate plan = estimate_of(&s, chosen, NOVEMBER);
    assert_true(plan.entrants[0].usd.worst == 0.0 && plan.entrants[0].paid_max == 0);
    for (int i = 1; i < 3; i++) {
        const estimate_usd *usd = &plan.entrants[i].usd;
        assert_true(usd->low > 0 && usd->low < usd->expected && usd->expected < usd->high &&
                    usd->high < usd->worst);
        assert_null(plan.entrants[i].unpriced);
    }
    double sum = plan.entrants[1].usd.worst + plan.entrants[2].usd.worst;
    assert_true(fabs(plan.all.usd.worst - sum) < 1e-9);
    assert_int_equal(estimate_check_budget(&s, 5.0, NOVEMBER, NULL), 0);
    SCOPED(json_destroy) json *root = estimate_json(&plan, &s, chosen);
    const json *second = json_at(json_get(root, "entrants"), 1);
    assert_true(json_real(json_get(json_get(second, "usd"), "worst_case"), -1) ==
                plan.entrants[1].usd.worst);
}

static void a_model_without_a_price_costs_nothing_known(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings s;
    world_settings(
        &(world_options){.only = "silu_fp16", .entrants = "gold,compat:x@http://127.0.0.1:9/v1"},
        &s);
    SCOPED(selection_destroy) selection *chosen = selection_create(&s, NULL);
    estimate plan = estimate_of(&s, chosen, NOVEMBER);
    assert_string_equal(plan.all.unpriced, "compat:x@http://127.0.0.1:9/v1");
    SCOPED(json_destroy) json *root = estimate_json(&plan, &s, chosen);
    assert_int_equal(json_typeof(json_get(root, "usd")), JSON_TYPE_NULL);
    err e = {0};
    assert_int_equal(estimate_check_budget(&s, 0, NOVEMBER, &e), 0);
    assert_int_equal(estimate_check_budget(&s, 5.0, NOVEMBER, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "compat:x"));
}

static void only_paid_calls_are_asked_about(void **state)
{
    (void)state;
    static const struct {
        int64_t paid;
        bool yes, terminal;
        const char *answer;
        int result;
        bool go;
    } rows[] = {
        {0, false, false, "", 0, true},    {9, true, false, "", 0, true},
        {9, false, false, "", -1, false},  {9, false, true, "y\n", 0, true},
        {9, false, true, "n\n", 0, false}, {9, false, true, "\n", 0, false},
        {9, false, true, "", 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_fclose) FILE *in = tmpfile();
        SCOPED(scoped_fclose) FILE *out = tmpfile();
        fputs(rows[i].answer, in);
        rewind(in);
        const estimate plan = {.all = {.tasks = 1, .paid_max = rows[i].paid}};
        const estimate_ask ask = {
            .in = in, .out = out, .terminal = rows[i].terminal, .yes = rows[i].yes};
        bool go = false;
        err e = {0};
        assert_int_equal(estimate_confirm(&plan, &ask, &go, &e), rows[i].result);
        if (rows[i].result == 0)
            assert_int_equal(go, rows[i].go);
        else
            assert_non_null(strstr(e.text, "9 paid model calls"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_bounded_by_budgets),
        cmocka_unit_test(money_is_estimated_by_entrant),
        cmocka_unit_test(a_model_without_a_price_costs_nothing_known),
        cmocka_unit_test(only_paid_calls_are_asked_about),
    };
    return cmocka_run_group_tests_name("coordinator/estimate", tests, NULL, NULL);
}
