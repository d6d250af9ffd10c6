/* cases - the shapes at which a candidate is checked, and the value family of each
 *
 * Purpose:   the one place that decides them. Declared shapes, plus sizes around powers of two that
 *            cover every pair of dimensions, drawn by the contract's hash where there are too many;
 *            hidden shapes, drawn from the declared ranges; the large-index shape. The same contract
 *            gives the same ones everywhere.
 * Ownership: a list owns its array (cases_fini); family names are borrowed from the contract.
 * Threads:   safe.
 * Errors:    none: a shape at which the contract cannot be evaluated is left out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_CASES_H
#define CE_SUITES_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"
#include "suites/contract.h"

enum {
    CASES_SHAPES = 64,              /* beyond the declared ones */
    CASES_EMU_SHAPES = 24,          /* on the emulator: all together, hidden ones too */
    CASES_EMU_ELEMENTS = 64 * 1024, /* of the largest tensor */
    CASES_HIDDEN = 3,
    CASES_ELEMENTS = 1 << 25 /* of the largest tensor of a shape that is not declared */
};

#define CASES_LARGE (INT64_C(1) << 31) /* from here on a 32-bit index is too short */

typedef struct cases_shape {
    contract_shape shape;
    const char *family;
    int64_t elements; /* of the largest tensor; 0 where any input is empty */
    bool again;       /* declared, or in the list already with another family */
} cases_shape;

typedef struct cases {
    cases_shape *shapes; /* ordinary families first, then small shapes first */
    size_t count;
} cases;

void cases_build(const contract *terms, bool emu, cases *out);
void cases_fini(cases *self);

/* cases_draw draws a hidden shape and its family; false where none was found. */
bool cases_draw(const contract *terms, bool emu, rng *source, cases_shape *out);

/* cases_large finds the smallest shape found with more than CASES_LARGE elements in a tensor; false where
 * the ranges end before. */
bool cases_large(const contract *terms, cases_shape *out);

/* cases_benchmark is the benchmark shape, on normal values where the contract has them. */
cases_shape cases_benchmark(const contract *terms);

#endif
