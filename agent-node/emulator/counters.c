/* counters - what a launch did, in words
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/emulator.h"
#include "common/buf.h"

const char *emu_class_name(emu_class c)
{
    static const char *const names[] = {
#define CLASS_NAME(id, name) name,
        EMU_CLASSES(CLASS_NAME)
#undef CLASS_NAME
    };
    return names[c];
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole != 0 ? (double)part / (double)whole : 0.0;
}

static void say_classes(const emu_counters *c, buf *out)
{
    const char *between = "  thread instructions:";
    for (int i = 0; i < EMU_CLASS_COUNT; i++) {
        if (c->thread_instructions[i] == 0)
            continue;
        buf_printf(out, "%s %s %llu", between, emu_class_name((emu_class)i),
                   (unsigned long long)c->thread_instructions[i]);
        between = ",";
    }
    buf_puts(out, "\n");
}

void emu_counters_text(const emu_counters *self, buf *out)
{
    buf_printf(out,
               "modelled, not measured: %llu threads in %llu blocks, %llu instructions of warps\n",
               (unsigned long long)self->threads, (unsigned long long)self->blocks,
               (unsigned long long)self->warp_instructions);
    say_classes(self, out);
    if (self->global_requests != 0)
        buf_printf(out, "  global memory: %llu requests, %.1f sectors of 32 bytes a request\n",
                   (unsigned long long)self->global_requests,
                   ratio(self->global_sectors, self->global_requests));
    if (self->shared_requests != 0)
        buf_printf(
            out,
            "  shared memory: %llu requests, %.2f passes a request (more than the width asks "
            "for: bank conflicts)\n",
            (unsigned long long)self->shared_requests,
            ratio(self->shared_wavefronts, self->shared_requests));
    buf_printf(out, "  branches of warps: %llu, %.1f %% divergent; barriers of blocks: %llu\n",
               (unsigned long long)self->branches,
               100.0 * ratio(self->divergent_branches, self->branches),
               (unsigned long long)self->barriers);
}
