/* code - the identity of machine code, whatever it was called
 *
 * Purpose:   one hash that is equal for two sources whose kernels execute the same: comments, layout
 *            and the names of locals, helpers and variables do not count; kernel names, parameters,
 *            constants and memory do. Compile without line information to compare.
 * Ownership: none.
 * Threads:   safe.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_CODE_H
#define CE_COMPILER_CODE_H

#include "agent-node/compiler/cubin.h"
#include "agent-node/ptx/module.h"
#include "common/hash.h"

hash code_of_cubin(const cubin *self);
/* code_of_ptx is for targets that have no machine code (compute_NN). */
hash code_of_ptx(const ptx_module *self);

#endif
