/* plan - the launch plan of a candidate, evaluated
 *
 * Expansion: the first variant whose condition holds (else the top level) gives the kernels; scratch is
 * sized and, where asked for, cleared first; then every number is evaluated, checked against the
 * device and put into a step. Nothing is left to evaluate for the runner.
 *
 * SPDX-License-Identifier: MIT */
#include "suites/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/plan_tree.h"

/* Each node as written gives at most one step, so the limit of steps holds by itself. */
_Static_assert(PLAN_NODES_MAX <= PLAN_LAUNCHES_MAX, "a plan as written may exceed its steps");

enum { VARS_MAX = CONTRACT_DIMS_MAX + 3, POINTER_MAX = 160 };

typedef struct expansion {
    const plan *p;
    const contract *c;
    const contract_shape *shape;
    const plan_device *device;
    expr_var vars[VARS_MAX];
    size_t var_count;
    plan_steps steps; /* being built */
    plan_fault *fault;
} expansion;

/* The range of values that each integer type of an argument holds. */
static const struct {
    int64_t min, max;
    size_t size;
} integers[] = {
    [PLAN_I32] = {INT32_MIN, INT32_MAX, 4},
    [PLAN_U32] = {0, UINT32_MAX, 4},
    [PLAN_I64] = {INT64_MIN, INT64_MAX, 8},
    [PLAN_U64] = {0, INT64_MAX, 8},
};

