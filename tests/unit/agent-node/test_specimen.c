/* test_specimen - the kernels of the self-tests compile, and their plans mean what their names say
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include "agent-node/specimen.h"

enum { FLOATS = 40000 };

typedef struct bench {
    rig *rig;
    specimen_bench specimens;
    err e;
} bench;

static void bench_open(bench *b, const char *reference)
{
    *b = (bench){.rig = rig_create(NULL)};
    const node_parts *node = rig_node(b->rig);
    assert_ok(specimen_open(&b->specimens, node, lanes_facts(node->lanes, 0), FLOATS, FLOATS / 8,
                            reference, &b->e),
              b->e);
}

static void bench_close(bench *b)
{
    specimen_close(&b->specimens);
    rig_destroy(&b->rig);
}

static candidate *build(bench *b, const specimen *what)
{
    candidate *c = NULL;
    assert_ok(specimen_build(&b->specimens, what, &c, &b->e), b->e);
    return c;
}

static void honest_kernels_compile(void **state)
{
    (void)state;
    static const specimen *const honest[] = {&specimen_copy, &specimen_slower_3,
                                             &specimen_slower_10, &specimen_keeps_l2};
    bench b;
    bench_open(&b, NULL);
    for (size_t i = 0; i < sizeof(honest) / sizeof(honest[0]); i++) {
        SCOPED(candidate_destroy) candidate *c = build(&b, honest[i]);
        assert_int_equal(c->compiled.result, OUTCOME_OK);
        assert_int_equal(honest[i]->must_count, 0);
        assert_string_equal(c->alias, honest[i]->name);
    }
    bench_close(&b);
}

static void a_cheat_compiles_unless_the_gate_is_what_refuses_it(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    for (const specimen *what = specimen_cheats; what->name != NULL; what++) {
        SCOPED(candidate_destroy) candidate *c = build(&b, what);
        bool gate = what->must[0] == OUTCOME_REJECTED;
        assert_int_equal(c->compiled.result, gate ? OUTCOME_REJECTED : OUTCOME_OK);
        assert_true(what->must_count > 0);
    }
    bench_close(&b);
}

static void planted_defects_compile_and_their_tools_are_named(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    static const char *const tools[] = {"memcheck", "initcheck", "racecheck", "synccheck"};
    size_t count = 0;
    for (const specimen *what = specimen_planted; what->name != NULL; what++) {
        SCOPED(candidate_destroy) candidate *c = build(&b, what);
        assert_int_equal(c->compiled.result, OUTCOME_OK);
        assert_int_equal(what->must_count, 1);
        assert_non_null(strstr(what->name, tools[count++]));
    }
    assert_int_equal(count, 4);
    bench_close(&b);
}

static int64_t extra(bench *b, const specimen *what)
{
    SCOPED(candidate_destroy) candidate *c = build(b, what);
    plan_steps steps SCOPED(plan_steps_fini) = {0};
    plan_fault fault;
    const contract *terms = b->specimens.p.terms;
    assert_int_equal(plan_expand(c->plan, terms, &terms->benchmark, &b->specimens.p.facts->limits,
                                 &steps, &fault),
                     0);
    assert_int_equal(steps.step_count, 1);
    return (int64_t)steps.steps[0].grid[0] * 256 - FLOATS / 4; /* threads beyond the copy's */
}

static void slower_copies_move_so_much_more(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    assert_in_range(extra(&b, &specimen_slower_3), FLOATS / 4 * 3 / 100,
                    FLOATS / 4 * 3 / 100 + 255);
    assert_in_range(extra(&b, &specimen_slower_10), FLOATS / 4 / 10, FLOATS / 4 / 10 + 255);
    bench_close(&b);
}

static void the_judges_reference_carries_the_same_code(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    SCOPED(candidate_destroy) candidate *c = build(&b, &specimen_copy);
    SCOPED(scoped_free) char *text = specimen_reference(c);
    assert_has(text, "7f454c46"); /* ELF */
    assert_has(text, "def reference(x, e):");
    assert_true(strlen(text) > 2 * c->compiled.cubin.size);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_kernels_compile),
        cmocka_unit_test(a_cheat_compiles_unless_the_gate_is_what_refuses_it),
        cmocka_unit_test(planted_defects_compile_and_their_tools_are_named),
        cmocka_unit_test(slower_copies_move_so_much_more),
        cmocka_unit_test(the_judges_reference_carries_the_same_code)};
    return cmocka_run_group_tests_name("specimen", tests, NULL, NULL);
}
