/* check - protocol ce-correct-0: a candidate at every shape of its contract
 *
 * Purpose:   for each shape, smallest first as the contract lists them and the benchmark shape last: the
 *            judge draws secret inputs, the runner launches on guarded buffers, the judge compares.
 *            The first failure ends it.
 * Ownership: a report owns its JSON (check_report_fini).
 * Threads:   the holder of the lane.
 * Errors:    an err is the harness; a wrong candidate is the report's verdict.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_CHECK_H
#define CE_AGENT_NODE_CHECK_H

#include "agent-node/pipeline.h"
#include "agent-node/runner/verdict.h"

typedef struct check_report {
    runner_verdict verdict;
    char *json; /* {"protocol", "simulated", "shapes": [{"shape", "family", "outcome", …}]} */
} check_report;

int check_candidate(const pipeline *p, lane *held, const candidate *c, check_report *out, err *e);
void check_report_fini(check_report *self);

/* check_family is the value family dealt to shape number i (shape_count: the benchmark shape). */
const char *check_family(const contract *terms, size_t i);

#endif
