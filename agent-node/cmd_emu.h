/* cmd_emu - ce-node emu: one kernel on the emulator, from files
 *
 * Purpose:   finds the problem, picks the shape, reads source and plan, runs them (emu_run.h) and prints
 *            what came of it.
 * Ownership: everything ends with the call.
 * Threads:   one.
 * Errors:    printed once on stderr; the exit code says what kind (0 correct, 1 harness, 2 usage, 3 the
 *            candidate is not correct, 5 nothing found, but nothing compared either).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_CMD_EMU_H
#define CE_AGENT_NODE_CMD_EMU_H

#include "common/err.h"
#include "suites/contract.h"

/* cmd_emu runs `ce-node emu …`; argv[0] is "emu". */
int cmd_emu(int argc, char **argv);

/* cmd_emu_shape: the largest of the contract's shapes whose tensors have at most 64 Ki elements each, with
 * the given "dim=value" words applied. */
int cmd_emu_shape(const contract *terms, const char *const *words, size_t count,
                  contract_shape *out, err *e);

#endif
