/* judge_spy - looks over the shoulder of a lane's judge, and jogs its elbow
 *
 * Purpose:   tests see what is drawn, compared and timed, in order, and can make any step fail or act
 *            before it. What a hook does not do, the real back end does.
 * Ownership: the spy is the test's and must outlive the lanes.
 * Threads:   hooks run on the thread that holds the lane.
 * Errors:    a hook that returns -1 has filled e, and the step fails with it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_SUPPORT_JUDGE_SPY_H
#define CE_TESTS_SUPPORT_JUDGE_SPY_H

#include "agent-node/judge_ops.h"
#include "agent-node/lanes.h"

enum { JUDGE_SPY_DRAWS = 512 };

typedef struct judge_spy judge_spy;
/* A step is about to begin; `number` counts this kind of step from 0. */
typedef int judge_spy_fn(judge_spy *self, size_t number, err *e);

typedef struct judge_spy_draw {
    contract_shape shape;
    int64_t seed, slots;
    char family[32];
} judge_spy_draw;

struct judge_spy {
    judge_spy_fn *on_open, *on_draw, *on_compare, *on_baseline; /* NULL: none */
    void *arg;                                                  /* the test's */
    size_t wrong_from;        /* comparisons from this number on say "wrong"; 0: none */
    const char *wrong_detail; /* NULL: element */
    size_t opens, draw_count, compares, baselines;
    judge_spy_draw draws[JUDGE_SPY_DRAWS];
    size_t arms, blocks, settled, profiles;
    bool chained;    /* of the last arming */
    char winner[64]; /* of the last baseline request; "" for none */
    const judge_ops *ops;
    void *impl;
};

/* judge_spy_install puts the spy before the judge of the first lane. */
void judge_spy_install(judge_spy *self, lanes *all);

#endif
