/* Buffers by address, which of their bytes hold data, and what a launch forgets.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/emulator/memory.h"
#include "common/scoped.h"

enum { BYTES = 300, A = 0x10000, B = 0x20000, ELEMENT = 8 };

static emu_memory *with_a_and_b(void)
{
    err e = {0};
    emu_memory *m = emu_memory_create();
    const emu_buffer b = {.base = B, .bytes = BYTES, .name = "b", .element = ELEMENT};
    const emu_buffer a = {.base = A, .bytes = BYTES, .name = "a", .is_initialised = true};
    assert_int_equal(emu_memory_add(m, &b, &e), 0);
    assert_int_equal(emu_memory_add(m, &a, &e), 0);
    return m;
}

static const char *name_at(const emu_memory *m, uint64_t address)
{
    const region *r = memory_find(m, address);
    return r != NULL ? r->name : "";
}

static void an_address_belongs_to_the_buffer_that_holds_its_byte(void **state)
{
    (void)state;
    SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
    static const struct {
        uint64_t address;
        const char *name;
    } rows[] = {
        {0, ""},         {A - 1, ""},      {A, "a"}, {A + BYTES - 1, "a"},
        {A + BYTES, ""}, {B - 1, ""},      {B, "b"}, {B + BYTES - 1, "b"},
        {B + BYTES, ""}, {UINT64_MAX, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(name_at(m, rows[i].address), rows[i].name);
}

static void buffers_that_overlap_or_wrap_are_refused(void **state)
{
    (void)state;
    SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
    static const struct {
        uint64_t base, bytes;
    } rows[] = {
        {A, 1}, {A + BYTES - 1, 8}, {A - 8, 9}, {A - 8, B}, {UINT64_MAX - 8, 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        const emu_buffer c = {.base = rows[i].base, .bytes = rows[i].bytes, .name = "late"};
        assert_int_equal(emu_memory_add(m, &c, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "late"));
    }
    err e = {0};
    const emu_buffer next = {.base = A + BYTES, .bytes = 4, .name = "next"};
    assert_int_equal(emu_memory_add(m, &next, &e), 0);
}

static void a_buffer_is_removed_by_its_first_byte_only(void **state)
{
    (void)state;
    SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
    assert_false(emu_memory_remove(m, A + 1));
    assert_true(emu_memory_remove(m, A));
    assert_false(emu_memory_remove(m, A));
    assert_string_equal(name_at(m, A), "");
    assert_string_equal(name_at(m, B), "b");
}

static void the_nearest_buffer_is_named_if_it_is_near(void **state)
{
    (void)state;
    SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
    const uint64_t middle = (A + BYTES + B) / 2;
    assert_string_equal(memory_near(m, A - 1)->name, "a");
    assert_string_equal(memory_near(m, middle - 2)->name, "a");
    assert_string_equal(memory_near(m, middle + 2)->name, "b");
    assert_string_equal(memory_near(m, B + BYTES + 1000)->name, "b");
    assert_null(memory_near(m, B + BYTES + (1 << 20)));
}

/* Every stretch of a few bytes at every offset: exactly these hold data, no neighbour does. */
static void bits_are_set_for_exactly_the_bytes_written(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < 20; at++)
        for (uint64_t bytes = 1; bytes < 70; bytes++) {
            SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
            const region *r = memory_find(m, B);
            region_bits_set(r, at, bytes);
            assert_true(region_bits_test(r, at, bytes));
            assert_false(region_bits_test(r, at, bytes + 1));
            assert_true(at == 0 || !region_bits_test(r, at - 1, bytes + 1));
            for (uint64_t i = 0; i < BYTES; i++)
                assert_int_equal(region_bits_test(r, i, 1), i >= at && i < at + bytes);
        }
}

static void what_the_host_marks_counts_up_to_the_end_of_the_buffer(void **state)
{
    (void)state;
    SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
    emu_memory_mark(m, B + BYTES - 4, 1000, true);
    assert_true(region_bits_test(memory_find(m, B), BYTES - 4, 4));
    assert_false(region_bits_test(memory_find(m, B), BYTES - 5, 1));
    assert_true(region_bits_test(memory_find(m, A), 0, BYTES));
    emu_memory_mark(m, A + 7, 2, false); /* was all data */
    assert_true(region_bits_test(memory_find(m, A), 0, 7));
    assert_false(region_bits_test(memory_find(m, A), 7, 1));
    assert_false(region_bits_test(memory_find(m, A), 8, 1));
    assert_true(region_bits_test(memory_find(m, A), 9, BYTES - 9));
    emu_memory_mark(m, A - 1, 1, false); /* belongs to nothing */
}

static void a_launch_starts_without_marks_and_inputs_need_none(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(emu_memory_destroy) emu_memory *m = with_a_and_b();
    const emu_buffer in = {.base = A + 4096, .bytes = BYTES, .name = "in", .is_input = true};
    assert_int_equal(emu_memory_add(m, &in, &e), 0);
    memory_begin(m);
    m->marks[3] = (mark){1, 2};
    m->released[5] = 7;
    memory_begin(m);
    assert_int_equal(m->marks[3].writer, 0);
    assert_int_equal(m->marks[3].reader, 0);
    assert_int_equal(m->released[5], 0);
    /* A mark a byte for a, whose elements are bytes; four bytes a mark for b; none for the input. */
    assert_int_equal(memory_find(m, A)->first_mark, 0);
    assert_int_equal(memory_find(m, B)->first_mark, BYTES + 1);
    assert_int_equal(memory_find(m, B)->granule_shift, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_belongs_to_the_buffer_that_holds_its_byte),
        cmocka_unit_test(buffers_that_overlap_or_wrap_are_refused),
        cmocka_unit_test(a_buffer_is_removed_by_its_first_byte_only),
        cmocka_unit_test(the_nearest_buffer_is_named_if_it_is_near),
        cmocka_unit_test(bits_are_set_for_exactly_the_bytes_written),
        cmocka_unit_test(what_the_host_marks_counts_up_to_the_end_of_the_buffer),
        cmocka_unit_test(a_launch_starts_without_marks_and_inputs_need_none),
    };
    return cmocka_run_group_tests_name("the emulator's memory", tests, NULL, NULL);
}
