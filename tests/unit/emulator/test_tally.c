/* Launches added up by kernel and size.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/emulator/tally.h"
#include "common/json.h"
#include "common/scoped.h"

static json *tree_of(const tally *t)
{
    err e = {0};
    SCOPED(scoped_free) char *text = tally_json(t);
    assert_non_null(text);
    json *tree = json_parse_tree(text, strlen(text), "tally", &e);
    if (tree == NULL)
        fail_msg("%s", e.text);
    return tree;
}

static void add(tally *t, const char *kernel, uint32_t grid, uint32_t shared)
{
    const emu_launch launch = {
        .entry = kernel, .grid = {grid, 1, 1}, .block = {128, 2, 1}, .shared = shared};
    emu_report report = {.shared_bytes = shared + 512};
    report.counters.thread_instructions[EMU_CLASS_FLOAT32] = 1000;
    report.counters.warp_instructions = 40;
    report.counters.global_requests = 4;
    report.counters.global_sectors = 16;
    report.counters.shared_requests = 2;
    report.counters.shared_wavefronts = 6;
    report.counters.branches = 8;
    report.counters.divergent_branches = 1;
    report.counters.barriers = 3;
    tally_add(t, &launch, &report);
}

static int64_t number(const json *tree, size_t row, const char *key)
{
    return json_int(json_get(json_at(json_get(tree, "launches"), row), key), -1);
}

static void launches_of_one_kernel_and_size_are_one_row(void **state)
{
    (void)state;
    SCOPED(tally_destroy) tally *t = tally_create();
    tally_know(t, "a", 40);
    assert_null(tally_json(t));
    add(t, "a", 7, 0);
    add(t, "b", 7, 0);
    add(t, "a", 7, 0);
    add(t, "a", 8, 0);
    add(t, "a", 7, 4096);
    SCOPED(json_destroy) json *tree = tree_of(t);
    assert_true(json_bool(json_get(tree, "modelled"), false));
    assert_int_equal(json_size(json_get(tree, "launches")), 4);
    static const struct {
        const char *key;
        int64_t of_a, of_b;
    } numbers[] = {
        {"launches", 2, 1},         {"warp_instructions", 80, 40}, {"global_requests", 8, 4},
        {"global_sectors", 32, 16}, {"shared_requests", 4, 2},     {"shared_passes", 12, 6},
        {"branches", 16, 8},        {"divergent_branches", 2, 1},  {"barriers", 6, 3},
        {"shared_bytes", 512, 512}, {"blocks_at_once", 6, 8},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_int_equal(number(tree, 0, numbers[i].key), numbers[i].of_a);
        assert_int_equal(number(tree, 1, numbers[i].key), numbers[i].of_b);
    }
    const json *a = json_at(json_get(tree, "launches"), 0);
    assert_int_equal(json_int(json_get(json_get(a, "thread_instructions"), "f32"), 0), 2000);
    assert_int_equal(json_size(json_get(a, "thread_instructions")), 1);
    assert_int_equal(json_int(json_at(json_get(a, "block"), 1), 0), 2);
    assert_string_equal(json_str(json_get(a, "occupancy_limit"), ""), "registers");
    assert_true(json_real(json_get(a, "occupancy"), 0) == 0.75);
    assert_true(json_real(json_get(a, "registers"), 0) == 40);
}

static void registers_that_are_not_known_are_null(void **state)
{
    (void)state;
    SCOPED(tally_destroy) tally *t = tally_create();
    tally_know(t, "other", 40);
    add(t, "a", 7, 0);
    SCOPED(json_destroy) json *tree = tree_of(t);
    const json *a = json_at(json_get(tree, "launches"), 0);
    assert_int_equal(json_typeof(json_get(a, "registers")), JSON_TYPE_NULL);
    assert_true(json_real(json_get(a, "occupancy"), 0) == 1.0);
}

static void a_cleared_tally_keeps_what_it_knows(void **state)
{
    (void)state;
    SCOPED(tally_destroy) tally *t = tally_create();
    tally_know(t, "a", 255);
    add(t, "a", 7, 0);
    tally_clear(t);
    assert_null(tally_json(t));
    add(t, "a", 9, 0);
    SCOPED(json_destroy) json *tree = tree_of(t);
    assert_int_equal(json_size(json_get(tree, "launches")), 1);
    assert_int_equal(number(tree, 0, "launches"), 1);
    assert_int_equal(number(tree, 0, "blocks_at_once"), 1);
}

static void rows_are_bounded(void **state)
{
    (void)state;
    SCOPED(tally_destroy) tally *t = tally_create();
    for (uint32_t i = 0; i < TALLY_ROWS + 5; i++)
        add(t, "a", i + 1, 0);
    SCOPED(json_destroy) json *tree = tree_of(t);
    assert_int_equal(json_size(json_get(tree, "launches")), TALLY_ROWS);
    assert_int_equal(json_int(json_get(tree, "left_out"), 0), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_one_kernel_and_size_are_one_row),
        cmocka_unit_test(registers_that_are_not_known_are_null),
        cmocka_unit_test(a_cleared_tally_keeps_what_it_knows),
        cmocka_unit_test(rows_are_bounded),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
