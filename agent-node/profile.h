/* profile - a timed candidate looked at with CUPTI: a record, and in words
 *
 * Purpose:   in a fresh runner process, after the pairs: spans of the candidate (and of the baseline, for a
 *            number that will be published), counters of the candidate, and from both what bounds it. The
 *            record is JSON: {"status": "measured" or "unavailable", "reason", "bound", "candidate", "baseline"
 *            (spans, runner/profiler.h), "launch_floor_ms", "kernels", "counters", "derived", "library", "took_ms"}.
 *            Percentages of "derived" are of the time that the kernels ran: those of "counters" are of the
 *            whole range, which also holds what starting and waiting costs.
 * Ownership: texts are the caller's.
 * Threads:   the holder of the lane.
 * Errors:    none: whatever fails is a reason in the record, and the job goes on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_PROFILE_H
#define CE_AGENT_NODE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent-node/pipeline.h"
#include "common/buf.h"

typedef struct profile_request {
    const pipeline *p;
    lane *held;
    const candidate *c;
    const comparison_record *timed; /* how it was timed: baseline, mode, slots */
    bool baseline;                  /* spans of the baseline, too */
    int64_t number;                 /* makes inputs fresh */
} profile_request;

/* profile_run looks at the candidate. */
char *profile_run(const profile_request *request);

/* What the record needs besides what was measured. */
typedef struct profile_facts {
    int64_t least_bytes; /* that every correct kernel moves */
    int64_t cc, sm_count;
    double took_ms; /* the looking itself */
} profile_facts;

/* profile_make sums up what the runner said (runner/profiler.h) and the baseline's spans (NULL: not
 * asked for); profile_missing is a record that only says why there is none. */
char *profile_make(const char *kernel, const char *baseline, const profile_facts *facts);
char *profile_missing(const char *reason);

/* profile_disagrees: both clocks are there, and they disagree on a side. */
bool profile_disagrees(const char *profile);
/* profile_text appends what a model or a person should know; nothing when there is no profile. */
void profile_text(const char *profile, buf *out);

#endif
