/* chat - OpenAI's Chat Completions, the protocol that many servers speak
 *
 * Purpose:   questions and replies of that protocol, with the deviations that are seen in the wild:
 *            shared by the back ends openai and compat.
 * Ownership: as remote_ops.
 * Threads:   safe.
 * Errors:    as remote_ops.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_CHAT_H
#define CE_PROVIDERS_CHAT_H

#include "providers/remote.h"

/* chat_build makes {model, messages, the output cap} and appends the path. */
json *chat_build(const remote_call *call, buf *url);
/* chat_schema is OpenAI's {name, strict, schema} of the call's format. */
json *chat_schema(const remote_call *call);
void chat_read_whole(reply *self, const json *body);
void chat_read_event(reply *self, const char *name, const json *data);
/* chat_read_end: a stream is whole once it said why it ended, with or without [DONE]. */
void chat_read_end(reply *self);
/* chat_classify knows the errors of OpenAI and of the servers that copy it: {"error": {…} or text},
 * {"object": "error", …}, {"detail": …}. */
void chat_classify(reply *self, int64_t status, const json *body);
/* chat_key_name: the variable with the key for a server of that address. */
const char *chat_key_name(const char *url, bool *needed);

#endif
