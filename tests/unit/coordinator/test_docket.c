/* test_docket - which kernels a validation runs, and what is said of each in a spec
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
#include "coordinator/docket.h"

static char source[] = "// k\n", launch[] = "{}", why[] = "the tail is missing",
            detail[] = "unwritten";
static char tail[] = "tail", late[] = "late", twice[] = "twice", plain[] = "plain";

static mutant kernels[] = {
    {.name = tail,
     .source = source,
     .plan = launch,
     .why = why,
     .cuda = {.any = {OUTCOME_WRONG}, .count = 1, .detail = detail},
     .emu = {.any = {OUTCOME_WRONG}, .count = 1, .detail = detail}},
    {.name = late,
     .source = source,
     .plan = launch,
     .why = why,
     .cuda = {.any = {OUTCOME_HUNG, OUTCOME_CRASHED}, .count = 2},
     .emu = {.any = {OUTCOME_OK}, .count = 1},
     .emu_blind = true},
};

static problem with = {
    .id = twice, .gold_source = source, .gold_plan = launch, .wrong = {kernels, 2}};
static problem without = {.id = plain};

static void gold_comes_before_the_mutants_of_its_problem(void **state)
{
    (void)state;
    const problem *problems[] = {&without, &with};
    SCOPED(docket_destroy) docket *d = docket_mutants(problems, 2);
    assert_int_equal(d->count, 3);
    assert_null(d->items[0].kernel);
    assert_int_equal(d->items[0].entrant, DOCKET_GOLD);
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(d->items[i + 1].kernel, &kernels[i]);
        assert_int_equal(d->items[i + 1].entrant, DOCKET_KERNEL);
        assert_int_equal(d->items[i + 1].sample, i);
        assert_ptr_equal(d->items[i + 1].problem, &with);
    }
}

static adversarial *foreign(void)
{
    adversarial *all = xcalloc(1, sizeof *all);
    all->kernels.items = xcalloc(1, sizeof *all->kernels.items);
    all->problems = xcalloc(1, sizeof(problem *));
    all->kernels.items[0] = (mutant){.name = xstrdup("trap"), .source = xstrdup("// t\n")};
    all->problems[0] = &with;
    all->kernels.count = 1;
    return all;
}

static void adversarial_kernels_replace_the_mutants(void **state)
{
    (void)state;
    const problem *problems[] = {&without, &with};
    adversarial *all = foreign();
    SCOPED(docket_destroy) docket *d = docket_adversarial(problems, 2, &all);
    assert_null(all);
    assert_non_null(d->foreign);
    assert_int_equal(d->count, 2);
    assert_null(d->items[0].kernel);
    assert_string_equal(d->items[1].kernel->name, "trap");
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const docket_case one = {.problem = &with, .kernel = &kernels[i]};
        SCOPED(scoped_free) char *text = docket_write(&one);
        SCOPED(docket_record_fini) docket_record r = {.name = NULL};
        assert_int_equal(docket_read(text, &r, NULL), 0);
        assert_string_equal(r.name, kernels[i].name);
        assert_string_equal(r.why, why);
        assert_int_equal(r.emu_blind, kernels[i].emu_blind);
        assert_int_equal(r.cuda.count, kernels[i].cuda.count);
        const mutant_expect *seen = docket_expectation(&r, "cuda");
        assert_true(mutant_expects(seen, kernels[i].cuda.any[0], kernels[i].cuda.detail));
        assert_false(mutant_expects(seen, OUTCOME_OK, NULL));
        assert_int_equal(mutant_expects(docket_expectation(&r, "emu"), OUTCOME_OK, NULL), i == 1);
    }
}

static void gold_must_pass_everywhere(void **state)
{
    (void)state;
    const docket_case gold = {.problem = &with};
    SCOPED(scoped_free) char *text = docket_write(&gold);
    SCOPED(docket_record_fini) docket_record r = {.name = NULL};
    assert_int_equal(docket_read(text, &r, NULL), 0);
    assert_string_equal(r.name, "gold");
    assert_null(r.why);
    assert_true(mutant_expects(docket_expectation(&r, "emu"), OUTCOME_OK, NULL));
    assert_false(mutant_expects(docket_expectation(&r, "cuda"), OUTCOME_WRONG, "element"));
}

static void a_stored_text_is_not_trusted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "{}", "{\"cuda\":{\"any\":[]},\"emu\":{\"any\":[\"ok\"]}}",
        "{\"cuda\":{\"any\":[\"fine\"]},\"emu\":{\"any\":[\"ok\"]}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        docket_record r = {.name = NULL};
        err e = {0};
        assert_int_equal(docket_read(texts[i], &r, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_null(r.name);
    }
}

static void expectations_read_as_a_sentence_would(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *one = docket_expect_text(&kernels[0].cuda);
    SCOPED(scoped_free) char *two = docket_expect_text(&kernels[1].cuda);
    assert_string_equal(one, "wrong(unwritten)");
    assert_string_equal(two, "hung or crashed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gold_comes_before_the_mutants_of_its_problem),
        cmocka_unit_test(adversarial_kernels_replace_the_mutants),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(gold_must_pass_everywhere),
        cmocka_unit_test(a_stored_text_is_not_trusted),
        cmocka_unit_test(expectations_read_as_a_sentence_would),
    };
    return cmocka_run_group_tests_name("coordinator/docket", tests, NULL, NULL);
}
