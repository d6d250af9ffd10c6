/* docket - the kernels that a validation runs, and what each must get
 *
 * Purpose:   gold of every problem, and its mutants or the adversarial kernels, as tasks of a run: which
 *            entrant and sample each is, and its expectation, which travels in the task's spec, so that a
 *            stored run is judged from the database alone.
 * Ownership: docket_* give owned lists that borrow problems and kernels; docket_read fills a value that
 *            docket_record_fini releases.
 * Threads:   plain values.
 * Errors:    ERR_CONFIG for a stored text that does not read.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_DOCKET_H
#define CE_COORDINATOR_DOCKET_H

#include "suites/adversarial.h"

/* Entrants of a validation, in this order. */
enum { DOCKET_GOLD, DOCKET_KERNEL, DOCKET_ENTRANTS };

typedef struct docket_case {
    const problem *problem;
    size_t entrant; /* DOCKET_GOLD, DOCKET_KERNEL */
    int64_t sample;
    const mutant *kernel; /* NULL: the problem's gold, which must pass */
} docket_case;

typedef struct docket {
    docket_case *items; /* problem after problem, gold first */
    size_t count;
    adversarial *foreign; /* owns the kernels that no problem owns; NULL: none */
} docket;

/* docket_mutants: gold (where there is one) and every mutant of the problems. */
docket *docket_mutants(const problem *const *problems, size_t count);
/* docket_adversarial: the adversarial kernels of the problems, and gold of every problem that has any.
 * Consumes `foreign`. */
docket *docket_adversarial(const problem *const *problems, size_t count, adversarial **foreign);
void docket_destroy(docket **self);

/* docket_write is the canonical JSON that goes into the spec; caller frees. */
char *docket_write(const docket_case *self);

/* A trial read back. */
typedef struct docket_record {
    char *name, *why;        /* "gold" has no why: NULL */
    mutant_expect cuda, emu; /* what it must get */
    bool emu_blind;
} docket_record;
int docket_read(const char *text, docket_record *out, err *e);
void docket_record_fini(docket_record *self);
/* docket_expectation: which holds on a device of that kind ("cuda", "emu", "fake"). */
const mutant_expect *docket_expectation(const docket_record *self, const char *device_kind);
/* docket_expect_text: "wrong(unwritten)", "out_of_bounds or wrong". Caller frees. */
char *docket_expect_text(const mutant_expect *expect);

#endif
