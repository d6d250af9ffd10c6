/* fuzz_plan - any bytes as a launch plan, expanded where it parses
 *
 * A refusal has a sentence and a pointer; an expansion keeps every limit of the device, no view begins
 * outside its buffer, and no two buffers that are alive together share memory.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "suites/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char terms[] =
    "{\"problem\":\"p\",\"dims\":[{\"name\":\"rows\",\"min\":0,\"max\":65536},"
    "{\"name\":\"cols\",\"min\":1,\"max\":16384}],"
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f16\",\"shape\":[\"rows\",\"cols\"]}],"
    "\"scalars\":[{\"name\":\"eps\",\"dtype\":\"f32\",\"value\":1e-5}],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"rows\"]}],"
    "\"reduction\":\"cols\",\"values\":[\"normal\"],"
    "\"shapes\":[{\"rows\":0,\"cols\":1},{\"rows\":33,\"cols\":1000},{\"rows\":65536,\"cols\":7}],"
    "\"benchmark\":{\"rows\":1,\"cols\":1}}";

static const plan_device device = {
    .sm_count = 132,
    .cc = 90,
    .grid_max = {INT32_MAX, 65535, 65535},
    .block_max = {1024, 1024, 64},
    .threads_per_block_max = 1024,
    .shared_per_block_max = 232448,
    .memory_bytes = INT64_C(1) << 30,
};

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void check_fault(const plan_fault *fault)
{
    must(fault->text[0] != '\0');
    must(fault->pointer[0] == '\0' || fault->pointer[0] == '/');
}

static void check_launch(const plan_step *step)
{
    uint64_t threads = 1;
    for (size_t i = 0; i < 3; i++) {
        must(step->grid[i] >= 1 && step->grid[i] <= device.grid_max[i]);
        must(step->block[i] >= 1 && step->block[i] <= device.block_max[i]);
        threads *= step->block[i];
    }
    must(threads <= 1024 && step->shared <= device.shared_per_block_max);
    must(step->entry != NULL && step->pointer[0] == '/' && step->arg_count <= PLAN_ARGS_MAX);
}

/* check_views: what a kernel gets begins in a buffer that is alive. */
static void check_views(const contract *c, const contract_shape *shape, const plan_steps *steps,
                        size_t number)
{
    const plan_step *step = &steps->steps[number];
    for (size_t i = 0; i < step->arg_count; i++) {
        const plan_arg *arg = &step->args[i];
        int64_t bytes = 0;
        if (arg->kind == PLAN_ARG_SCRATCH) {
            const plan_life *life = &steps->scratch[arg->index];
            must(life->first <= number && number <= life->last);
            bytes = life->bytes;
        } else if (arg->kind == PLAN_ARG_TENSOR) {
            must(contract_elements(c, arg->index, shape, &bytes, NULL) == 0);
            bytes *= (int64_t)dtype_size(c->tensors[arg->index].type);
        }
        must(arg->offset == 0 || arg->offset < (uint64_t)bytes);
    }
}

static void check_places(const plan_steps *steps)
{
    for (size_t i = 0; i < steps->scratch_count; i++) {
        const plan_life *a = &steps->scratch[i];
        must(a->place < steps->place_count && a->bytes >= 0 &&
             a->bytes <= steps->place_bytes[a->place]);
        for (size_t k = 0; k < i && a->first <= a->last; k++) {
            const plan_life *b = &steps->scratch[k];
            must(a->place != b->place || b->first > b->last || a->last < b->first ||
                 b->last < a->first);
        }
    }
}

static void check_steps(const contract *c, const contract_shape *shape, const plan_steps *steps)
{
    int64_t scratch = 0;
    for (size_t i = 0; i < steps->place_count; i++)
        scratch += steps->place_bytes[i];
    check_places(steps);
    must(scratch <= device.memory_bytes / 100 * PLAN_SCRATCH_PERCENT);
    must(steps->step_count <= PLAN_LAUNCHES_MAX);
    for (size_t i = 0; i < steps->step_count; i++) {
        if (steps->steps[i].kind == PLAN_STEP_LAUNCH)
            check_launch(&steps->steps[i]);
        else
            must(steps->steps[i].scratch < steps->scratch_count);
        check_views(c, shape, steps, i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plan_fault fault = {{0}, {0}};
    SCOPED(contract_destroy) contract *c = contract_parse(terms, strlen(terms), "fuzz", NULL);
    must(c != NULL);
    SCOPED(plan_destroy) plan *p = plan_parse((const char *)data, size, c, &fault);
    if (p == NULL) {
        check_fault(&fault);
        return 0;
    }
    size_t entries = 0;
    must(plan_entries(p, &entries) != NULL && entries > 0);
    for (size_t i = 0; i < c->shape_count; i++) {
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        if (plan_expand(p, c, &c->shapes[i], &device, &steps, &fault) < 0)
            check_fault(&fault);
        else
            check_steps(c, &c->shapes[i], &steps);
    }
    return 0;
}
