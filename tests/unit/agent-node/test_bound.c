/* test_bound - what bounds a kernel, rule by rule
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "agent-node/bound.h"

#define NONE ((double)NAN)

static void each_rule_has_its_cases(void **state)
{
    (void)state;
    const struct {
        const char *about;
        bound_input
            in; /* span, busy, nodes, empty, memory, dram, sm, active, blocks, multiprocessors, ready */
        bound is;
    } rows[] = {
        {"a copy", {0.1, 0.1, 1, 0.001, 90, 88, 20, 0.98, 9000, 132, NONE}, BOUND_MEMORY},
        {"only DRAM is known",
         {0.1, 0.1, 1, 0.001, NONE, 70, 20, 0.98, 9000, 132, NONE},
         BOUND_MEMORY},
        {"both busy, memory more",
         {0.1, 0.1, 1, 0.001, 80, 30, 75, 1, 9000, 132, NONE},
         BOUND_MEMORY},
        {"both busy, compute more",
         {0.1, 0.1, 1, 0.001, 75, 30, 80, 1, 9000, 132, NONE},
         BOUND_COMPUTE},
        {"multiply-adds", {0.1, 0.1, 1, 0.001, 5, 2, 95, 1, 9000, 132, NONE}, BOUND_COMPUTE},
        {"just busy enough", {0.1, 0.1, 1, 0.001, 5, 2, 60, 1, 9000, 132, NONE}, BOUND_COMPUTE},
        {"nothing busy", {0.1, 0.1, 1, 0.001, 59, 40, 30, 0.95, 9000, 132, NONE}, BOUND_LATENCY},
        {"warps that wait for their turn",
         {0.5, 0.5, 1, 0.001, 0.3, 0.2, 50, 0.99, 16384, 132, 0.67},
         BOUND_COMPUTE},
        {"warps that wait for memory",
         {0.5, 0.5, 1, 0.001, 50, 40, 50, 0.99, 16384, 132, 0.075},
         BOUND_LATENCY},
        {"warps of which nothing is known",
         {0.5, 0.5, 1, 0.001, 0.3, 0.2, 50, 0.99, 16384, 132, NONE},
         BOUND_LATENCY},
        {"one block", {1.0, 1.0, 1, 0.001, 0.4, 0.1, 0.5, 0.0075, 1, 132, NONE}, BOUND_LATENCY},
        {"a last wave", {0.1, 0.1, 1, 0.001, 10, 5, 48, 0.55, 265, 132, NONE}, BOUND_TAIL},
        {"a last wave of busy blocks",
         {0.1, 0.1, 1, 0.001, 10, 5, 63, 0.66, 265, 132, NONE},
         BOUND_TAIL},
        {"a full memory all the same",
         {0.1, 0.1, 1, 0.001, 85, 84, 20, 0.7, 265, 132, NONE},
         BOUND_MEMORY},
        {"idle, but a block each",
         {0.1, 0.1, 1, 0.001, 10, 5, 48, 0.55, 132, 132, NONE},
         BOUND_LATENCY},
        {"too short", {0.0025, 0.0025, 1, 0.001, 90, 90, 90, 1, 9000, 132, NONE}, BOUND_LAUNCH},
        {"gaps between kernels",
         {0.04, 0.02, 8, 0.001, 90, 90, 20, 1, 9000, 132, NONE},
         BOUND_LAUNCH},
        {"small gaps", {0.04, 0.035, 8, 0.001, 90, 90, 20, 1, 9000, 132, NONE}, BOUND_MEMORY},
        {"no spans", {NONE, NONE, NONE, NONE, 90, 88, 20, 1, NONE, 132, NONE}, BOUND_MEMORY},
        {"no spans, idle", {NONE, NONE, NONE, NONE, 9, 8, 20, 0.1, NONE, 132, NONE}, BOUND_LATENCY},
        {"no counters",
         {0.1, 0.1, 1, 0.001, NONE, NONE, NONE, NONE, 9000, 132, NONE},
         BOUND_UNKNOWN},
        {"no counters, too short",
         {0.002, 0.002, 1, 0.001, NONE, NONE, NONE, NONE, 1, 132, NONE},
         BOUND_LAUNCH},
        {"half of the counters",
         {0.1, 0.1, 1, 0.001, 90, 88, NONE, 1, 9000, 132, NONE},
         BOUND_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bound_of(&rows[i].in) != rows[i].is)
            fail_msg("%s: %s", rows[i].about,
                     bound_name(bound_of(&rows[i].in)) != NULL ? bound_name(bound_of(&rows[i].in))
                                                               : "unknown");
}

static void names_are_those_of_the_record(void **state)
{
    (void)state;
    assert_null(bound_name(BOUND_UNKNOWN));
    assert_string_equal(bound_name(BOUND_MEMORY), "memory");
    assert_string_equal(bound_name(BOUND_COMPUTE), "compute");
    assert_string_equal(bound_name(BOUND_LATENCY), "latency");
    assert_string_equal(bound_name(BOUND_LAUNCH), "launch");
    assert_string_equal(bound_name(BOUND_TAIL), "tail");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_its_cases),
        cmocka_unit_test(names_are_those_of_the_record),
    };
    return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}
