/* duel - a candidate against a baseline in pairs of blocks (protocol ce-timing-1)
 *
 * Purpose:   pairs are dealt to fresh runner processes; in a pair the two sides' blocks stand side by
 *            side, in an order that a secret coin decides. After 10, 20 and 40 pairs the interval is
 *            looked at, until there is a verdict. What timed calls left behind is compared with the
 *            oracle. Every sample is stored.
 * Ownership: the record is the caller's.
 * Threads:   the holder of the lane.
 * Errors:    an err is the harness; a candidate that fails while it is timed is a runner_verdict.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_DUEL_H
#define CE_AGENT_NODE_DUEL_H

#include "agent-node/pipeline.h"
#include "agent-node/runner/verdict.h"

enum { DUEL_SAMPLES = 20, DUEL_UNTIMED = 3, DUEL_CAP_MS = 60000 };

typedef struct duel_request {
    const pipeline *p;
    lane *held;
    const candidate *c;
    const char *mode;         /* the baseline */
    const candidate *rival;   /* self-tests: a kernel to compare with instead; `mode` is its name */
    double baseline_ms;       /* first estimate of the other side; INFINITY: none */
    int64_t number;           /* makes inputs and order fresh */
    measurement_record *warm; /* filled when ok: the candidate with a warm L2; NULL: not wanted */
    bool quick; /* a repair round: any verdict ends the looking, however wide the interval */
} duel_request;

/* duel_run fills the record when the verdict is ok. */
int duel_run(const duel_request *request, comparison_record *out, runner_verdict *verdict, err *e);

#endif
