/* launch - see launch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/launch.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

static gpu_arg resolve(const plan_arg *arg, const buffers *memory)
{
    gpu_arg out = {.size = arg->size};
    uint64_t address = 0;
    switch (arg->kind) {
    case PLAN_ARG_VALUE:
        memcpy(out.bytes, arg->bytes, sizeof out.bytes);
        return out;
    case PLAN_ARG_TENSOR:
        address = buffers_tensor(memory, arg->index);
        break;
    case PLAN_ARG_SCRATCH:
        address = buffers_scratch(memory, arg->index, NULL);
        break;
    }
    out.size = sizeof address;
    memcpy(out.bytes, &address, sizeof address);
    return out;
}

static void resolve_step(gpu_call *call, const plan_step *step, const buffers *memory)
{
    call->pointer = step->pointer;
    if (step->kind == PLAN_STEP_ZERO) {
        call->at = buffers_scratch(memory, step->scratch, &call->bytes);
        return;
    }
    call->entry = step->entry;
    memcpy(call->grid, step->grid, sizeof call->grid);
    memcpy(call->block, step->block, sizeof call->block);
    call->shared = step->shared;
    call->arg_count = step->arg_count;
    if (step->arg_count == 0)
        return;
    call->args = xcalloc(step->arg_count, sizeof *call->args);
    for (size_t i = 0; i < step->arg_count; i++)
        call->args[i] = resolve(&step->args[i], memory);
}

void launch_init(launch *self, const plan_steps *steps, const buffers *memory)
{
    *self = (launch){.count = steps->step_count};
    if (steps->step_count == 0)
        return;
    self->calls = xcalloc(steps->step_count, sizeof *self->calls);
    for (size_t i = 0; i < steps->step_count; i++)
        resolve_step(&self->calls[i], &steps->steps[i], memory);
}

void launch_fini(launch *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->calls[i].args);
    free(self->calls);
    *self = (launch){0};
}

int launch_examine(const launch *self, gpu *device, runner_verdict *out, err *e)
{
    for (size_t i = 0; i < self->count && verdict_is_ok(out); i++)
        if (self->calls[i].entry != NULL &&
            device->ops->examine(device, &self->calls[i], out, e) < 0)
            return -1;
    return 0;
}
