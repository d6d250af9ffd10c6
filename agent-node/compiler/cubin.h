/* cubin - machine code of one architecture, read safely
 *
 * Purpose:   what the eligibility gate and the report need of an NVRTC cubin (ELF64, both the CUDA 12
 *            and the CUDA 13 form): symbols, kernels with their registers and memory, the machine's
 *            number.
 * Ownership: a cubin borrows the bytes it was read from; cubin_destroy frees the rest.
 * Threads:   immutable after cubin_read.
 * Errors:    ERR_PROTOCOL "cubin: …" on anything that is not inside the file. The bytes may be hostile.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_CUBIN_H
#define CE_COMPILER_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { CUBIN_SYMBOL_MAX = 1 << 22 };

typedef struct cubin_section {
    const char *name;
    uint32_t type; /* SHT_… */
    uint64_t flags;
    const uint8_t *data; /* NULL when it has no bytes in the file (NOBITS) */
    uint64_t size;
    uint32_t link, info;
} cubin_section;

typedef struct cubin_symbol {
    const char *name;
    uint8_t bind;     /* STB_… */
    uint8_t type;     /* STT_… */
    uint16_t section; /* 0: undefined */
    uint64_t value, size;
} cubin_symbol;

typedef struct cubin_kernel {
    const char *name;
    uint32_t registers;    /* per thread */
    uint64_t shared_bytes; /* static, per block; from sm_90 on with the 1 KiB that is reserved */
    uint64_t local_bytes;  /* per thread */
} cubin_kernel;

typedef struct cubin {
    uint32_t sm; /* 90 */
    cubin_section *sections;
    size_t section_count;
    cubin_symbol *symbols;
    size_t symbol_count;
    cubin_kernel *kernels; /* every global function with code */
    size_t kernel_count;
} cubin;

cubin *cubin_read(const void *data, size_t size, err *e);
void cubin_destroy(cubin **self);

const cubin_kernel *cubin_find_kernel(const cubin *self, const char *name);
/* cubin_section_named: NULL when absent. */
const cubin_section *cubin_section_named(const cubin *self, const char *name);

#endif
