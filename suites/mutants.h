/* mutants - wrong kernels of a problem, each with the outcome that it must get
 *
 * Purpose:   read mutants/ of a problem's folder, strictly: mutants.yaml lists {name, expect, detail,
 *            emu, why}; NAME.cu is the kernel and NAME.json its launch plan, where gold's does not fit.
 *            Every listed one must be there, and every file must be listed. They prove that the checks
 *            have teeth and belong to no hash: what is asked of a model does not depend on them.
 * Ownership: mutants_load fills a value that mutants_fini releases; fields are borrowed by readers.
 * Threads:   immutable after loading.
 * Errors:    ERR_CONFIG with file, line and JSON pointer; ERR_NOT_FOUND for a missing file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_MUTANTS_H
#define CE_SUITES_MUTANTS_H

#include "common/outcome.h"
#include "suites/contract.h"

enum { MUTANTS_MAX = 64, MUTANT_OUTCOMES_MAX = 8, MUTANT_DETAIL_MAX = 63, MUTANT_WHY_MAX = 200 };

typedef struct mutant {
    char *name;
    char *source; /* NAME.cu */
    char *plan;   /* NAME.json or gold.json, checked against the contract */
    outcome expected[MUTANT_OUTCOMES_MAX]; /* any of these; never ok */
    size_t expected_count;
    char *detail;   /* what the one expected outcome must say, or NULL */
    bool emu_blind; /* shows only where the emulator does not look (`emu: not_detectable`) */
    char *why;      /* what is wrong with it, one line */
} mutant;

typedef struct mutants {
    mutant *items; /* in the order of mutants.yaml */
    size_t count;
} mutants;

/* mutants_load: folder is the problem's. Without a folder mutants/ there are none. gold_plan may be
 * NULL; then every mutant needs a plan of its own. On failure out is untouched. */
int mutants_load(const char *folder, const contract *terms, const char *gold_plan, mutants *out,
                 err *e);
void mutants_fini(mutants *self);
/* mutant_expects: whether an outcome (detail NULL or "": none) is one that the mutant must get. */
bool mutant_expects(const mutant *self, outcome result, const char *detail);

#endif
