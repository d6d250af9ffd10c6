/* problem - one folder of a suite
 *
 * Purpose:   read problem.yaml, prompt.md, reference.py and, where the suite has them, gold.cu and
 *            gold.json and mutants/, all strictly: what is wrong is found here and not by a paid model
 *            call.
 * Ownership: problem_load fills a value that problem_fini releases; fields are borrowed by readers.
 * Threads:   immutable after loading.
 * Errors:    ERR_CONFIG with file, line and JSON pointer; ERR_NOT_FOUND for a missing file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_PROBLEM_H
#define CE_SUITES_PROBLEM_H

#include "suites/contract.h"
#include "suites/mutants.h"

typedef struct problem {
    char *id; /* equals the folder's name */
    char *title;
    char *category; /* elementwise, reduction, normalization, scan, index or gemm */
    char *folder;
    contract *terms;      /* the contract */
    char *prompt;         /* prompt.md */
    char *reference;      /* reference.py */
    char *reference_file; /* where it was read from; NULL: reference.py in the folder */
    char *gold_source;    /* gold.cu, or NULL */
    char *gold_plan;      /* gold.json as written, checked against the contract, or NULL */
    mutants wrong;        /* kernels that must fail; maybe none */
    hash content;         /* over contract, prompt and reference */
} problem;

/* problem_load reads one folder; on failure out is untouched. */
int problem_load(const char *folder, problem *out, err *e);
void problem_fini(problem *self);

#endif
