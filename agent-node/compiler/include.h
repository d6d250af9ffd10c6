/* include - the CUDA headers a candidate may include
 *
 * Purpose:   finds the folders (toolkit headers, CCCL) and gives their content a hash.
 * Ownership: include_fini frees.
 * Threads:   safe.
 * Errors:    ERR_UNAVAILABLE with what to install when there are no CUDA headers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_INCLUDE_H
#define CE_COMPILER_INCLUDE_H

#include <stddef.h>

#include "common/err.h"
#include "common/hash.h"

enum { INCLUDE_MAX = 16 };

typedef struct include_set {
    char *folders[INCLUDE_MAX]; /* links resolved */
    size_t count;
} include_set;

/* include_find takes the folders given, or else searches beside the NVRTC library (../include,
 * ../../cuda_runtime/include), in /usr/local/cuda/include and /opt/ce-cuda/include. A folder counts
 * when it has cuda_fp16.h; its "cccl" sub-folder is added when there is one. */
int include_find(const char *const *given, size_t count, const char *nvrtc_path, include_set *out,
                 err *e);
void include_fini(include_set *self);

/* include_hash covers the relative name and the bytes of every file below the folders. */
int include_hash(const include_set *self, hash *out, err *e);

#endif
