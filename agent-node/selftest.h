/* selftest - does this node tell the truth about kernels whose speed is known?
 *
 * Purpose:   on one card: a kernel against itself (A/A), copies that are slower by design, the same kernel
 *            through the judge's path, a warm against a cold L2, a known copy against what is stored of
 *            it, kernels that cheat, one that keeps data in L2, one that beats the floor. One row a
 *            check; the rows that decide make the answer.
 * Ownership: the record is the caller's.
 * Threads:   the holder of the lane; `said` is called on that thread.
 * Errors:    an err is the harness. A check that says no is a row.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SELFTEST_H
#define CE_AGENT_NODE_SELFTEST_H

#include "agent-node/pipeline.h"
#include "wire/calibration.h"

/* selftest_said_fn hears of each row as it is made. */
typedef void selftest_said_fn(void *arg, const calibration_check *row);

typedef struct selftest_options {
    bool quick;     /* each check once, and fewer of them: about 20 s on a card */
    double copy_ms; /* what is known of the copy; <= 0: nothing */
    const char *version;
    selftest_said_fn *said; /* or NULL */
    void *arg;
} selftest_options;

/* selftest_run: after an err the record holds the rows up to it, and one that says what failed. */
int selftest_run(const node_parts *node, lane *held, const selftest_options *options,
                 calibration_record *out, err *e);

#endif
