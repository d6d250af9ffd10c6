/* gate - may this machine code be a candidate?
 *
 * Purpose:   the eligibility gate (architecture.md §3), from PTX and cubin together. A candidate may
 *            keep no state across launches and may call nothing but itself:
 *            arch              the code is for exactly the architecture asked for
 *            entry_missing     a kernel that the plan launches is not there
 *            device_printf     printf
 *            device_heap       malloc, free, new, delete
 *            undefined_symbol  any other function or variable that nothing defines
 *            texture           texture or surface references and fetches: no plan can bind them
 *            global_written    a .global variable is written
 *            global_escapes    the address of one is stored, passed on or decides a branch
 *            resources         more registers, static shared or local memory than a launch can have
 *            unreadable        PTX that cannot be read, so that none of the above is known
 * Ownership: a verdict is a plain value.
 * Threads:   safe.
 * Errors:    none: a verdict is an outcome.
 *
 * assert() stays allowed: it calls __assertfail, which the driver resolves when it loads the module; a
 * failing assert is CUDA_ERROR_ASSERT, the outcome `crashed` (seen on driver 580). Weak symbols of NVRTC's own (.nv.reservedSmem…) and dynamic shared memory are no
 * undefined symbols.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_GATE_H
#define CE_COMPILER_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent-node/compiler/cubin.h"
#include "agent-node/ptx/module.h"

enum {
    GATE_TEXT_MAX = 512,
    GATE_SHARED_MAX = 228 * 1024, /* static, per block, with the 1 KiB reserved from sm_90 on */
    GATE_LOCAL_MAX = 512 * 1024,  /* per thread */
    GATE_REGISTER_MAX = 255       /* per thread */
};

typedef struct gate_input {
    const char *arch; /* sm_90a, compute_80 */
    const ptx_module *ptx;
    const cubin *code; /* NULL for compute_NN */
    const char *const *entries;
    size_t entry_count;
} gate_input;

typedef struct gate_verdict {
    const char *rule; /* NULL: eligible */
    char text[GATE_TEXT_MAX];
} gate_verdict;

/* gate_check tries the rules in the order above; true when all pass. */
bool gate_check(const gate_input *input, gate_verdict *out);
/* gate_check_symbols tries only the rules about undefined symbols, on PTX alone: the assembler refuses
 * such code before there is a cubin. */
bool gate_check_symbols(const ptx_module *ptx, gate_verdict *out);

#endif
