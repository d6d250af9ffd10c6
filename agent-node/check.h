/* check - protocol ce-correct-0: a candidate at every shape of its contract
 *
 * Purpose:   for each shape, in the contract's order and the benchmark shape last: the judge draws secret
 *            inputs, the runner launches on guarded buffers, the judge compares. The first failure ends
 *            it. On the emulator the protocol is ce-correct-0/emu: at most CHECK_EMU_SHAPES shapes, none
 *            with a tensor of more than CHECK_EMU_ELEMENTS, never the benchmark shape.
 * Ownership: a report owns its JSON (check_report_fini).
 * Threads:   the holder of the lane.
 * Errors:    an err is the harness; a wrong candidate is the report's verdict.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_CHECK_H
#define CE_AGENT_NODE_CHECK_H

#include "agent-node/pipeline.h"
#include "agent-node/runner/verdict.h"

enum { CHECK_EMU_SHAPES = 24, CHECK_EMU_ELEMENTS = 64 * 1024 };

typedef struct check_report {
    runner_verdict verdict;
    char *json;     /* {"protocol", "simulated", "shapes": [{"shape", "family", "outcome", …}]} */
    char *modelled; /* the emulator's counters at the shape that did most (modelled.h), or NULL */
} check_report;

int check_candidate(const pipeline *p, lane *held, const candidate *c, check_report *out, err *e);
void check_report_fini(check_report *self);

/* check_protocol is the protocol's name on this kind of device. */
const char *check_protocol(const lane_facts *facts);
/* check_family is the value family dealt to shape number i (shape_count: the benchmark shape). */
const char *check_family(const contract *terms, size_t i);

#endif
