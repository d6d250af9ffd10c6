/* judge_torch - the judge that is a PyTorch process ("cuda:N", "cpu")
 *
 * Purpose:   a back end of judge.h: builds requests from the contract, reads replies, restarts the
 *            process after a fault and opens the problem again.
 * Ownership: judge_torch_start fills a judge's ops, impl and facts; ops->destroy ends them.
 * Threads:   as judge.h.
 * Errors:    as judge.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_JUDGE_TORCH_H
#define CE_AGENT_NODE_JUDGE_TORCH_H

#include <sys/types.h>

#include "agent-node/judge.h"

int judge_torch_start(const judge_options *options, judge *out, err *e);
/* judge_torch_pid: the process that answers now, or -1; for tests that kill it. */
pid_t judge_torch_pid(const judge *self);

#endif
