/* judge_ops - what a kind of judge provides
 *
 * Purpose:   one table a back end: "torch" (judge_torch.c, cuda and cpu) and "fake" (judge_fake.c).
 *            Only judge.c and the back ends include this.
 * Ownership: `impl` is owned by the judge and ended by ops->destroy.
 * Threads:   as judge.h.
 * Errors:    as judge.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_JUDGE_OPS_H
#define CE_AGENT_NODE_JUDGE_OPS_H

#include "agent-node/judge.h"

/* Callbacks fill `out` only on success. A problem is open before every one but `open`. */
typedef struct judge_ops {
    void (*destroy)(void *impl);
    int (*open)(void *impl, const contract *terms, const char *reference, const char *file, err *e);
    int (*contract)(void *impl, judge_contract_report *out, err *e);
    int (*validate)(void *impl, judge_validation *out, err *e);
    int (*draw)(void *impl, const judge_draw_request *request, judge_staging *out, err *e);
    int (*compare)(void *impl, int64_t slot, int64_t salt, judge_comparison *out, err *e);
    int (*baseline)(void *impl, const judge_baseline_request *request, judge_baseline *out, err *e);
    int (*arm)(void *impl, const judge_arm_request *request, judge_timing *out, err *e);
    int (*block)(void *impl, int64_t samples, int64_t untimed, judge_timing *out, err *e);
    int (*disarm)(void *impl, judge_comparison *out, err *e);
    char *(*profile)(void *impl, int64_t samples, const char *library, err *e);
} judge_ops;

struct judge {
    const judge_ops *ops;
    void *impl;
    judge_facts facts; /* texts belong to impl */
    bool opened;
};

/* The modes in the order they are measured: "eager", "default", "max-autotune-no-cudagraphs". */
extern const char *const judge_modes[];

/* judge_mode_fill sets what every measured mode has; the median is NaN until a caller says it. */
void judge_mode_fill(judge_mode *mode, const char *name, const char *shape, int64_t slots);
/* judge_mode_samples stores the samples (a JSON array of numbers) and their median. */
void judge_mode_samples(judge_mode *mode, const json *samples);
/* judge_baseline_choose marks the mode with the smallest median and names it. */
void judge_baseline_choose(judge_baseline *self);

#endif
