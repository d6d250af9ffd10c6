/* made - boards in memory, made from a seed
 *
 * Purpose:   what properties are tested on: entrants with known strengths, every kind of outcome, verdict, cost
 *            and gap; as a database would give it, without one.
 * Ownership: made_create gives an owned object; `board` is borrowed from it.
 * Threads:   one.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_REPORTS_MADE_H
#define CE_TESTS_UNIT_REPORTS_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "reports/board.h"

enum { MADE_ENTRANTS_MAX = 8 };

typedef struct made_ask {
    uint64_t seed;
    size_t problems, samples, entrants;
    double strength[MADE_ENTRANTS_MAX]; /* chance of a certified win */
    uint64_t stream[MADE_ENTRANTS_MAX]; /* equal streams with equal strengths give equal results */
    size_t place[MADE_ENTRANTS_MAX];    /* where an entrant stands in the list: a permutation */
    const char *names[MADE_ENTRANTS_MAX];
} made_ask;

typedef struct made {
    board board;
    struct made_texts *texts;
} made;

/* made_ask_of: n entrants of the given strengths, each a stream and a name of its own, in order. */
made_ask made_ask_of(uint64_t seed, const double *strengths, size_t n);
made *made_create(const made_ask *ask);
void made_destroy(made **self);

#endif
