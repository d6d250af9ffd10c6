/* plan - the launch plan of a candidate, evaluated
 *
 * Expansion: the first variant whose condition holds (else the top level) gives the kernels; scratch is
 * sized; then, round after round of every repeat, each number is evaluated, checked against the device
 * and put into a step. A buffer that is to be cleared is cleared by a step right before the first kernel
 * that gets it. In the end scratch buffers get their places (plan_life.h). Nothing is left to evaluate
 * for the runner.
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
#include "suites/plan_life.h"
#include "suites/plan_tree.h"

enum { VARS_MAX = CONTRACT_DIMS_MAX + CONTRACT_SCALARS_MAX + 4, POINTER_MAX = 160 };

typedef struct expansion {
    const plan *p;
    const contract *c;
    const contract_shape *shape;
    const plan_device *device;
    expr_var vars[VARS_MAX];
    size_t var_count;
    const expr_var *round; /* the index of the repeat under way, the last of vars; NULL: none */
    plan_steps steps;      /* being built */
    size_t cap;            /* steps there is room for */
    int64_t counts[PLAN_SCRATCH_MAX]; /* elements of scratch */
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
    if (x->round != NULL)
        return plan_fault_set(x->fault, pointer, "%s (at %s, %s=%" PRId64 ")", text, label,
                              x->round->name, x->round->value);
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

/* ---- buffers ---- */

static int count_elements(const expansion *x, const plan_param *param, int64_t *count, size_t *size)
{
    err e;
    if (param->kind == PLAN_ARG_SCRATCH) {
        *count = x->counts[param->index];
        *size = dtype_size(x->p->scratch[param->index].type);
        return 0;
    }
    *size = dtype_size(x->c->tensors[param->index].type);
    if (contract_elements(x->c, param->index, x->shape, count, &e) < 0)
        return plan_fault_set(x->fault, "", "the contract does not hold here: %s", e.text);
    return 0;
}

static const char *buffer_name(const expansion *x, const plan_param *param)
{
    return param->kind == PLAN_ARG_SCRATCH ? x->p->scratch[param->index].name
                                           : x->c->tensors[param->index].name;
}

/* expand_view: the first element that a kernel gets must lie in the buffer. */
static int expand_view(const expansion *x, const plan_kernel *kernel, size_t number, plan_arg *out)
{
    const plan_param *param = &kernel->args[number];
    char pointer[POINTER_MAX];
    int64_t offset, count;
    size_t size;
    snprintf(pointer, sizeof pointer, "%s/args/%zu/offset", kernel->pointer, number);
    if (eval(x, param->offset, pointer, &offset) < 0 || count_elements(x, param, &count, &size) < 0)
        return -1;
    if (offset < 0 || (offset >= count && offset != 0))
        return fail(x, pointer,
                    "the view starts at element %" PRId64 " of %.63s, which has %" PRId64, offset,
                    buffer_name(x, param), count);
    out->offset = (uint64_t)offset * size;
    return 0;
}

static int expand_arg(const expansion *x, const plan_kernel *kernel, size_t number, plan_arg *out)
{
    const plan_param *param = &kernel->args[number];
    *out = (plan_arg){.kind = param->kind, .index = param->index};
    if (param->kind != PLAN_ARG_VALUE)
        return param->offset != NULL ? expand_view(x, kernel, number, out) : 0;
    if (param->value != NULL)
        return expand_integer(x, kernel, number, out);
    store_float(param, out);
    return 0;
}

/* ---- steps ---- */

static int add_step(expansion *x, const plan_step *step)
{
    plan_steps *s = &x->steps;
    if (s->step_count == PLAN_LAUNCHES_MAX)
        return fail(x, step->pointer, "the plan has more than %d launches", PLAN_LAUNCHES_MAX);
    if (s->step_count == x->cap) {
        x->cap = x->cap == 0 ? 16 : 2 * x->cap;
        s->steps = xreallocarray(s->steps, x->cap, sizeof *s->steps);
    }
    s->steps[s->step_count++] = *step;
    return 0;
}

/* use_scratch notes that the next step needs a buffer; the first time it may have to be cleared. */
static int use_scratch(expansion *x, size_t number)
{
    plan_life *life = &x->steps.scratch[number];
    const plan_scratch *scratch = &x->p->scratch[number];
    const bool first = life->first > life->last;
    if (first)
        life->first = x->steps.step_count;
    life->last = x->steps.step_count;
    if (!first || !scratch->zero || life->bytes == 0)
        return 0;
    const plan_step clear = {
        .kind = PLAN_STEP_ZERO, .scratch = number, .pointer = scratch->pointer};
    if (add_step(x, &clear) < 0)
        return -1;
    life->last = x->steps.step_count;
    return 0;
}

static int use_buffers(expansion *x, const plan_kernel *kernel)
{
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (kernel->args[i].kind == PLAN_ARG_SCRATCH && use_scratch(x, kernel->args[i].index) < 0)
            return -1;
    /* Clearing the later ones has moved the launch on. */
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (kernel->args[i].kind == PLAN_ARG_SCRATCH)
            x->steps.scratch[kernel->args[i].index].last = x->steps.step_count;
    return 0;
}

static int evaluate(const expansion *x, const plan_kernel *kernel, plan_step *out)
{
    if (expand_axes(x, kernel, true, out->grid) < 0 ||
        expand_axes(x, kernel, false, out->block) < 0 || check_threads(x, kernel, out->block) < 0 ||
        expand_shared(x, kernel, &out->shared) < 0)
        return -1;
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (expand_arg(x, kernel, i, &out->args[i]) < 0)
            return -1;
    return 0;
}

