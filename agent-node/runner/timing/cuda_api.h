/* cuda_api - the CUDA driver library, opened at run time
 *
 * Purpose:   one table of function pointers (agent-node/runner/gpu_syms.def), so that programs build and
 *            start on hosts without a GPU.
 * Ownership: a value; cuda_api_close drops the library. The table holds no other state.
 * Threads:   as the driver allows.
 * Errors:    cuda_api_open says false and why; calls give CUresult.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_CUDA_API_H
#define CE_AGENT_NODE_RUNNER_TIMING_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

typedef struct cuda_api {
    void *library;
#define GPU_SYM(need, member, symbol, args) CUresult(*member) args;
#include "agent-node/runner/gpu_syms.def"
#undef GPU_SYM
} cuda_api;

/* cuda_api_open loads libcuda.so.1; on failure `why` holds one sentence and the table is zero. */
bool cuda_api_open(cuda_api *self, char *why, size_t size);
void cuda_api_close(cuda_api *self);
/* cuda_api_explain writes "CUDA_ERROR_X (719): text". */
void cuda_api_explain(const cuda_api *self, CUresult code, char *out, size_t size);

#endif
