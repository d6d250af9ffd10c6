/* fault - see fault.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/fault.h"

#include <stddef.h>

enum { LOAD = 1 << FAULT_AT_LOAD, LAUNCH = 1 << FAULT_AT_LAUNCH, WAIT = 1 << FAULT_AT_WAIT };

typedef struct fault_row {
    int64_t native;
    unsigned when; /* a set of moments */
    outcome result;
    const char *detail;
    const char *text;
} fault_row;

static const fault_row rows[] = {
    {1, LAUNCH, OUTCOME_LAUNCH_FAILED, "configuration",
     "the driver refused the launch: grid, block, shared memory or arguments do not fit the kernel "
     "(CUDA_ERROR_INVALID_VALUE)"},
    {200, LOAD, OUTCOME_LAUNCH_FAILED, "load",
     "the driver could not load the machine code (CUDA_ERROR_INVALID_IMAGE)"},
    {209, LOAD, OUTCOME_LAUNCH_FAILED, "load",
     "the machine code is for another architecture (CUDA_ERROR_NO_BINARY_FOR_GPU)"},
    {218, LOAD, OUTCOME_LAUNCH_FAILED, "load",
     "the driver could not compile the code (CUDA_ERROR_INVALID_PTX)"},
    {222, LOAD, OUTCOME_LAUNCH_FAILED, "load",
     "the code is newer than the driver (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"},
    {500, LAUNCH, OUTCOME_LAUNCH_FAILED, "entry", "the machine code has no such kernel"},
    {700, LAUNCH | WAIT, OUTCOME_OUT_OF_BOUNDS, "access",
     "a kernel read or wrote memory outside its buffers, or wrote to an input "
     "(CUDA_ERROR_ILLEGAL_ADDRESS)"},
    {701, LAUNCH, OUTCOME_LAUNCH_FAILED, "resources",
     "the kernel needs more registers or shared memory than a block of this size can have "
     "(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)"},
    {702, LAUNCH | WAIT, OUTCOME_HUNG, NULL,
     "the device's own watchdog ended the kernel (CUDA_ERROR_LAUNCH_TIMEOUT)"},
    {710, LAUNCH | WAIT, OUTCOME_CRASHED, "assert", "a device assert failed (CUDA_ERROR_ASSERT)"},
    {714, LAUNCH | WAIT, OUTCOME_CRASHED, "stack",
     "the call stack was damaged or overflowed (CUDA_ERROR_HARDWARE_STACK_ERROR)"},
    {715, LAUNCH | WAIT, OUTCOME_CRASHED, "instruction",
     "a kernel executed an illegal instruction or trapped (CUDA_ERROR_ILLEGAL_INSTRUCTION)"},
    {716, LAUNCH | WAIT, OUTCOME_OUT_OF_BOUNDS, "misaligned",
     "an access was not aligned to its size (CUDA_ERROR_MISALIGNED_ADDRESS)"},
    {717, LAUNCH | WAIT, OUTCOME_OUT_OF_BOUNDS, "access",
     "an address was outside the memory space of its instruction "
     "(CUDA_ERROR_INVALID_ADDRESS_SPACE)"},
    {718, LAUNCH | WAIT, OUTCOME_CRASHED, "pc",
     "the program counter left the kernel (CUDA_ERROR_INVALID_PC)"},
    {719, LAUNCH | WAIT, OUTCOME_CRASHED, "trap",
     "a kernel trapped or broke a hardware rule (CUDA_ERROR_LAUNCH_FAILED)"},
    {720, LAUNCH, OUTCOME_LAUNCH_FAILED, "resources",
     "too many blocks for a cooperative launch (CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)"},
    {721, LAUNCH | WAIT, OUTCOME_CRASHED, "tensor_memory",
     "a kernel ended without freeing tensor memory (CUDA_ERROR_TENSOR_MEMORY_LEAK)"},
};

bool fault_judge(int64_t native, fault_when when, const char *where, runner_verdict *out)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].native != native || (rows[i].when & (1u << when)) == 0)
            continue;
        const char *at = where != NULL ? where : "";
        verdict_set(out, rows[i].result, rows[i].detail, "%s%s%s", at, *at != '\0' ? ": " : "",
                    rows[i].text);
        return true;
    }
    return false;
}
