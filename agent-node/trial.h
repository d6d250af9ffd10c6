/* trial - a candidate on a device: the judge has its problem open, a fresh runner has it loaded
 *
 * Purpose:   what checking and timing share: start, secret seeds, the way from staging to a request.
 * Ownership: the trial owns its runner; it borrows pipeline, lane, judge and candidate.
 * Threads:   the holder of the lane.
 * Errors:    an err is the harness; the verdict of loading is the candidate's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_TRIAL_H
#define CE_AGENT_NODE_TRIAL_H

#include "agent-node/pipeline.h"
#include "agent-node/runner_proc.h"

enum { TRIAL_DEADLINE_MS = 10000 }; /* of one launch of a plan */

typedef struct trial {
    const pipeline *p;
    const candidate *c;
    judge *judge;
    runner_proc *runner;
    runner_proc *next; /* started ahead, for the next renewal; or NULL */
} trial;

/* trial_open starts a fresh runner and loads the candidate. */
int trial_open(trial *self, const pipeline *p, lane *held, const candidate *c,
               runner_verdict *verdict, err *e);
/* trial_renew ends the runner and starts a fresh one with the same candidate; the judge stays as it is. */
int trial_renew(trial *self, lane *held, runner_verdict *verdict, err *e);
/* trial_ahead starts the runner of the next renewal: its context comes up while something else is done.
 * Not while something is timed. */
int trial_ahead(trial *self, const lane *held, err *e);
void trial_fini(trial *self);

/* trial_seed is a secret of this task: equal arguments give equal seeds, in [0, 2^62). */
int64_t trial_seed(const task_spec *spec, const char *purpose, int64_t number);

/* trial_problem_seed: the same for every sample and attempt of a problem in one run. */
int64_t trial_problem_seed(const task_spec *spec, const char *purpose, int64_t number);

/* trial_say puts "at SHAPE (FAMILY): " before a verdict's text. */
void trial_say(const pipeline *p, const contract_shape *shape, const char *family,
               runner_verdict *verdict);

#endif
