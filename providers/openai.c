/* openai - OpenAI's models
 *
 * Which API a model speaks is catalog's business; a reply tells by itself which one it belongs to.
 *
 * SPDX-License-Identifier: MIT */
#include "providers/openai.h"

#include <string.h>

#include "common/str.h"
#include "providers/chat.h"

static const char *key_name(const char *url, bool *needed)
{
    (void)url;
    *needed = true;
    return "OPENAI_API_KEY";
}

static bool is_word(const json *object, const char *key, const char *word)
{
    return strcmp(json_str(json_get(object, key), ""), word) == 0;
}

/* ---- the question ---- */

static void set_reasoning(json *body, const char *effort)
{
    if (effort != NULL) {
        json *reasoning = json_new_object();
        json_set_str(reasoning, "effort", effort);
        json_set(body, "reasoning", &reasoning);
    }
}

static void set_format(json *body, const remote_call *call)
{
    if (call->schema != NULL) {
        json *text = json_new_object();
        json *format = chat_schema(call);
        json_set_str(format, "type", "json_schema");
        json_set(text, "format", &format);
        json_set(body, "text", &text);
    }
}

static json *build_responses(const remote_call *call, buf *url)
{
    const provider_request *request = call->request;
    json *body = json_new_object();
    json *input = json_new_array();
    buf_puts(url, "/responses");
    for (size_t i = 0; i < request->turn_count; i++) {
        json *item = json_new_object();
        json_set_str(item, "role", request->turns[i].role);
        json_set_str(item, "content", remote_turn(&request->turns[i]));
        json_append(input, &item);
    }
    json_set_str(body, "model", call->model);
    json_set_str(body, "instructions", request->system);
    json_set(body, "input", &input);
    json_set_int(body, call->terms->family->cap_field, call->terms->family->output_max);
    json_set_bool(body, "store", false);
    json_set_bool(body, "stream", call->terms->family->stream);
    remote_set_sampling(body, call->terms, "top_p");
    set_reasoning(body, call->terms->effort);
    set_format(body, call);
    return body;
}

static json *build(const remote_call *call, buf *url)
{
    if (strcmp(call->terms->family->api, "responses") == 0) {
        return build_responses(call, url);
    }
    json *body = chat_build(call, url);
    json_set_bool(body, "store", false);
    return body;
}

/* ---- replies of the Responses API ---- */

static void read_usage(reply *self, const json *usage)
{
    const json *details = json_get(usage, "input_tokens_details");
    if (json_typeof(usage) != JSON_TYPE_OBJECT) {
        return;
    }
    reply_keep_usage(self, usage);
    reply_split(
        self, reply_count(usage, "input_tokens", -1), reply_count(details, "cached_tokens", -1),
        reply_count(details, "cache_write_tokens", -1), reply_count(usage, "output_tokens", -1));
}

/* True when a part of the message is a refusal. */
static bool read_message(reply *self, const json *content)
{
    bool refused = false;
    for (size_t i = 0; i < json_size(content); i++) {
        const json *part = json_at(content, i);
        if (is_word(part, "type", "output_text")) {
            reply_add_text(self, json_str(json_get(part, "text"), ""));
        } else if (is_word(part, "type", "refusal")) {
            reply_add_text(self, json_str(json_get(part, "refusal"), ""));
            refused = true;
        }
    }
    return refused;
}

static bool read_output(reply *self, const json *output)
{
    bool refused = false;
    for (size_t i = 0; i < json_size(output); i++) {
        const json *item = json_at(output, i);
        if (is_word(item, "type", "message") && !is_word(item, "phase", "commentary")) {
            refused = read_message(self, json_get(item, "content")) || refused;
        }
    }
    return refused;
}

static void read_status(reply *self, const json *body, bool refused)
{
    const json *incomplete = json_get(body, "incomplete_details");
    if (is_word(body, "status", "completed")) {
        reply_stop(self, refused ? PROVIDER_STOP_REFUSED : PROVIDER_STOP_OK);
    } else if (is_word(incomplete, "reason", "max_output_tokens")) {
        reply_stop(self, PROVIDER_STOP_LENGTH);
    } else if (is_word(incomplete, "reason", "content_filter")) {
        reply_stop(self, PROVIDER_STOP_FILTER);
    } else {
        reply_odd_stop(self, json_str(json_get(incomplete, "reason"),
                                      json_str(json_get(body, "status"), "no status")));
    }
}

static void read_response(reply *self, const json *body)
{
    reply_keep(self->id, json_get(body, "id"));
    reply_keep(self->served, json_get(body, "model"));
    read_usage(self, json_get(body, "usage"));
    if (json_typeof(json_get(body, "error")) == JSON_TYPE_OBJECT) {
        chat_classify(self, 200, body);
        return;
    }
    bool refused = read_output(self, json_get(body, "output"));
    read_status(self, body, refused);
    self->ended = true;
}

static void read_whole(reply *self, const json *body)
{
    if (is_word(body, "object", "response")) {
        read_response(self, body);
    } else {
        chat_read_whole(self, body);
    }
}

/* The last event holds the whole response; the pieces before it are not needed. */
static void read_event(reply *self, const char *name, const json *data)
{
    static const char *const last[] = {"response.completed", "response.incomplete",
                                       "response.failed"};
    const char *type = json_str(json_get(data, "type"), name);
    if (strcmp(type, "error") == 0) {
        chat_classify(self, 200, data);
        return;
    }
    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
        if (strcmp(type, last[i]) == 0) {
            read_response(self, json_get(data, "response"));
            return;
        }
    }
    if (!str_starts(type, "response.")) {
        chat_read_event(self, name, data);
    }
}

const remote_ops openai_remote = {.name = "openai",
                                  .url = "https://api.openai.com/v1",
                                  .key_field = "Authorization",
                                  .key_form = "Bearer ",
                                  .key_name = key_name,
                                  .id_field = "x-request-id",
                                  .build = build,
                                  .read_whole = read_whole,
                                  .read_event = read_event,
                                  .read_end = chat_read_end,
                                  .classify = chat_classify};

const provider_ops openai_ops = {.name = "openai", .remote = &openai_remote};
