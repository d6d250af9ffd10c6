/* plan_tree - a launch plan as written: parsed and checked, not yet evaluated
 *
 * Purpose:   what plan_parse builds and plan_expand walks; private to suites/plan*.c and their tests.
 *            Expressions are parsed; names of tensors, scratch and scalars are resolved.
 * Ownership: the plan owns the whole tree; plan_destroy frees it.
 * Threads:   immutable after plan_parse.
 * Errors:    a plan_fault; plan_fault_set fills one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_PLAN_TREE_H
#define CE_SUITES_PLAN_TREE_H

#include "suites/plan.h"

enum { PLAN_TEXT_MAX = 4 * 1024 * 1024, PLAN_ENTRY_MAX = 127 };

/* The type a value has in the kernel's parameter list. */
typedef enum plan_type {
    PLAN_I32,
    PLAN_U32,
    PLAN_I64,
    PLAN_U64,
    PLAN_F32,
    PLAN_F64,
    PLAN_TYPE_COUNT
} plan_type;

const char *plan_type_name(plan_type type); /* "i32", … the key in the plan */

/* One argument. */
typedef struct plan_param {
    plan_arg_kind kind;
    size_t index;   /* PLAN_ARG_TENSOR, PLAN_ARG_SCRATCH */
    expr *offset;   /* of these, elements: a view; NULL: the whole buffer */
    plan_type type; /* PLAN_ARG_VALUE */
    expr *value;    /* integers; NULL for floats */
    double literal; /* floats */
} plan_param;

typedef struct plan_kernel {
    char *entry;
    expr *grid[3], *block[3];
    size_t grid_count, block_count; /* 1..3 */
    expr *shared;                   /* NULL: 0 */
    bool cooperative;
    plan_param *args;
    size_t arg_count;
    char pointer[64];
} plan_kernel;

/* A kernel by itself, or kernels that are launched again and again. */
typedef struct plan_node {
    expr *repeat; /* NULL: once */
    char *index;  /* of a repeat: the variable that counts; NULL: none is named */
    plan_kernel *kernels;
    size_t count;
    char pointer[64];
} plan_node;

typedef struct plan_kernels {
    plan_node *items;
    size_t count;
} plan_kernels;

typedef struct plan_variant {
    expr *when;
    plan_kernels kernels;
} plan_variant;

typedef struct plan_scratch {
    char *name;
    dtype type;
    expr *count; /* elements */
    char pointer[64];
    bool zero; /* cleared before the first kernel that gets it */
} plan_scratch;

struct plan {
    plan_kernels kernels;
    plan_variant *variants;
    size_t variant_count;
    plan_scratch *scratch;
    size_t scratch_count;
    const char **entries; /* distinct, borrowed from the kernels */
    size_t entry_count;
    size_t node_count; /* kernels, repeats and scratch as written */
};

/* plan_scalar_counts: is the scalar an integer, which expressions may use? */
bool plan_scalar_counts(const contract_scalar *scalar);

/* plan_fault_set fills fault (NULL allowed) and returns -1. */
int plan_fault_set(plan_fault *fault, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
