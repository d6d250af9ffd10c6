/* test_adversarial - the list of kernels that cheat or break: read strictly, and what the shipped one
 * must hold
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "suites/adversarial.h"
#include "tests/unit/suites/folder.h"

enum { CHEATS_MIN = 60, HONEST_MIN = 10, BLIND_MAX = 10 };

static const char good_list[] =
    "- {problem: twice, name: trap, expect: crashed, why: traps}\n"
    "- {problem: twice, name: plan, expect: plan_invalid, emu: [plan_invalid, rejected], why: p}\n"
    "- {problem: twice, name: deep, expect: hung, emu: unsupported_on_emu, why: d}\n"
    "- {problem: twice, name: honest, expect: ok, why: looks bad}\n";

static char *create(void)
{
    static const char *const sources[] = {"trap", "plan", "deep", "honest"};
    char *root = folder_create();
    folder_text(root, "adversarial/adversarial.yaml", good_list);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        SCOPED(scoped_free) char *name = xasprintf("adversarial/kernels/%s.cu", sources[i]);
        folder_text(root, name, "// k\n");
    }
    folder_text(root, "adversarial/kernels/plan.json", "{no plan at all\n");
    return root;
}

static adversarial *load(const char *root, err *e)
{
    SCOPED(suite_destroy) suite *s = suite_load(root, "small", NULL);
    assert_non_null(s);
    adversarial *all = adversarial_load(root, s, e);
    if (all != NULL)
        for (size_t i = 0; i < all->kernels.count; i++)
            assert_ptr_equal(all->problems[i], &s->problems[0]);
    return all;
}

static void the_list_is_read_in_its_order(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = create();
    SCOPED(adversarial_destroy) adversarial *all = load(root, NULL);
    assert_non_null(all);
    assert_int_equal(all->kernels.count, 4);
    const mutant *items = all->kernels.items;
    assert_string_equal(items[0].plan, FOLDER_PLAN);
    assert_string_equal(items[1].plan, "{no plan at all\n");
    assert_int_equal(items[1].emu.count, 2);
    assert_int_equal(items[1].cuda.count, 1);
    assert_true(mutant_expects(&items[2].emu, OUTCOME_UNSUPPORTED_ON_EMU, NULL));
    assert_true(mutant_expects(&items[3].cuda, OUTCOME_OK, NULL));
}

static void faults_have_file_line_and_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *list, *place, *cause;
    } rows[] = {
        {"- {name: trap, expect: crashed, why: w}\n", "adversarial.yaml:1: /0", "\"problem\""},
        {"- {problem: thrice, name: trap, expect: crashed, why: w}\n", "/0/problem",
         "suite small has no problem 'thrice'"},
        {"- {problem: twice, name: trap, expect: unsupported_on_emu, why: w}\n", "/0/expect",
         "no outcome"},
        {"- {problem: twice, name: trap, expect: not_run, why: w}\n", "/0/expect", "no outcome"},
        {"- {problem: twice, name: trap, expect: crashed, emu: not_run, why: w}\n", "/0/emu",
         "no outcome"},
        {"- {problem: twice, name: trap, expect: crashed, hint: h, why: w}\n", "/0/hint",
         "unknown key"},
        {"- {problem: twice, name: gone, expect: crashed, why: w}\n", "adversarial.yaml:1: /0",
         "kernels/gone.cu"},
        {"- {problem: twice, name: trap, expect: crashed, why: w}\n", "adversarial.yaml:1",
         "belongs to no listed kernel"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(folder_destroy) char *root = create();
        folder_text(root, "adversarial/adversarial.yaml", rows[i].list);
        err e = {0};
        assert_null(load(root, &e));
        assert_int_equal(e.code, ERR_CONFIG);
        if (strstr(e.text, rows[i].place) == NULL || strstr(e.text, rows[i].cause) == NULL)
            fail_msg("'%s' lacks '%s' or '%s'", e.text, rows[i].place, rows[i].cause);
    }
}

static void the_shipped_list_has_enough_of_everything(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(suite_destroy) suite *s = suite_load(CE_SOURCE_DIR "/suites", "internal", &e);
    SCOPED(adversarial_destroy)
    adversarial *all = s != NULL ? adversarial_load(CE_SOURCE_DIR "/suites", s, &e) : NULL;
    if (all == NULL)
        fail_msg("%s", e.text);
    size_t honest = 0, blind = 0;
    for (size_t i = 0; i < all->kernels.count; i++) {
        const mutant *m = &all->kernels.items[i];
        bool passes = mutant_expects(&m->cuda, OUTCOME_OK, NULL);
        honest += passes;
        blind += m->emu_blind;
        if (passes && m->cuda.count != 1)
            fail_msg("%s may pass and may fail: that proves nothing", m->name);
        if (passes != mutant_expects(&m->emu, OUTCOME_OK, NULL) && !m->emu_blind)
            fail_msg("%s passes on one device only", m->name);
    }
    assert_true(all->kernels.count - honest >= CHEATS_MIN);
    assert_true(honest >= HONEST_MIN);
    assert_true(blind <= BLIND_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_read_in_its_order),
        cmocka_unit_test(faults_have_file_line_and_pointer),
        cmocka_unit_test(the_shipped_list_has_enough_of_everything),
    };
    return cmocka_run_group_tests_name("adversarial", tests, NULL, NULL);
}
