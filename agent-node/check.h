/* check - protocol ce-correct-1: a candidate at every shape that must hold
 *
 * Purpose:   the shapes of suites/cases.h, then the benchmark shape, the large-index shape, and a hidden
 *            run: three more shapes with values of their own in a second process. At each shape the
 *            judge draws secret inputs, the runner launches on guarded buffers (three times, see
 *            runner/phases.h), the judge compares. The first failure ends it. On the emulator the
 *            protocol is ce-correct-1/emu: few and small shapes, never the benchmark shape.
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
    char *
        json; /* {"protocol", "simulated", "shapes": [{"part", "shape", "family", "outcome", …}]} */
    char *modelled; /* the emulator's counters at the shape that did most (modelled.h), or NULL */
} check_report;

int check_candidate(const pipeline *p, lane *held, const candidate *c, check_report *out, err *e);
void check_report_fini(check_report *self);

/* check_protocol is the protocol's name on this kind of device. */
const char *check_protocol(const lane_facts *facts);

#endif
