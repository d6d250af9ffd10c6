/* flow - where the address of a global variable goes
 *
 * Purpose:   the eligibility gate wants no state across launches: a module's .global variables may be
 *            read, and nothing else. This follows each address through the registers of a function
 *            (flow-insensitive, so it can only err on the safe side) and finds the first instruction
 *            that writes through it or lets it out of sight.
 * Ownership: the finding borrows from the module.
 * Threads:   safe.
 * Errors:    none.
 *
 * What is followed: arithmetic, moves, conversions, selects, vectors, predicates computed from an
 * address, pointers loaded from an initialised table. What ends it: a store, atomic or reduction
 * through the address (written); the address stored, passed to a call, or deciding a branch (escapes).
 * Arguments of __assertfail are no escape: the driver's own function only prints them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_FLOW_H
#define CE_COMPILER_FLOW_H

#include <stdbool.h>

#include "agent-node/ptx/module.h"

typedef enum flow_end { FLOW_WRITTEN, FLOW_STORED, FLOW_PASSED, FLOW_BRANCHED } flow_end;

typedef struct flow_finding {
    flow_end end;
    const ptx_variable *variable;
    const ptx_function *function;
    const ptx_instruction *at;
} flow_finding;

/* flow_find is true when it found one. */
bool flow_find(const ptx_module *module, flow_finding *out);

#endif
