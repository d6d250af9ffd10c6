/* dtype - element types of tensors
 *
 * SPDX-License-Identifier: MIT */
#include "suites/dtype.h"

#include <assert.h>
#include <string.h>

static const char *const names[] = {
    [DTYPE_F16] = "f16",   [DTYPE_BF16] = "bf16", [DTYPE_F32] = "f32", [DTYPE_F64] = "f64",
    [DTYPE_I8] = "i8",     [DTYPE_U8] = "u8",     [DTYPE_I32] = "i32", [DTYPE_I64] = "i64",
    [DTYPE_BOOL] = "bool", [DTYPE_COUNT] = NULL,
};

static const size_t sizes[DTYPE_COUNT] = {
    [DTYPE_F16] = 2, [DTYPE_BF16] = 2, [DTYPE_F32] = 4, [DTYPE_F64] = 8,  [DTYPE_I8] = 1,
    [DTYPE_U8] = 1,  [DTYPE_I32] = 4,  [DTYPE_I64] = 8, [DTYPE_BOOL] = 1,
};

const char *dtype_name(dtype type)
{
    assert(type < DTYPE_COUNT);
    return names[type];
}

bool dtype_parse(const char *name, dtype *out)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (dtype)i;
            return true;
        }
    return false;
}

size_t dtype_size(dtype type)
{
    assert(type < DTYPE_COUNT);
    return sizes[type];
}

const char *const *dtype_names(void)
{
    return names;
}
