/* mock_cuda - a CUDA driver library in host memory, for tests without a GPU
 *
 * Purpose:   libcuda.so.1 with the functions that gpu_syms.def binds. One device, one queue executed in
 *            order by one thread; mappings are mmap with real access rights, so that a kernel which
 *            strays faults and the error is sticky as on a GPU. Kernels are host functions by name
 *            (mock_kernels.c); a module is any image that does not start with "BAD".
 * Ownership: process-wide state, as in the real library.
 * Threads:   safe.
 * Errors:    CUresult.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_SUPPORT_MOCK_CUDA_H
#define CE_TESTS_SUPPORT_MOCK_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define MOCK_API __attribute__((visibility("default")))

/* What was queued, in order, for tests of the queueing itself. */
typedef enum mock_kind { MOCK_KERNEL, MOCK_FILL, MOCK_COPY, MOCK_EVENT, MOCK_GRAPH } mock_kind;

typedef struct mock_trace {
    mock_kind kind;
    const char *kernel; /* MOCK_KERNEL: its name */
    const void *graph;  /* MOCK_GRAPH: the CUgraph it was instantiated from */
} mock_trace;

enum { MOCK_TRACE_MAX = 65536, MOCK_PARAMS_MAX = 16 };

/* mock_cuda_trace: what has been queued since the library was loaded or the trace cleared. */
MOCK_API const mock_trace *mock_cuda_trace(size_t *count);
MOCK_API void mock_cuda_trace_clear(void);
/* mock_cuda_queue_room: a graph of more nodes than this is queued only when everything before it is done, as by a
 * launch queue that is full; 0: no limit. */
MOCK_API void mock_cuda_queue_room(size_t nodes);
/* mock_cuda_refuse makes the next call of the named driver function (such as "cuMemCreate") fail. */
MOCK_API void mock_cuda_refuse(const char *function, int result);

/* A kernel: called once for the whole grid. params are pointers to the argument values. */
typedef struct mock_launch {
    uint32_t grid[3], block[3];
    void **params;
} mock_launch;

typedef struct mock_kernel {
    const char *name;
    size_t param_count;
    size_t param_size[MOCK_PARAMS_MAX];
    void (*run)(const mock_launch *l);
    int shared; /* static, bytes of a block */
} mock_kernel;

const mock_kernel *mock_kernel_find(const char *name);
/* mock_fault ends the running kernel with a sticky error. */
__attribute__((noreturn)) void mock_fault(int result);

#endif
