/* fuzz_cubin - any bytes as a cubin
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/compiler/code.h"
#include "common/scoped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {.code = ERR_NONE};
    SCOPED(cubin_destroy) cubin *c = cubin_read(data, size, &e);
    if (c == NULL) {
        must(e.code == ERR_PROTOCOL || e.code == ERR_LIMIT);
        return 0;
    }
    size_t length = 0;
    for (size_t i = 0; i < c->symbol_count; i++)
        length += strlen(c->symbols[i].name);
    for (size_t i = 0; i < c->kernel_count; i++)
        must(cubin_find_kernel(c, c->kernels[i].name) != NULL);
    hash a = code_of_cubin(c);
    must(length < SIZE_MAX && !hash_is_zero(&a));
    return 0;
}
