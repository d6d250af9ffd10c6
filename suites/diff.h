/* diff - what two suites do not have in common
 *
 * Purpose:   problem by problem: only in one of them, or which of its parts differ. Contract, prompt and
 *            reference are in a problem's hash; gold and mutants are not.
 * Ownership: diff_suites gives an owned list; ids are borrowed from the suites.
 * Threads:   plain values.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_DIFF_H
#define CE_SUITES_DIFF_H

#include "suites/suite.h"

typedef enum diff_kind { DIFF_REMOVED, DIFF_ADDED, DIFF_CHANGED, DIFF_MOVED } diff_kind;
const char *diff_kind_name(diff_kind kind);

/* Parts of a problem; the first DIFF_HASHED are in its hash. */
enum {
    DIFF_CONTRACT,
    DIFF_PROMPT,
    DIFF_REFERENCE,
    DIFF_HASHED,
    DIFF_HEAD = DIFF_HASHED, /* title, category */
    DIFF_GOLD,
    DIFF_MUTANTS,
    DIFF_PARTS
};
const char *diff_part_name(int part);

typedef struct diff_row {
    const char *id;
    diff_kind kind;
    bool parts[DIFF_PARTS]; /* DIFF_CHANGED: what differs */
} diff_row;

typedef struct diff {
    diff_row *rows; /* in the order of a, then what only b has */
    size_t count;
} diff;

/* diff_suites says what became of `before` in `after`. Without rows the problems are the same, in the
 * same order. */
diff diff_suites(const suite *before, const suite *after);
void diff_fini(diff *self);

#endif
