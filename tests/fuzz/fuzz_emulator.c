/* Any PTX, decoded and run for a moment: no crash, no hang, no access outside the two buffers it is given.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/emulator/emulator.h"
#include "agent-node/ptx/parse.h"
#include "common/scoped.h"

enum { BUFFER = 4096, ARGS_MAX = 8, INSTRUCTIONS = 200000, DEADLINE_MS = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t buffers[2][BUFFER / sizeof(uint64_t)];

static emu_memory *make_memory(void)
{
    emu_memory *m = emu_memory_create();
    for (int i = 0; i < 2; i++) {
        const emu_buffer b = {.base = (uint64_t)(uintptr_t)buffers[i],
                              .bytes = BUFFER,
                              .name = i == 0 ? "in" : "out",
                              .element = 4,
                              .is_input = i == 0,
                              .is_initialised = i == 0};
        emu_memory_add(m, &b, NULL);
    }
    return m;
}

static void run_entry(emu_module *module, emu_memory *memory, const ptx_function *f)
{
    static emu_report report;
    emu_arg args[ARGS_MAX] = {{.size = 0}};
    if (f->param_count > ARGS_MAX)
        return;
    for (size_t i = 0; i < f->param_count; i++) {
        const uint64_t at = (uint64_t)(uintptr_t)buffers[i % 2];
        const uint64_t value = f->params[i]->bytes == 8 ? at : 7;
        args[i].size = f->params[i]->bytes;
        memcpy(args[i].bytes, &value, sizeof value);
    }
    const emu_launch launch = {.entry = f->name,
                               .grid = {2, 1, 1},
                               .block = {40, 1, 1},
                               .shared = 64,
                               .args = args,
                               .arg_count = f->param_count};
    const emu_options options = {
        .deadline_ms = DEADLINE_MS, .instruction_max = INSTRUCTIONS, .workers = 1};
    emu_module_run(module, memory, &launch, &options, &report, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    SCOPED(ptx_module_destroy) ptx_module *parsed = ptx_parse(text, size, NULL);
    if (parsed == NULL)
        return 0;
    SCOPED(emu_module_destroy) emu_module *module = emu_module_create(text, size, NULL);
    SCOPED(emu_memory_destroy) emu_memory *memory = make_memory();
    for (size_t i = 0; module != NULL && i < parsed->function_count && i < 4; i++)
        if (parsed->functions[i]->is_entry)
            run_entry(module, memory, parsed->functions[i]);
    return 0;
}
