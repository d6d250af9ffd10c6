/* test_tools_ptx - the runner's own kernels do what they say, on the emulator
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/emulator/emulator.h"
#include "agent-node/runner/tools_ptx.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static void run(emu_memory *memory, const emu_launch *launch, emu_report *report)
{
    static const char image[] = TOOLS_PTX;
    err e = {0};
    emu_module *module = emu_module_create(image, sizeof image, &e);
    if (module == NULL)
        fail_msg("%s", e.text);
    const emu_options options = {.workers = 1};
    if (emu_module_run(module, memory, launch, &options, report, &e) < 0)
        fail_msg("%s", e.text);
    if (report->finding_count != 0)
        fail_msg("%s", report->findings[0].text);
    emu_module_destroy(&module);
}

static emu_arg arg_of(const void *bytes, size_t size)
{
    emu_arg out = {.size = size};
    memcpy(out.bytes, bytes, size);
    return out;
}

/* Every word of shared memory is stored once, whatever the number of threads. */
static void dirty_fills_all_shared_memory(void **state)
{
    (void)state;
    static const uint32_t words_of[] = {0, 1, 31, 257, 12288};
    for (size_t i = 0; i < sizeof words_of / sizeof *words_of; i++) {
        uint32_t words = words_of[i], value = 0xABCD1234u;
        emu_memory *memory = emu_memory_create();
        const emu_arg args[] = {arg_of(&words, 4), arg_of(&value, 4)};
        const emu_launch launch = {.entry = "ce_dirty",
                                   .grid = {3, 1, 1},
                                   .block = {256, 1, 1},
                                   .shared = words * 4,
                                   .args = args,
                                   .arg_count = 2};
        SCOPED(scoped_free) emu_report *report = xcalloc(1, sizeof *report);
        run(memory, &launch, report);
        assert_int_equal(report->counters.thread_instructions[EMU_CLASS_SHARED],
                         (uint64_t)words * 3);
        emu_memory_destroy(&memory);
    }
}

static uint64_t sum_of(const uint32_t *words, uint64_t count, uint64_t salt)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t z = words[i] + salt + (i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        sum += z ^ (z >> 31);
    }
    return sum;
}

static void sum_is_that_of_its_formula(void **state)
{
    (void)state;
    enum { WORDS = 1000 };
    static uint32_t words[WORDS];
    uint64_t out = 0, at = (uint64_t)(uintptr_t)words, to = (uint64_t)(uintptr_t)&out;
    uint64_t count = WORDS, salt = 77;
    err e = {0};
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u;
    emu_memory *memory = emu_memory_create();
    const emu_buffer input = {.base = at,
                              .bytes = sizeof words,
                              .name = "words",
                              .element = 4,
                              .is_input = true,
                              .is_initialised = true};
    const emu_buffer output = {
        .base = to, .bytes = sizeof out, .name = "out", .element = 8, .is_initialised = true};
    assert_int_equal(emu_memory_add(memory, &input, &e), 0);
    assert_int_equal(emu_memory_add(memory, &output, &e), 0);
    const emu_arg args[] = {arg_of(&at, 8), arg_of(&count, 8), arg_of(&salt, 8), arg_of(&to, 8)};
    const emu_launch launch = {
        .entry = "ce_sum", .grid = {2, 1, 1}, .block = {256, 1, 1}, .args = args, .arg_count = 4};
    SCOPED(scoped_free) emu_report *report = xcalloc(1, sizeof *report);
    run(memory, &launch, report);
    assert_true(out == sum_of(words, WORDS, salt));
    emu_memory_destroy(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dirty_fills_all_shared_memory),
        cmocka_unit_test(sum_is_that_of_its_formula),
    };
    return cmocka_run_group_tests_name("tools_ptx", tests, NULL, NULL);
}
