/* contract - what a problem promises and what it is judged by
 *
 * Purpose:   dims, inputs, scalars, outputs, value families, shapes, reduction length: owned by the
 *            suite, read-only for everybody else. Shapes are expressions over the dims.
 * Ownership: contract_read gives an owned object; its public fields are borrowed by readers.
 * Threads:   immutable after reading.
 * Errors:    ERR_CONFIG with file, line and JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_CONTRACT_H
#define CE_SUITES_CONTRACT_H

#include <stddef.h>
#include <stdint.h>

#include "common/expr.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/need.h"
#include "suites/dtype.h"
#include "suites/family.h"

enum {
    CONTRACT_DIMS_MAX = 16,
    CONTRACT_TENSORS_MAX = 1024, /* a network's parameters are tensors too */
    CONTRACT_SCALARS_MAX = 32,
    CONTRACT_RANK_MAX = 8,
    CONTRACT_SHAPES_MAX = 64,
    CONTRACT_NAME_MAX = 63
};

#define CONTRACT_DIM_LIMIT (INT64_C(1) << 40) /* no dimension is larger */

typedef struct contract_dim {
    char *name;
    int64_t min, max; /* hidden shapes are drawn from this range */
} contract_dim;

/* An expression over the dims, or nothing (text NULL). */
typedef struct contract_bound {
    expr *value;
    char *text;
} contract_bound;

typedef struct contract_tensor {
    char *name;
    dtype type;
    size_t rank; /* 0: a scalar tensor of one element */
    expr *shape[CONTRACT_RANK_MAX];
    char *shape_text[CONTRACT_RANK_MAX];
    contract_bound low, high; /* integer inputs: values lie in low … high; both or neither */
    bool ascending;           /* inputs: values ascend along the last dimension */
    family_list families;     /* inputs: the only ones; none: all of the contract's */
} contract_tensor;

typedef struct contract_scalar {
    char *name;
    dtype type;   /* f32, f64, i32, i64 */
    double value; /* ints are exact up to 2^53 */
} contract_scalar;

typedef struct contract_shape {
    int64_t dims[CONTRACT_DIMS_MAX]; /* in the order of contract.dims */
} contract_shape;

typedef struct contract {
    char *problem; /* problem id */
    contract_dim *dims;
    size_t dim_count;
    contract_tensor *tensors; /* inputs first, then outputs */
    size_t input_count, output_count;
    contract_scalar *scalars;
    size_t scalar_count;
    contract_shape *shapes; /* the shapes that correctness checks */
    size_t shape_count;
    contract_shape benchmark;
    char *reduction_text; /* reduction length K, an expression over the dims ("1": elementwise) */
    expr *reduction;
    char *
        operations_text; /* arithmetic that every algorithm of the usual kind needs, an expression over the
                              dims; NULL: not told */
    expr *operations;
    family_list families; /* dealt over the shapes */
    bool order_free;      /* atomics may reorder: compare reruns by the bound */
    need_set needs; /* of a device, where the suite knows: bytes that a check on one card takes */
} contract;

/* contract_read reads the canonical JSON object (contract_to_json's form). */
contract *contract_read(const json_cursor *c, err *e);
contract *contract_parse(const char *text, size_t size, const char *origin, err *e);
/* contract_read_problem reads the same terms from a problem.yaml, where dims, inputs, scalars and
 * outputs are mappings whose order counts; the file's other keys are the caller's. */
contract *contract_read_problem(const json_cursor *c, const char *problem, err *e);
void contract_destroy(contract **self);
json *contract_to_json(const contract *self);
/* contract_told_json is what a model is told: all but the value families, since how it is checked is not
 * its business. */
json *contract_told_json(const contract *self);
/* contract_text is the canonical one-line JSON (caller frees); contract_hash its SHA-256. */
char *contract_text(const contract *self);
hash contract_hash(const contract *self);

/* contract_elements: element count of tensor i at a shape; fails on overflow or a negative size. */
int contract_elements(const contract *self, size_t tensor, const contract_shape *shape,
                      int64_t *out, err *e);
/* contract_tensor_shape: its sizes. */
int contract_tensor_shape(const contract *self, size_t tensor, const contract_shape *shape,
                          int64_t out[CONTRACT_RANK_MAX], err *e);
/* contract_range: the bounds of an input's values at a shape; *has says whether there are any. Fails
 * where the input has elements and no value fits. */
int contract_range(const contract *self, size_t tensor, const contract_shape *shape, bool *has,
                   int64_t out[2], err *e);
/* contract_fits: everything can be evaluated at this shape: sizes, ranges, the reduction. */
int contract_fits(const contract *self, const contract_shape *shape, err *e);
/* contract_reduction: K at a shape, at least 1. */
int contract_reduction(const contract *self, const contract_shape *shape, int64_t *out, err *e);
/* contract_operations: at a shape; 0 where the contract does not tell. */
int contract_operations(const contract *self, const contract_shape *shape, int64_t *out, err *e);
/* contract_vars lists the dims as expression variables; out holds dim_count entries. */
void contract_vars(const contract *self, const contract_shape *shape, expr_var *out);
/* contract_find_tensor / _scalar: index by name, or -1. */
int contract_find_tensor(const contract *self, const char *name);
int contract_find_scalar(const contract *self, const char *name);
/* contract_shape_json: {"rows": 33, "cols": 7} in dim order; contract_shape_label: "rows=33 cols=7". */
json *contract_shape_json(const contract *self, const contract_shape *shape);
char *contract_shape_label(const contract *self, const contract_shape *shape);
/* contract_shape_read is the inverse of contract_shape_json: every dim once, within its range
 * (0 is always allowed). */
int contract_shape_read(const contract *self, const json_cursor *c, contract_shape *out, err *e);

#endif
