/* mutants - kernels that come with the outcome that each must get
 *
 * Purpose:   read a folder of kernels strictly: a list of {name, expect, detail, emu, why}; NAME.cu is
 *            the kernel and NAME.json its launch plan, where gold's does not fit. Every listed one must
 *            be there, and every file must be listed. mutants/ of a problem holds wrong kernels; they
 *            prove that the checks have teeth and belong to no hash: what is asked of a model does not
 *            depend on them. suites/adversarial.h reads the same list with a problem in each row.
 * Ownership: mutants_load fills a value that mutants_fini releases; fields are borrowed by readers.
 * Threads:   immutable after loading.
 * Errors:    ERR_CONFIG with file, line and JSON pointer; ERR_NOT_FOUND for a missing file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_MUTANTS_H
#define CE_SUITES_MUTANTS_H

#include "common/outcome.h"
#include "suites/contract.h"

enum { MUTANTS_MAX = 256, MUTANT_OUTCOMES_MAX = 8, MUTANT_DETAIL_MAX = 63, MUTANT_WHY_MAX = 200 };

/* What a kernel must get: any of the outcomes. */
typedef struct mutant_expect {
    outcome any[MUTANT_OUTCOMES_MAX];
    size_t count;
    char *detail; /* what the one expected outcome must say, or NULL */
} mutant_expect;

typedef struct mutant {
    char *name;
    char *source;       /* NAME.cu */
    char *plan;         /* NAME.json or gold.json */
    mutant_expect cuda; /* on a GPU */
    mutant_expect emu;  /* on the emulator: the same, or what `emu` says */
    bool
        emu_blind; /* `emu: not_detectable`: shows only where the emulator does not look; ok there */
    char *why;     /* what is wrong with it, one line */
    bool
        sanitize; /* suites/adversarial.h: compute-sanitizer looks at it where the checks let it pass */
} mutant;

typedef struct mutants {
    mutant *items; /* in the order of the list */
    size_t count;
} mutants;

/* mutants_load: folder is the problem's. Without a folder mutants/ there are none. gold_plan may be
 * NULL; then every mutant needs a plan of its own. Plans are checked against the contract. On failure
 * out is untouched. */
int mutants_load(const char *folder, const contract *terms, const char *gold_plan, mutants *out,
                 err *e);
void mutants_fini(mutants *self);
void mutant_fini(mutant *self);

/* What a row is read with. */
typedef struct mutants_reading {
    const char *folder; /* holds the files */
    const contract
        *terms; /* plans must fit it; NULL: a plan may be wrong too, and `ok` may be expected */
    const char *gold_plan; /* for a kernel without a plan of its own; NULL: each needs one */
} mutants_reading;
/* mutants_read_row reads one row and its files; keys it does not know are the caller's to refuse.
 * `before` are the rows so far: names are unique. */
int mutants_read_row(const mutants_reading *r, const mutants *before, const json_cursor *row,
                     mutant *out, err *e);
/* mutants_check_files refuses a file of the folder that belongs to no row: it would silently prove
 * nothing. `list_file` is the list's own. */
int mutants_check_files(const char *folder, const char *list_file, const mutants *list,
                        const json_cursor *root, err *e);

/* mutant_expects: whether an outcome (detail NULL or "": none) is one that the kernel must get. */
bool mutant_expects(const mutant_expect *self, outcome result, const char *detail);

#endif
