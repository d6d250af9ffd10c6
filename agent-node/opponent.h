/* opponent - what a candidate is timed against in a duel
 *
 * Purpose:   a baseline that the judge captures, or another kernel in a runner of its own: the
 *            self-tests compare a kernel with itself (A/A) and with one that is slower by design.
 * Ownership: borrows the pipeline, the lane and the rival; opponent_fini ends its runner.
 * Threads:   the holder of the lane.
 * Errors:    an err is the harness, and so is a rival that fails.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_OPPONENT_H
#define CE_AGENT_NODE_OPPONENT_H

#include "agent-node/trial.h"

typedef struct opponent {
    const char *mode;       /* of the judge's baseline */
    const candidate *rival; /* NULL: the judge's baseline */
    judge *judge;
    trial trial; /* of the rival */
} opponent;

/* One process of a duel. */
typedef struct opponent_arm {
    const judge_staging *staging; /* for a rival */
    int64_t slots, salt, deadline_ms;
    bool chained, settle;
} opponent_arm;

/* A block of either side. */
typedef struct opponent_block {
    double *ms; /* caller's array of `samples` */
    int64_t samples, untimed, deadline_ms;
    double host_ms, event_ms; /* filled */
    bool suspect;             /* filled: events and host clock disagree */
} opponent_block;

void opponent_init(opponent *self, const char *mode, const candidate *rival);
void opponent_fini(opponent *self);
/* opponent_ahead starts what the next opponent_open needs; not while something is timed. */
int opponent_ahead(opponent *self, const lane *held, err *e);
/* opponent_arm_in gets it ready in fresh memory, on the inputs drawn last; p and judge as the candidate's. */
int opponent_arm_in(opponent *self, const trial *candidate_side, lane *held,
                    const opponent_arm *request, err *e);
int opponent_take(opponent *self, opponent_block *block, err *e);
/* opponent_disarm: *sound false when what its timed calls left behind is wrong. */
int opponent_disarm(opponent *self, bool *sound, err *e);

#endif
