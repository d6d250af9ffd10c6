/* openai - OpenAI's models
 *
 * Purpose:   the Responses API for reasoning models, Chat Completions for the others, as catalog says; streamed.
 * Ownership: ops are constant.
 * Threads:   safe.
 * Errors:    as provider_ask.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_OPENAI_H
#define CE_PROVIDERS_OPENAI_H

#include "providers/remote.h"

extern const remote_ops openai_remote;
extern const provider_ops openai_ops;

#endif
