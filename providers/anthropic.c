/* anthropic - Claude models by Anthropic's Messages API
 *
 * SPDX-License-Identifier: MIT */
#include "providers/anthropic.h"

#include <string.h>

static const char *key_name(const char *url, bool *needed)
{
    (void)url;
    *needed = true;
    return "ANTHROPIC_API_KEY";
}

/* ---- the question ---- */

/* The system text is what all tasks and stages share. */
static json *build_system(const char *text)
{
    json *list = json_new_array();
    json *block = json_new_object();
    json *keep = json_new_object();
    json_set_str(keep, "type", "ephemeral");
    json_set_str(block, "type", "text");
    json_set_str(block, "text", text);
    json_set(block, "cache_control", &keep);
    json_append(list, &block);
    return list;
}

/* {"effort": …, "format": {"type": "json_schema", "schema": …}} */
static void set_output(json *body, const remote_call *call)
{
    const ability_terms *terms = call->terms;
    bool leveled = terms->effort != NULL && strcmp(terms->effort, "none") != 0;
    if (!leveled && call->schema == NULL) {
        return;
    }
    json *output = json_new_object();
    if (leveled) {
        json_set_str(output, "effort", terms->effort);
    }
    if (call->schema != NULL) {
        json *format = json_new_object();
        json *schema = json_copy(call->schema);
        json_set_str(format, "type", "json_schema");
        json_set(format, "schema", &schema);
        json_set(output, "format", &format);
    }
    json_set(body, "output_config", &output);
}

/* Said only where the model would do otherwise: effort asks for thinking, effort none for none. */
static void set_thinking(json *body, const ability_terms *terms)
{
    const ability_row *f = terms->family;
    bool off = terms->effort != NULL && strcmp(terms->effort, "none") == 0;
    const char *type = off ? f->thinking_off : NULL;
    if (terms->effort != NULL && !off && f->thinking == ABILITY_THINKING_ASKED) {
        type = "adaptive";
    }
    if (type != NULL) {
        json *thinking = json_new_object();
        json_set_str(thinking, "type", type);
        json_set(body, "thinking", &thinking);
    }
}

static json *build(const remote_call *call, buf *url)
{
    const provider_request *request = call->request;
    json *body = json_new_object();
    json *messages = json_new_array();
    json *system = build_system(request->system);
    buf_puts(url, "/v1/messages");
    for (size_t i = 0; i < request->turn_count; i++) {
        json *message = json_new_object();
        json_set_str(message, "role", request->turns[i].role);
        json_set_str(message, "content", remote_turn(&request->turns[i]));
        json_append(messages, &message);
    }
    json_set_str(body, "model", call->model);
    json_set_int(body, call->terms->family->cap_field, call->terms->family->output_max);
    json_set_bool(body, "stream", call->terms->family->stream);
    set_output(body, call);
    set_thinking(body, call->terms);
    remote_set_sampling(body, call->terms, "top_p");
    json_set(body, "system", &system);
    json_set(body, "messages", &messages);
    return body;
}

/* ---- replies ---- */

static const reply_end ends[] = {
    {"end_turn", PROVIDER_STOP_OK},       {"stop_sequence", PROVIDER_STOP_OK},
    {"max_tokens", PROVIDER_STOP_LENGTH}, {"model_context_window_exceeded", PROVIDER_STOP_LENGTH},
    {"refusal", PROVIDER_STOP_REFUSED},   {NULL, PROVIDER_STOP_OK}};

/* Later counts replace earlier ones; what is not told again stays. The buckets are disjoint already. */
static void read_usage(reply *self, const json *usage)
{
    price_tokens *used = &self->used;
    json *all = self->usage != NULL ? json_copy(self->usage) : json_new_object();
    for (json_iter it = {0}; json_next(usage, &it);) {
        if (json_typeof(it.value) != JSON_TYPE_NULL) {
            json *copy = json_copy(it.value);
            json_set(all, it.key, &copy);
        }
    }
    used->in = reply_count(all, "input_tokens", -1);
    used->out = reply_count(all, "output_tokens", -1);
    used->cache_read = reply_count(all, "cache_read_input_tokens", -1);
    used->cache_write = reply_count(all, "cache_creation_input_tokens", -1);
    if (json_size(all) > 0) {
        reply_keep_usage(self, all);
    }
    json_destroy(&all);
}

