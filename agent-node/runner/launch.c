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
        address = buffers_tensor(memory, arg->index) + arg->offset;
        break;
    case PLAN_ARG_SCRATCH:
        address = buffers_scratch(memory, arg->index, NULL) + arg->offset;
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
        call->fill.width = 1;
        call->fill.at = buffers_scratch(memory, step->scratch, &call->fill.count);
        return;
    }
    call->entry = step->entry;
    call->cooperative = step->cooperative;
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

/* count_inherited: how many buffers come to a place where another one lived. */
static size_t count_inherited(const plan_steps *steps, const buffers *memory)
{
    size_t n = 0;
    for (size_t i = 0; i < steps->scratch_count; i++)
        n += steps->scratch[i].inherits && buffers_shares(memory);
    return n;
}

/* renew adds a fill for every buffer whose life begins with this step in another one's place. */
static void renew(launch *self, const plan_steps *steps, size_t step, const buffers *memory)
{
    for (size_t i = 0; i < steps->scratch_count; i++)
        if (steps->scratch[i].inherits && steps->scratch[i].first == step)
            self->calls[self->count++] =
                (gpu_call){.fill = buffers_renewal(memory, i), .pointer = "/scratch"};
}

void launch_init(launch *self, const plan_steps *steps, const buffers *memory, bool checked)
{
    *self = (launch){0};
    if (steps->step_count == 0)
        return;
    const size_t renewals = checked ? count_inherited(steps, memory) : 0;
    self->calls = xcalloc(steps->step_count + renewals, sizeof *self->calls);
    for (size_t i = 0; i < steps->step_count; i++) {
        if (renewals > 0)
            renew(self, steps, i, memory);
        resolve_step(&self->calls[self->count++], &steps->steps[i], memory);
    }
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
