/* anthropic - Claude models by Anthropic's Messages API
 *
 * Purpose:   streamed; the system text is marked for the prompt cache; no sampling field is sent.
 * Ownership: ops are constant.
 * Threads:   safe.
 * Errors:    as provider_ask.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_ANTHROPIC_H
#define CE_PROVIDERS_ANTHROPIC_H

#include "providers/remote.h"

extern const remote_ops anthropic_remote;
extern const provider_ops anthropic_ops;

#endif
