/* plan - the launch plan of a candidate
 *
 * Purpose:   parse the JSON plan a model wrote, check it against the contract, and expand it at one
 *            shape and device into steps that a runner executes. The grammar is
 *            docs/launch-plan.md.
 * Ownership: plan_parse and plan_expand give owned objects. Steps borrow names and pointers from the plan.
 * Threads:   a parsed plan is immutable.
 * Errors:    none: what is wrong with a plan is an outcome (plan_invalid), told by a plan_fault with
 *            the JSON pointer; nothing here is a harness error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_PLAN_H
#define CE_SUITES_PLAN_H

#include "suites/contract.h"

enum {
    PLAN_NODES_MAX = 1024,     /* kernels + repeats + scratch as written, variants included */
    PLAN_LAUNCHES_MAX = 16384, /* steps after expansion */
    PLAN_ARGS_MAX = 64,
    PLAN_SCRATCH_MAX = 512,
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
    int64_t shared_per_block_max; /* static + dynamic, opt-in included */
    int64_t memory_bytes;
} plan_device;

typedef enum plan_arg_kind { PLAN_ARG_TENSOR, PLAN_ARG_SCRATCH, PLAN_ARG_VALUE } plan_arg_kind;

typedef struct plan_arg {
    plan_arg_kind kind;
    size_t index;     /* tensor (contract order) or scratch number */
    uint64_t offset;  /* bytes from its start: a view */
    uint8_t bytes[8]; /* value, little endian */
    size_t size;      /* 4 or 8 */
} plan_arg;

typedef enum plan_step_kind { PLAN_STEP_ZERO, PLAN_STEP_LAUNCH } plan_step_kind;

typedef struct plan_step {
    plan_step_kind kind;
    size_t scratch;    /* PLAN_STEP_ZERO: which scratch to clear */
    const char *entry; /* PLAN_STEP_LAUNCH */
    uint32_t grid[3], block[3], shared;
    bool cooperative; /* all blocks are on the device at once */
    plan_arg *args;
    size_t arg_count;
    const char *pointer; /* "/kernels/0" or "/variants/1/kernels/0/kernels/2", for messages */
} plan_step;

/* Scratch buffers whose lives do not overlap share a place in memory. */
typedef struct plan_life {
    int64_t bytes;
    size_t first, last; /* steps that use it; first > last: none does */
    size_t place;       /* which place it is in */
    bool inherits;      /* another buffer lived in that place before */
} plan_life;

typedef struct plan_steps {
    plan_step *steps;
    size_t step_count;
    plan_life scratch[PLAN_SCRATCH_MAX];
    size_t scratch_count;
    int64_t place_bytes[PLAN_SCRATCH_MAX]; /* the largest buffer of each place */
    size_t place_count;
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
