/* finding - what a kernel does wrong, in words
 *
 * Purpose:   records findings of a launch, the ones of the lowest blocks first, with a sentence that says
 *            what happened, where, and what would be legal.
 * Ownership: fills the launch's report.
 * Threads:   safe.
 * Errors:    none.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_FINDING_H
#define CE_EMULATOR_FINDING_H

#include "agent-node/emulator/exec.h"

/* What a memory access did. `space` picks the words. */
typedef struct fault {
    emu_kind kind;
    ptx_space space;
    unsigned lane;
    uint64_t address; /* generic for global, in the space for shared and local */
    uint32_t bytes;
    bool is_store;
    const region *buffer; /* global; NULL: none */
    int other; /* races: thread of the block, or -1: of another block, or -2: not known */
    uint64_t other_block;
    bool other_wrote;
} fault;

/* finding_access records an access at the op before w->pc. Gives STEP_STOP. */
step finding_access(warp *w, const fault *f);
/* finding_unset: an invalid value of `unit` takes effect in `lane`: "is stored", "decides a branch".
 * When it was read from memory, another thread may be about to write there: then a barrier is missing, and
 * that is what to say. So such a finding waits for the block's next barrier or end; the value counts as
 * written and the op is executed again (STEP_SWITCH). */
step finding_unset(warp *w, unsigned lane, uint32_t unit, const char *effect);
/* finding_flush records a finding that waits; false when there is none. */
bool finding_flush(block *b);
/* finding_say records another kind with a sentence of its own. */
step finding_say(warp *w, emu_kind kind, unsigned lane, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* finding_hung says where the block is when the launch is given up. */
void finding_hung(block *b, const char *why);
/* finding_refuse fills a report with a finding that has no thread. */
void finding_refuse(emu_report *out, emu_kind kind, const char *kernel, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* finding_refuse_at is finding_refuse for an instruction. */
void finding_refuse_at(emu_report *out, const program *p, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
