/* compile - the node's pool of compiler children
 *
 * Purpose:   compiles candidates in warm, sandboxed ce-compiler processes. A child serves many
 *            compiles and is replaced after `restart_after` of them, or when it dies or hangs.
 * Ownership: compile_pool_destroy stops the children; no compile_pool_run may be running then. A
 *            result owns its parts (compile_result_fini).
 * Threads:   compile_pool_run is safe from any thread and waits for a free child.
 * Errors:    an err means the harness: ERR_UNAVAILABLE (no NVRTC, no headers, no sandbox: the text says
 *            what to install), or the err of a broken child. A source that makes the compiler die, hang
 *            or run out of memory is the outcome compile_failed(limit).
 *
 * A child that dies without having reached its deadline is tried once more with the same source: the
 * system may have killed it for reasons of its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_COMPILE_H
#define CE_AGENT_NODE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/outcome.h"
#include "wire/message.h"

enum { COMPILE_CHILDREN_MAX = 64, COMPILE_DEADLINE_MS = 30000, COMPILE_RESTART_AFTER = 200 };

typedef struct compile_pool compile_pool;

typedef struct compile_options {
    const char *binary; /* ce-compiler */
    size_t children;    /* 0: one */
    const char *nvrtc;  /* this library and no other; NULL: search */
    const char *const
        *library_dirs; /* searched after the usual places: PyTorch's nvidia/cu13/lib, … */
    size_t library_dir_count;
    int max_major;         /* the driver's CUDA major; 0: no limit */
    bool unsafe;           /* compile even where there is no sandbox */
    int64_t deadline_ms;   /* of one compile; 0: COMPILE_DEADLINE_MS */
    int64_t restart_after; /* compiles a child; 0: COMPILE_RESTART_AFTER */
} compile_options;

/* compile_pool_create starts the first child and waits until it is ready, so that a host that cannot
 * compile is told at once. The options are copied. */
compile_pool *compile_pool_create(const compile_options *options, err *e);
void compile_pool_destroy(compile_pool **self);

/* compile_pool_nvrtc is the library's version ("13.0"). */
const char *compile_pool_nvrtc(const compile_pool *self);
/* compile_pool_key is the compiler's part of the measurement key: version, options, headers. */
hash compile_pool_key(const compile_pool *self);

typedef struct compile_request {
    const char *arch; /* sm_90a; compute_80 gives PTX only */
    const char *source;
    const char *const *entries; /* kernels that the plan launches */
    size_t entry_count;
    bool line_info;
} compile_request;

typedef struct compile_kernel {
    char *name;
    int64_t registers;    /* per thread */
    int64_t shared_bytes; /* static, per block */
    int64_t local_bytes;  /* per thread */
} compile_kernel;

typedef struct compile_result {
    outcome result;           /* OK, COMPILE_FAILED or REJECTED */
    char *detail, *text;      /* "", "limit" or the gate's rule; one sentence */
    char *log;                /* compiler's */
    message_bytes ptx, cubin; /* empty unless OK */
    hash code;         /* equal for sources that execute the same (compile without line_info) */
    double compile_ms; /* in NVRTC; 0 when the compiler did not finish */
    char nvrtc[32];
    compile_kernel *kernels; /* one an entry, in the request's order */
    size_t kernel_count;
} compile_result;

/* compile_pool_run fills out; it need not be initialised and is left alone on failure. */
int compile_pool_run(compile_pool *self, const compile_request *request, compile_result *out,
                     err *e);
void compile_result_fini(compile_result *self);

#endif
