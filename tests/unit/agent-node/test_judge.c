/* test_judge - dispatch, limits and results of the judge client
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/judge_ops.h"
#include "common/json.h"
#include "common/scoped.h"
#include "tests/unit/judge/contracts.h"

static judge *fake(void)
{
    err e = {0};
    judge *self = judge_start(&(judge_options){.device = "fake"}, &e);
    if (self == NULL)
        fail_msg("%s", e.text);
    return self;
}

static void nothing_works_before_a_problem_is_open(void **state)
{
    (void)state;
    SCOPED(judge_destroy) judge *self = fake();
    SCOPED(contract_destroy) contract *terms = contract_of("p", "f32");
    err e = {0};
    judge_contract_report report = {0};
    judge_staging staging = {0};
    judge_comparison comparison = {0};
    judge_baseline baseline = {0};
    judge_draw_request draw = {&terms->benchmark, 1, "normal", 1};
    judge_baseline_request request = {.shape = &terms->benchmark, .slots = 1, .samples = 1};
    assert_int_equal(judge_contract(self, &report, &e), -1);
    assert_int_equal(judge_draw(self, &draw, &staging, &e), -1);
    assert_int_equal(judge_compare(self, 0, 0, &comparison, &e), -1);
    assert_int_equal(judge_baseline_run(self, &request, &baseline, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
    assert_string_equal(e.text, "judge: no problem is open");
}

static void a_number_of_slots_out_of_range_is_refused(void **state)
{
    (void)state;
    SCOPED(judge_destroy) judge *self = fake();
    SCOPED(contract_destroy) contract *terms = contract_of("p", "f32");
    assert_int_equal(judge_open(self, terms, "", "r.py", NULL), 0);
    static const int64_t bad[] = {0, -1, JUDGE_SLOTS_MAX + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err e = {0};
        judge_staging staging = {0};
        judge_baseline baseline = {0};
        judge_draw_request draw = {&terms->benchmark, 1, "normal", bad[i]};
        judge_baseline_request request = {
            .shape = &terms->benchmark, .slots = bad[i], .samples = 1};
        assert_int_equal(judge_draw(self, &draw, &staging, &e), -1);
        assert_int_equal(e.code, ERR_LIMIT);
        assert_int_equal(judge_baseline_run(self, &request, &baseline, &e), -1);
        assert_int_equal(e.code, ERR_LIMIT);
    }
}

static void the_smallest_median_wins_and_a_failed_mode_never_does(void **state)
{
    (void)state;
    static const struct {
        const char *samples[3];
        const char *winner;
    } rows[] = {
        {{"[0.3,0.1,0.2]", "[0.15,0.15,0.19]", "[0.2]"}, "default"},
        {{"[0.1]", "[]", "[]"}, "eager"},
        {{"[]", "[]", "[]"}, NULL},
        {{"[2,1]", "[1,1,9]", "[1.4,1.5]"}, "default"},
        {{"[5]", "[4]", "[3]"}, "max-autotune-no-cudagraphs"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED(judge_baseline_fini) judge_baseline b = {.mode_count = 3};
        b.modes = calloc(3, sizeof *b.modes);
        for (size_t m = 0; m < 3; m++) {
            SCOPED(json_destroy)
            json *samples =
                json_parse_tree(rows[i].samples[m], strlen(rows[i].samples[m]), "row", NULL);
            judge_mode_fill(&b.modes[m], judge_modes[m], "rows=1", 2);
            judge_mode_samples(&b.modes[m], samples);
        }
        judge_baseline_choose(&b);
        if (rows[i].winner == NULL)
            assert_null(b.winner);
        else
            assert_string_equal(b.winner, rows[i].winner);
        for (size_t m = 0; m < 3; m++) {
            bool empty = strcmp(rows[i].samples[m], "[]") == 0;
            bool won = b.winner != NULL && strcmp(judge_modes[m], b.winner) == 0;
            assert_int_equal(b.modes[m].row.winner, won);
            assert_int_equal(isnan(b.modes[m].row.median_ms), empty);
            assert_int_equal(b.modes[m].samples_text == NULL, empty);
            assert_int_equal(hash_is_zero(&b.modes[m].row.samples), empty);
        }
    }
}

static void the_hosts_clock_never_wins(void **state)
{
    (void)state;
    SCOPED(judge_baseline_fini) judge_baseline b = {.mode_count = 2};
    b.modes = calloc(2, sizeof *b.modes);
    for (size_t m = 0; m < 2; m++) {
        SCOPED(json_destroy) json *samples = json_parse_tree(m ? "[0.1]" : "[0.2]", 5, "row", NULL);
        judge_mode_fill(&b.modes[m], m ? "eager (wall)" : "eager", "rows=1", 2);
        judge_mode_samples(&b.modes[m], samples);
    }
    free(b.modes[1].row.l2); /* no span of the GPU: nothing is said of L2 */
    b.modes[1].row.l2 = NULL;
    judge_baseline_choose(&b);
    assert_string_equal(b.winner, "eager");
    assert_false(b.modes[1].row.winner);
}

static void results_can_be_ended_twice(void **state)
{
    (void)state;
    judge_staging staging = {.inputs = calloc(1, sizeof(judge_span))};
    judge_comparison comparison = {.report_json = strdup("{}")};
    judge_contract_report report = {.json = strdup("{}")};
    judge_baseline baseline = {.winner = strdup("eager"), .cache = malloc(8)};
    for (int i = 0; i < 2; i++) {
        judge_staging_fini(&staging);
        judge_comparison_fini(&comparison);
        judge_contract_report_fini(&report);
        judge_baseline_fini(&baseline);
    }
    judge *none = NULL;
    judge_destroy(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_a_problem_is_open),
        cmocka_unit_test(a_number_of_slots_out_of_range_is_refused),
        cmocka_unit_test(the_smallest_median_wins_and_a_failed_mode_never_does),
        cmocka_unit_test(the_hosts_clock_never_wins),
        cmocka_unit_test(results_can_be_ended_twice),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
