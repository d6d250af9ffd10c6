/* audit - does what is stored of a run follow from its raw data?
 *
 * Purpose:   every number of a task that reports add up is computed again from what it came from: medians
 *            from samples, speedups from medians or pairs, columns from the records that nodes sent, states
 *            from events. Each contradiction is one sentence.
 * Ownership: findings are appended to a caller's buf, one a line.
 * Threads:   as store_run.
 * Errors:    -1 only when the database cannot be read; a contradiction is a finding.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_AUDIT_H
#define CE_REPORTS_AUDIT_H

#include "common/buf.h"
#include "store/store.h"

typedef struct audit_counts {
    size_t tasks, calls, stages, medians, comparisons, speedups; /* that were computed again */
    size_t withheld; /* records and samples whose text is not there */
    size_t findings;
} audit_counts;

/* audit_run looks at one run ("latest", a prefix). */
int audit_run(store *db, const char *run, audit_counts *counts, buf *findings, err *e);

#endif