/* What message_start and a whole reply have in common. Thinking and unknown blocks are passed over. */
static void read_message(reply *self, const json *message)
{
    reply_keep(self->id, json_get(message, "id"));
    reply_keep(self->served, json_get(message, "model"));
    reply_add_parts(self, json_get(message, "content"), "text");
    read_usage(self, json_get(message, "usage"));
    reply_end_by(self, ends, json_get(message, "stop_reason"));
}

/* ---- errors ---- */

static const reply_word words[] = {{"enforced_spend_limit_reached", FAULT_QUOTA, false},
                                   {"contract_spend_limit_reached", FAULT_QUOTA, false},
                                   {"linked_organization_spend_limit_reached", FAULT_QUOTA, false},
                                   {"invalid_request_error", FAULT_REQUEST, false},
                                   {"authentication_error", FAULT_AUTH, false},
                                   {"billing_error", FAULT_QUOTA, false},
                                   {"permission_error", FAULT_AUTH, false},
                                   {"not_found_error", FAULT_REQUEST, false},
                                   {"conflict_error", FAULT_SERVER, false},
                                   {"request_too_large", FAULT_REQUEST, false},
                                   {"rate_limit_error", FAULT_RATE_LIMIT, false},
                                   {"api_error", FAULT_SERVER, false},
                                   {"timeout_error", FAULT_TIMEOUT, false},
                                   {"overloaded_error", FAULT_OVERLOADED, false},
                                   {NULL, FAULT_NONE, false}};

static void classify(reply *self, int64_t status, const json *body)
{
    const json *error = json_get(body, "error");
    const char *said[] = {json_str(json_get(json_get(error, "details"), "error_code"), ""),
                          json_str(json_get(error, "type"), ""), NULL};
    reply_fail(self, status, words, said, json_str(json_get(error, "message"), ""));
}

static void read_whole(reply *self, const json *body)
{
    const char *type = json_str(json_get(body, "type"), "");
    if (strcmp(type, "error") == 0) {
        classify(self, 200, body);
        return;
    }
    if (strcmp(type, "message") != 0) {
        reply_bad(self, "the answer is no message");
        return;
    }
    read_message(self, body);
    self->ended = true;
}

/* ---- the stream ---- */

static void on_block(reply *self, const json *data)
{
    const json *block = json_get(data, "content_block");
    if (strcmp(json_str(json_get(block, "type"), ""), "text") == 0) {
        reply_add_text(self, json_str(json_get(block, "text"), ""));
    }
}

static void on_delta(reply *self, const json *data)
{
    const json *delta = json_get(data, "delta");
    if (strcmp(json_str(json_get(delta, "type"), ""), "text_delta") == 0) {
        reply_add_text(self, json_str(json_get(delta, "text"), ""));
    }
}

static void on_message_start(reply *self, const json *data)
{
    read_message(self, json_get(data, "message"));
}

static void on_message_delta(reply *self, const json *data)
{
    read_usage(self, json_get(data, "usage"));
    reply_end_by(self, ends, json_get(json_get(data, "delta"), "stop_reason"));
}

static void on_message_stop(reply *self, const json *data)
{
    (void)data;
    self->ended = self->stopped;
    if (!self->stopped) {
        reply_bad(self, "the answer does not say why it ended");
    }
}

static void on_error(reply *self, const json *data)
{
    classify(self, 200, data);
}

static const struct {
    const char *type;
    void (*read)(reply *self, const json *data);
} events[] = {{"message_start", on_message_start}, {"content_block_start", on_block},
              {"content_block_delta", on_delta},   {"message_delta", on_message_delta},
              {"message_stop", on_message_stop},   {"error", on_error}};

static void read_event(reply *self, const char *name, const json *data)
{
    const char *type = json_str(json_get(data, "type"), name);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (strcmp(events[i].type, type) == 0) {
            events[i].read(self, data);
        }
    }
}

const remote_ops anthropic_remote = {.name = "anthropic",
                                     .url = "https://api.anthropic.com",
                                     .key_field = "x-api-key",
                                     .key_form = "",
                                     .key_name = key_name,
                                     .version_field = "anthropic-version",
                                     .id_field = "request-id",
                                     .build = build,
                                     .read_whole = read_whole,
                                     .read_event = read_event,
                                     .classify = classify};

const provider_ops anthropic_ops = {.name = "anthropic", .remote = &anthropic_remote};
