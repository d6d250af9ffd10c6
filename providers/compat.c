/* compat - any server that speaks OpenAI's Chat Completions
 *
 * SPDX-License-Identifier: MIT */
#include "providers/compat.h"

#include "providers/chat.h"

const remote_ops compat_remote = {.name = "compat",
                                  .key_field = "Authorization",
                                  .key_form = "Bearer ",
                                  .key_name = chat_key_name,
                                  .id_field = "x-request-id",
                                  .build = chat_build,
                                  .read_whole = chat_read_whole,
                                  .read_event = chat_read_event,
                                  .read_end = chat_read_end,
                                  .classify = chat_classify};

const provider_ops compat_ops = {.name = "compat", .remote = &compat_remote};
