/* plan - the launch plan of a candidate
 *
 * Purpose:   parse the JSON plan a model wrote, check it against the contract, and expand it at one
 *            shape and device into steps that a runner executes. The grammar is
 *            docs/launch-plan.md.
 * Ownership: plan_parse and plan_expand give owned objects. Steps borrow entry names from the plan.
 * Threads:   a parsed plan is immutable.
 * Errors:    none: what is wrong with a plan is an outcome (plan_invalid), told by a plan_fault with
 *            the JSON pointer; nothing here is a harness error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_PLAN_H
#define CE_SUITES_PLAN_H

#include "suites/contract.h"

enum {
    PLAN_NODES_MAX = 1024,     /* kernels + scratch as written, variants included */
    PLAN_LAUNCHES_MAX = 16384, /* steps after expansion */
    PLAN_ARGS_MAX = 64,
    PLAN_SCRATCH_MAX = 64,
    PLAN_VARIANTS_MAX = 32,
    PLAN_SCRATCH_PERCENT = 25 /* of device memory, all scratch together */
};

typedef struct plan plan;

typedef struct plan_fault {
    char pointer[160]; /* JSON pointer into the plan */
    char text[240];
} plan_fault;

/* What the device allows; from its attributes, never from a table. */
typedef struct plan_device {
    int64_t sm_count;
    int64_t cc; /* 80, 90, … */
    bool on_emu;
    int64_t grid_max[3];
    int64_t block_max[3];
    int64_t threads_per_block_max;
    int64_t shared_per_block_max; /* static + dynamic without opt-in */
    int64_t memory_bytes;
} plan_device;

typedef enum plan_arg_kind { PLAN_ARG_TENSOR, PLAN_ARG_SCRATCH, PLAN_ARG_VALUE } plan_arg_kind;

typedef struct plan_arg {
    plan_arg_kind kind;
    size_t index;     /* tensor (contract order) or scratch number */
    uint8_t bytes[8]; /* value, little endian */
    size_t size;      /* 4 or 8 */
} plan_arg;

typedef enum plan_step_kind { PLAN_STEP_ZERO, PLAN_STEP_LAUNCH } plan_step_kind;

typedef struct plan_step {
    plan_step_kind kind;
    size_t scratch;    /* PLAN_STEP_ZERO: which scratch to clear */
    const char *entry; /* PLAN_STEP_LAUNCH */
    uint32_t grid[3], block[3], shared;
    plan_arg args[PLAN_ARGS_MAX];
    size_t arg_count;
    char pointer[64]; /* "/kernels/0" or "/variants/1/kernels/0", for messages */
} plan_step;

typedef struct plan_steps {
    plan_step *steps;
    size_t step_count;
    int64_t scratch_bytes[PLAN_SCRATCH_MAX];
    size_t scratch_count;
} plan_steps;

/* plan_parse: text is the model's JSON. NULL and a fault when it is not JSON, breaks the grammar, or
 * names what the contract lacks. */
plan *plan_parse(const char *text, size_t size, const contract *c, plan_fault *fault);
void plan_destroy(plan **self);
/* plan_entries: distinct kernel entry names over all variants; borrowed, *count of them. */
const char *const *plan_entries(const plan *self, size_t *count);
/* plan_expand evaluates everything at one shape. When any output has zero elements the result has no
 * steps. Fault on overflow, division by zero, negative or too large sizes. */
int plan_expand(const plan *self, const contract *c, const contract_shape *shape,
                const plan_device *device, plan_steps *out, plan_fault *fault);
void plan_steps_fini(plan_steps *self);

#endif
