/* standard - the C and C++ headers that device code usually names
 *
 * Purpose:   NVRTC brings no standard library. nvcc users write <stdint.h>, <cfloat>, INFINITY,
 *            std::numeric_limits and std::min without thinking; a candidate should not fail for it, nor
 *            wait seconds for CCCL's versions. These headers are given to the compiler as text: they
 *            need no file. What else is wanted of the standard library is in <cuda/std/…>.
 * Ownership: static storage.
 * Threads:   safe.
 * Errors:    none.
 *
 * Types, values and macro texts are those of CCCL, so that both can be included together.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_STANDARD_H
#define CE_COMPILER_STANDARD_H

#include <stddef.h>

enum { STANDARD_MAX = 32 };

typedef struct standard_set {
    const char *names[STANDARD_MAX]; /* "stdint.h" */
    const char *texts[STANDARD_MAX];
    size_t count;
} standard_set;

const standard_set *standard_headers(void);

#endif
