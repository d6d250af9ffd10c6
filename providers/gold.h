/* gold - the suite's own kernels as an entrant
 *
 * Purpose:   answers in the very text format a model must use, so that the answer parser, the gate and
 *            the judge are calibrated by kernels that must pass. It answers interview, codegen and
 *            polish; it has nothing to repair with, so the repair stages find it exhausted.
 * Ownership: ops are constant.
 * Threads:   safe.
 * Errors:    none: a problem without a gold kernel is an answer that refuses.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_GOLD_H
#define CE_PROVIDERS_GOLD_H

#include "providers/provider.h"

extern const provider_ops gold_ops;

/* gold_answer is the back end's answer, shared with mock scripts that say "gold". */
int gold_answer(void *state, const provider_request *request, provider_answer *out, err *e);

#endif
