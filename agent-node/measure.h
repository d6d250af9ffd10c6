/* measure - a candidate by itself and the baselines, at the benchmark shape
 *
 * Purpose:   both sides are CUDA graphs, timed by the same code (runner/timing) on rotated slots with a
 *            cold L2: a candidate in a runner, the baselines in the judge. It finds the best baseline
 *            and first estimates; a verdict comes from duel.h.
 * Ownership: rows are the caller's (they go into a stage record).
 * Threads:   the holder of the lane.
 * Errors:    an err is the harness; a candidate that fails while it is timed is a verdict.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_MEASURE_H
#define CE_AGENT_NODE_MEASURE_H

#include "agent-node/pipeline.h"
#include "agent-node/runner/verdict.h"
#include "agent-node/trial.h"
#include "common/json.h"

enum { MEASURE_SAMPLES = 100, MEASURE_SHORT = 20 /* samples of an estimate */ };

/* measure_slots: K at the benchmark shape; estimate_us <= 0: unknown. A candidate (NULL: none) with thousands of
 * launches gets fewer: K graphs of its plan must be kept. ERR_LIMIT when it does not fit. */
int measure_slots(const pipeline *p, const candidate *c, double estimate_us, int64_t *out, err *e);
json *measure_samples_json(const double *samples, size_t count);

typedef struct measure_short {
    double median_ms, event_floor_ms;
    double warm[MEASURE_SHORT]; /* samples with the L2 as the same call leaves it */
    int64_t slots;
} measure_short;

/* measure_warm is the row of a warm time, which is never compared with a cold one. */
int measure_warm(const pipeline *p, const measure_short *from, measurement_record *row, err *e);

/* measure_estimate: a few samples cold and warm, to choose how to time; in a trial that goes on afterwards. */
int measure_estimate(const trial *t, int64_t number, measure_short *out, runner_verdict *verdict,
                     err *e);

/* measure_candidate times a candidate without a baseline to compare with. `number` makes the inputs fresh.
 * The row is filled when the verdict is ok. */
int measure_candidate(const pipeline *p, lane *held, const candidate *c, int64_t number,
                      measurement_record *row, runner_verdict *verdict, err *e);

typedef enum baseline_origin {
    BASELINE_FOUND, /* every mode compiled and timed */
    BASELINE_KNOWN, /* from the store: eager and the winner timed again, nothing compiled */
    BASELINE_COMPILED /* from the store, but the winner's compiler cache was not there or did not do */
} baseline_origin;

/* measure_baseline finds the fastest baseline, from the store when it was found before (then eager and
 * the stored winner are timed again), and appends a row a mode. */
int measure_baseline(const pipeline *p, lane *held, stage_record *record, baseline_origin *origin,
                     err *e);

/* measure_key names a stored baseline: contract, reference, shape, GPU, driver, torch, triton. */
hash measure_key(const pipeline *p, const judge_facts *facts);

#endif
