/* gpu - see gpu.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/gpu.h"

#include <string.h>

#include "common/scoped.h"
#include "common/str.h"

static gpu *open_kind(const gpu_options *options, err *e)
{
    int64_t ordinal = 0;
    if (strcmp(options->device, "fake") == 0)
        return gpu_fake_open(options, e);
    if (strcmp(options->device, "emu") == 0)
        return gpu_emu_open();
    if (str_starts(options->device, "cuda:") && str_to_i64(options->device + 5, &ordinal) &&
        ordinal >= 0 && ordinal <= INT32_MAX)
        return gpu_cuda_open((int)ordinal, e);
    err_set(e, ERR_USAGE, "device \"%s\" is not cuda:N, emu or fake", options->device);
    return NULL;
}

gpu *gpu_open(const gpu_options *options, err *e)
{
    gpu *g = open_kind(options, e);
    if (g != NULL)
        g->exact = options->exact;
    return g;
}

void gpu_close(gpu **self)
{
    gpu *g = TAKE(*self);
    if (g != NULL)
        g->ops->close(g);
}