static int fail(const expansion *x, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* fail ends the sentence with the shape at which it is true. */
static int fail(const expansion *x, const char *pointer, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SCOPED(scoped_free) char *label = contract_shape_label(x->c, x->shape);
    return plan_fault_set(x->fault, pointer, "%s (at %s)", text, label);
}

static int eval(const expansion *x, const expr *value, const char *pointer, int64_t *out)
{
    err e;
    if (expr_eval(value, x->vars, x->var_count, out, &e) < 0)
        return fail(x, pointer, "%s", e.text);
    return 0;
}

/* ---- kernels ---- */

static int64_t axis_limit(const int64_t *limits, size_t axis)
{
    return limits[axis] < UINT32_MAX ? limits[axis] : UINT32_MAX;
}

/* expand_axes evaluates grid or block; axes that are not written are 1. */
static int expand_axes(const expansion *x, const plan_kernel *kernel, bool grid, uint32_t out[3])
{
    expr *const *axes = grid ? kernel->grid : kernel->block;
    size_t count = grid ? kernel->grid_count : kernel->block_count;
    const char *word = grid ? "grid" : "block";
    for (size_t i = 0; i < 3; i++)
        out[i] = 1;
    for (size_t i = 0; i < count; i++) {
        char pointer[POINTER_MAX];
        int64_t value, limit = axis_limit(grid ? x->device->grid_max : x->device->block_max, i);
        snprintf(pointer, sizeof pointer, "%s/%s/%zu", kernel->pointer, word, i);
        if (eval(x, axes[i], pointer, &value) < 0)
            return -1;
        if (value < 1 || value > limit)
            return fail(x, pointer, "the %s size is %" PRId64 "; it must be 1 to %" PRId64, word,
                        value, limit);
        out[i] = (uint32_t)value;
    }
    return 0;
}

static int check_threads(const expansion *x, const plan_kernel *kernel, const uint32_t block[3])
{
    char pointer[POINTER_MAX];
    int64_t threads = 1;
    for (size_t i = 0; i < 3; i++)
        if (__builtin_mul_overflow(threads, (int64_t)block[i], &threads))
            threads = INT64_MAX;
    if (threads <= x->device->threads_per_block_max)
        return 0;
    snprintf(pointer, sizeof pointer, "%s/block", kernel->pointer);
    return fail(x, pointer, "a block of %" PRId64 " threads is too large: at most %" PRId64,
                threads, x->device->threads_per_block_max);
}

static int expand_shared(const expansion *x, const plan_kernel *kernel, uint32_t *out)
{
    char pointer[POINTER_MAX];
    int64_t bytes, limit = axis_limit(&x->device->shared_per_block_max, 0);
    *out = 0;
    if (kernel->shared == NULL)
        return 0;
    snprintf(pointer, sizeof pointer, "%s/shared", kernel->pointer);
    if (eval(x, kernel->shared, pointer, &bytes) < 0)
        return -1;
    if (bytes < 0 || bytes > limit)
        return fail(x, pointer, "%" PRId64 " bytes of shared memory: it must be 0 to %" PRId64,
                    bytes, limit);
    *out = (uint32_t)bytes;
    return 0;
}

static void store_little(uint64_t value, size_t size, uint8_t *out)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static void store_float(const plan_param *param, plan_arg *out)
{
    if (param->type == PLAN_F32) {
        float narrow = (float)param->literal;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        out->size = sizeof bits;
        store_little(bits, out->size, out->bytes);
        return;
    }
    uint64_t bits;
    memcpy(&bits, &param->literal, sizeof bits);
    out->size = sizeof bits;
    store_little(bits, out->size, out->bytes);
}

static int expand_integer(const expansion *x, const plan_kernel *kernel, size_t number,
                          plan_arg *out)
{
    const plan_param *param = &kernel->args[number];
    const char *type = plan_type_name(param->type);
    char pointer[POINTER_MAX];
    int64_t value;
    snprintf(pointer, sizeof pointer, "%s/args/%zu/%s", kernel->pointer, number, type);
    if (eval(x, param->value, pointer, &value) < 0)
        return -1;
    if (value < integers[param->type].min || value > integers[param->type].max)
        return fail(x, pointer, "%" PRId64 " does not fit %s: use a wider type", value, type);
    out->size = integers[param->type].size;
    store_little((uint64_t)value, out->size, out->bytes);
    return 0;
}

static int expand_args(const expansion *x, const plan_kernel *kernel, plan_step *out)
{
    out->arg_count = kernel->arg_count;
    for (size_t i = 0; i < kernel->arg_count; i++) {
        const plan_param *param = &kernel->args[i];
        out->args[i] = (plan_arg){.kind = param->kind, .index = param->index};
        if (param->kind != PLAN_ARG_VALUE)
            continue;
        if (param->value == NULL)
            store_float(param, &out->args[i]);
        else if (expand_integer(x, kernel, i, &out->args[i]) < 0)
            return -1;
    }
    return 0;
}

static int expand_kernel(const expansion *x, const plan_kernel *kernel, plan_step *out)
{
    *out = (plan_step){.kind = PLAN_STEP_LAUNCH, .entry = kernel->entry};
    memcpy(out->pointer, kernel->pointer, sizeof out->pointer);
    if (expand_axes(x, kernel, true, out->grid) < 0 ||
        expand_axes(x, kernel, false, out->block) < 0 || check_threads(x, kernel, out->block) < 0 ||
        expand_shared(x, kernel, &out->shared) < 0)
        return -1;
    return expand_args(x, kernel, out);
}

/* ---- scratch ---- */

/* expand_scratch_item sizes one buffer; *left is what the others may still take. */
static int expand_scratch_item(const expansion *x, size_t number, int64_t *left, int64_t *bytes)
{
    const plan_scratch *scratch = &x->p->scratch[number];
    char pointer[POINTER_MAX];
    int64_t count;
    snprintf(pointer, sizeof pointer, "/scratch/%zu/count", number);
    if (eval(x, scratch->count, pointer, &count) < 0)
        return -1;
    if (count < 0)
        return fail(x, pointer, "the scratch count is %" PRId64 "; it must not be negative", count);
    if (__builtin_mul_overflow(count, (int64_t)dtype_size(scratch->type), bytes) || *bytes > *left)
        return fail(x, pointer,
                    "%" PRId64 " elements are too many: all scratch together may take %d %% of the "
                    "device's memory",
                    count, PLAN_SCRATCH_PERCENT);
    *left -= *bytes;
    return 0;
}

static int expand_scratch(expansion *x)
{
    int64_t left = x->device->memory_bytes / 100 * PLAN_SCRATCH_PERCENT;
    plan_steps *steps = &x->steps;
    steps->scratch_count = x->p->scratch_count;
    for (size_t i = 0; i < x->p->scratch_count; i++) {
        if (expand_scratch_item(x, i, &left, &steps->scratch_bytes[i]) < 0)
            return -1;
        if (!x->p->scratch[i].zero || steps->scratch_bytes[i] == 0)
            continue;
        plan_step *step = &steps->steps[steps->step_count++];
        *step = (plan_step){.kind = PLAN_STEP_ZERO, .scratch = i};
        snprintf(step->pointer, sizeof step->pointer, "/scratch/%zu", i);
    }
    return 0;
}

/* ---- the whole ---- */

static int choose_kernels(const expansion *x, const plan_kernels **out)
{
    *out = &x->p->kernels;
    for (size_t i = 0; i < x->p->variant_count; i++) {
        char pointer[POINTER_MAX];
        int64_t holds;
        snprintf(pointer, sizeof pointer, "/variants/%zu/when", i);
        if (eval(x, x->p->variants[i].when, pointer, &holds) < 0)
            return -1;
        if (holds != 0) {
            *out = &x->p->variants[i].kernels;
            return 0;
        }
    }
    return 0;
}

/* empty_output: 1 when some output has no elements, so that nothing is launched. */
static int empty_output(const expansion *x)
{
    for (size_t i = 0; i < x->c->output_count; i++) {
        int64_t count;
        err e;
        if (contract_elements(x->c, x->c->input_count + i, x->shape, &count, &e) < 0)
            return plan_fault_set(x->fault, "", "the contract does not hold here: %s", e.text);
        if (count == 0)
            return 1;
    }
    return 0;
}

static int expand(expansion *x)
{
    const plan_kernels *kernels;
    int empty = empty_output(x);
    if (empty != 0)
        return empty < 0 ? -1 : 0;
    if (choose_kernels(x, &kernels) < 0)
        return -1;
    x->steps.steps = xcalloc(x->p->scratch_count + kernels->count, sizeof *x->steps.steps);
    if (expand_scratch(x) < 0)
        return -1;
    for (size_t i = 0; i < kernels->count; i++)
        if (expand_kernel(x, &kernels->items[i], &x->steps.steps[x->steps.step_count++]) < 0)
            return -1;
    return 0;
}

static void expansion_vars(expansion *x)
{
    contract_vars(x->c, x->shape, x->vars);
    x->var_count = x->c->dim_count;
    x->vars[x->var_count++] = (expr_var){"sm_count", x->device->sm_count};
    x->vars[x->var_count++] = (expr_var){"cc", x->device->cc};
    x->vars[x->var_count++] = (expr_var){"on_emu", x->device->on_emu ? 1 : 0};
}

int plan_expand(const plan *self, const contract *c, const contract_shape *shape,
                const plan_device *device, plan_steps *out, plan_fault *fault)
{
    expansion x = {.p = self, .c = c, .shape = shape, .device = device, .fault = fault};
    expansion_vars(&x);
    if (expand(&x) < 0) {
        plan_steps_fini(&x.steps);
        return -1;
    }
    *out = x.steps;
    return 0;
}

void plan_steps_fini(plan_steps *self)
{
    free(self->steps);
    *self = (plan_steps){0};
}
