/* gemini - Google's Gemini models by generateContent
 *
 * Purpose:   streamed by server-sent events; nothing is stored by the provider.
 * Ownership: ops are constant.
 * Threads:   safe.
 * Errors:    as provider_ask.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_GEMINI_H
#define CE_PROVIDERS_GEMINI_H

#include "providers/remote.h"

extern const remote_ops gemini_remote;
extern const provider_ops gemini_ops;

#endif