static int expand_kernel(expansion *x, const plan_kernel *kernel)
{
    plan_step step = {.kind = PLAN_STEP_LAUNCH,
                      .entry = kernel->entry,
                      .cooperative = kernel->cooperative,
                      .arg_count = kernel->arg_count,
                      .pointer = kernel->pointer};
    SCOPED(scoped_free) plan_arg *args = xcalloc(kernel->arg_count + 1, sizeof *args);
    step.args = args;
    if (use_buffers(x, kernel) < 0 || evaluate(x, kernel, &step) < 0 || add_step(x, &step) < 0)
        return -1;
    args = NULL; /* the step's now */
    return 0;
}

static int expand_once(expansion *x, const plan_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (expand_kernel(x, &node->kernels[i]) < 0)
            return -1;
    return 0;
}

static int expand_repeat(expansion *x, const plan_node *node)
{
    char pointer[POINTER_MAX];
    int64_t times;
    snprintf(pointer, sizeof pointer, "%s/repeat", node->pointer);
    if (eval(x, node->repeat, pointer, &times) < 0)
        return -1;
    if (times < 0 || times > PLAN_LAUNCHES_MAX)
        return fail(x, pointer, "the kernels are repeated %" PRId64 " times; 0 to %d are allowed",
                    times, PLAN_LAUNCHES_MAX);
    expr_var *round = &x->vars[x->var_count];
    *round = (expr_var){node->index, 0};
    x->round = round;
    x->var_count++;
    int rc = 0;
    for (; rc == 0 && round->value < times; round->value++)
        rc = expand_once(x, node);
    x->round = NULL;
    x->var_count--;
    return rc;
}

/* ---- scratch ---- */

static int64_t scratch_limit(const expansion *x)
{
    return x->device->memory_bytes / 100 * PLAN_SCRATCH_PERCENT;
}

static int fail_scratch(const expansion *x, size_t number)
{
    char pointer[POINTER_MAX];
    snprintf(pointer, sizeof pointer, "/scratch/%zu/count", number);
    return fail(x, pointer,
                "%" PRId64 " elements are too many: all scratch that is alive together may take "
                "%d %% of the device's memory",
                x->counts[number], PLAN_SCRATCH_PERCENT);
}

static int size_scratch(expansion *x, size_t number)
{
    const plan_scratch *scratch = &x->p->scratch[number];
    plan_life *life = &x->steps.scratch[number];
    char pointer[POINTER_MAX];
    int64_t *count = &x->counts[number];
    snprintf(pointer, sizeof pointer, "/scratch/%zu/count", number);
    *life = (plan_life){.first = 1};
    if (eval(x, scratch->count, pointer, count) < 0)
        return -1;
    if (*count < 0)
        return fail(x, pointer, "the scratch count is %" PRId64 "; it must not be negative",
                    *count);
    if (__builtin_mul_overflow(*count, (int64_t)dtype_size(scratch->type), &life->bytes) ||
        life->bytes > scratch_limit(x))
        return fail_scratch(x, number);
    return 0;
}

static int size_all_scratch(expansion *x)
{
    x->steps.scratch_count = x->p->scratch_count;
    for (size_t i = 0; i < x->p->scratch_count; i++)
        if (size_scratch(x, i) < 0)
            return -1;
    return 0;
}

/* place_scratch: what is alive at once must fit. The buffer that opens the place too many is blamed. */
static int place_scratch(expansion *x)
{
    int64_t left = scratch_limit(x);
    plan_life_place(&x->steps);
    for (size_t p = 0; p < x->steps.place_count; p++) {
        size_t number = 0;
        while (x->steps.scratch[number].place != p ||
               x->steps.scratch[number].bytes != x->steps.place_bytes[p])
            number++;
        if (x->steps.place_bytes[p] > left)
            return fail_scratch(x, number);
        left -= x->steps.place_bytes[p];
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
    if (choose_kernels(x, &kernels) < 0 || size_all_scratch(x) < 0)
        return -1;
    for (size_t i = 0; i < kernels->count; i++) {
        const plan_node *node = &kernels->items[i];
        if ((node->repeat != NULL ? expand_repeat(x, node) : expand_once(x, node)) < 0)
            return -1;
    }
    return place_scratch(x);
}

static void expansion_vars(expansion *x)
{
    contract_vars(x->c, x->shape, x->vars);
    x->var_count = x->c->dim_count;
    x->vars[x->var_count++] = (expr_var){"sm_count", x->device->sm_count};
    x->vars[x->var_count++] = (expr_var){"cc", x->device->cc};
    x->vars[x->var_count++] = (expr_var){"on_emu", x->device->on_emu ? 1 : 0};
    for (size_t i = 0; i < x->c->scalar_count; i++)
        if (plan_scalar_counts(&x->c->scalars[i]))
            x->vars[x->var_count++] =
                (expr_var){x->c->scalars[i].name, (int64_t)x->c->scalars[i].value};
}

int plan_expand(const plan *self, const contract *c, const contract_shape *shape,
                const plan_device *device, plan_steps *out, plan_fault *fault)
{
    SCOPED(scoped_free) expansion *x = xcalloc(1, sizeof *x);
    *x = (expansion){.p = self, .c = c, .shape = shape, .device = device, .fault = fault};
    expansion_vars(x);
    if (expand(x) < 0) {
        plan_steps_fini(&x->steps);
        return -1;
    }
    *out = x->steps;
    return 0;
}

void plan_steps_fini(plan_steps *self)
{
    for (size_t i = 0; i < self->step_count; i++)
        free(self->steps[i].args);
    free(self->steps);
    *self = (plan_steps){0};
}
