/* night_gate - is a night good?
 *
 * Purpose:   the canaries (the suite's own kernels, the cards' self-tests), then the run against earlier good
 *            nights by reports/regress.h.
 * Ownership: night_finding_fini frees what a finding holds.
 * Threads:   not from the store's own thread.
 * Errors:    as the database says. What is found, also that nothing can be compared, is no error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NIGHT_GATE_H
#define CE_COORDINATOR_NIGHT_GATE_H

#include "common/buf.h"
#include "coordinator/settings.h"
#include "reports/regress.h"
#include "store/night.h"

typedef struct night_finding {
    night_verdict verdict;
    char *reason;         /* one sentence */
    settings_name *again; /* problems that became slower, and that a second run has not confirmed */
    size_t again_count;
} night_finding;
void night_finding_fini(night_finding *self);

/* The runs that a night is held against: of good nights, the newest first, back to one that a person has
 * accepted. Borrowed from the list. */
typedef struct night_before {
    const char **runs;
    size_t count;
} night_before;
night_before night_gate_before(const night_list *nights, int64_t night, int64_t window);
void night_before_fini(night_before *self);

/* night_gate_verdict: worse, unjudged because the machine changed, or good. */
night_verdict night_gate_verdict(const regress *found);

typedef struct night_gate_ask {
    const char *run, *again; /* again: NULL: not measured a second time */
    int64_t began_ms;        /* of the night: self-tests since then count */
    const night_before *before;
    const gate_rules *rules;
} night_gate_ask;

/* night_gate_judge: the finding, and the page gate.md. */
int night_gate_judge(store *db, const night_gate_ask *ask, buf *page, night_finding *out, err *e);

#endif
