/* compat - any server that speaks OpenAI's Chat Completions
 *
 * Purpose:   OpenRouter, Together, Groq, vLLM, llama.cpp, Ollama and their like, at a base URL; not streamed.
 * Ownership: ops are constant.
 * Threads:   safe.
 * Errors:    as provider_ask.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_COMPAT_H
#define CE_PROVIDERS_COMPAT_H

#include "providers/remote.h"

extern const remote_ops compat_remote;
extern const provider_ops compat_ops;

#endif
