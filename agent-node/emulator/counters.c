/* counters - what a launch did
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/emulator.h"

const char *emu_class_name(emu_class c)
{
    static const char *const names[] = {
#define CLASS_NAME(id, name) name,
        EMU_CLASSES(CLASS_NAME)
#undef CLASS_NAME
    };
    return names[c];
}

void emu_counters_add(emu_counters *to, const emu_counters *from)
{
    for (int i = 0; i < EMU_CLASS_COUNT; i++)
        to->thread_instructions[i] += from->thread_instructions[i];
    to->warp_instructions += from->warp_instructions;
    to->global_requests += from->global_requests;
    to->global_sectors += from->global_sectors;
    to->shared_requests += from->shared_requests;
    to->shared_wavefronts += from->shared_wavefronts;
    to->branches += from->branches;
    to->divergent_branches += from->divergent_branches;
    to->barriers += from->barriers;
    to->blocks += from->blocks;
    to->threads += from->threads;
}
