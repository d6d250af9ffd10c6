/* judge_fake - the judge of device "fake": a script answers
 *
 * Purpose:   a back end of judge.h without Python. Of the fake script (one JSON file, shared with the
 *            fake device of the runner) it reads "compare" and "baselines", per problem with a default:
 *            {"default": {"compare": {"equal": true}, "baselines": {"eager": [0.02, …]}},
 *             "problems": {"softmax": {"compare": {"equal": false, "detail": "class", "text": "…"}}}}
 *            A mode of "baselines" is a list of milliseconds.
 * Ownership: as judge_torch.h.
 * Threads:   as judge.h.
 * Errors:    ERR_CONFIG with the JSON pointer for a script that is not understood.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_JUDGE_FAKE_H
#define CE_AGENT_NODE_JUDGE_FAKE_H

#include "agent-node/judge.h"

int judge_fake_start(const judge_options *options, judge *out, err *e);

#endif
