/* replay - the stored answers of an earlier run again, at no cost
 *
 * Purpose:   re-measure a published run on another card: answers are served by problem, sample, stage
 *            and call index, whatever the prompt. The coordinator puts them into the task spec.
 * Ownership: ops are constant; recorded answers are borrowed from the request's material.
 * Threads:   safe.
 * Errors:    none: the end of the recording is an answer that says so.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_REPLAY_H
#define CE_PROVIDERS_REPLAY_H

#include "providers/provider.h"

extern const provider_ops replay_ops;

#endif
