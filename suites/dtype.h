/* dtype - element types of tensors
 *
 * Purpose:   the closed list, with the names that contracts, plans and the judge share.
 * Ownership: plain values; names are static.
 * Threads:   safe.
 * Errors:    dtype_parse says false on an unknown name.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_DTYPE_H
#define CE_SUITES_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum dtype {
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F32,
    DTYPE_F64,
    DTYPE_I8,
    DTYPE_U8,
    DTYPE_I32,
    DTYPE_I64,
    DTYPE_BOOL,
    DTYPE_COUNT
} dtype;

const char *dtype_name(dtype type); /* "f16", "bf16", … "bool" */
bool dtype_parse(const char *name, dtype *out);
size_t dtype_size(dtype type); /* bytes of an element */
/* dtype_names lists every name, NULL-ended, in the order of the enum: for json_want_choice. */
const char *const *dtype_names(void);

#endif
