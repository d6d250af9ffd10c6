/* chat - OpenAI's Chat Completions
 *
 * SPDX-License-Identifier: MIT */
#include "providers/chat.h"

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "providers/url.h"

/* ---- the question ---- */

static void add_message(json *list, const char *role, const char *text)
{
    json *message = json_new_object();
    json_set_str(message, "role", role);
    json_set_str(message, "content", text);
    json_append(list, &message);
}

/* OpenRouter must not hand the question to another model or drop what it does not understand. */
static void pin_route(json *body)
{
    json *route = json_new_object();
    json_set_bool(route, "allow_fallbacks", false);
    json_set_bool(route, "require_parameters", true);
    json_set(body, "provider", &route);
}

/* OpenRouter's own form holds for every model behind it. */
static void set_effort(json *body, const char *effort, bool openrouter)
{
    if (effort != NULL && openrouter) {
        json *reasoning = json_new_object();
        json_set_str(reasoning, "effort", effort);
        json_set(body, "reasoning", &reasoning);
    } else if (effort != NULL) {
        json_set_str(body, "reasoning_effort", effort);
    }
}

static void set_format(json *body, const remote_call *call)
{
    if (call->schema == NULL) {
        return;
    }
    json *format = json_new_object();
    json *described = chat_schema(call);
    json_set_str(format, "type", "json_schema");
    json_set(format, "json_schema", &described);
    json_set(body, "response_format", &format);
}

json *chat_schema(const remote_call *call)
{
    json *described = json_new_object();
    json *schema = json_copy(call->schema);
    json_set_str(described, "name", call->request->format->name);
    json_set_bool(described, "strict", true);
    json_set(described, "schema", &schema);
    return described;
}

json *chat_build(const remote_call *call, buf *url)
{
    const provider_request *request = call->request;
    json *body = json_new_object();
    json *messages = json_new_array();
    add_message(messages, "system", request->system);
    for (size_t i = 0; i < request->turn_count; i++) {
        add_message(messages, request->turns[i].role, remote_turn(&request->turns[i]));
    }
    json_set_str(body, "model", call->model);
    json_set(body, "messages", &messages);
    json_set_int(body, call->terms->family->cap_field, call->terms->family->output_max);
    remote_set_sampling(body, call->terms, "top_p");
    set_format(body, call);
    bool openrouter = url_is_host(buf_text(url), "openrouter.ai");
    set_effort(body, call->terms->effort, openrouter);
    if (call->terms->family->stream) {
        json *options = json_new_object();
        json_set_bool(options, "include_usage", true);
        json_set_bool(body, "stream", true);
        json_set(body, "stream_options", &options);
    }
    if (openrouter) {
        pin_route(body);
    }
    buf_puts(url, "/chat/completions");
    return body;
}

static const struct {
    const char *host, *name;
} keys[] = {{"api.openai.com", "OPENAI_API_KEY"},
            {"openrouter.ai", "OPENROUTER_API_KEY"},
            {"api.together.xyz", "TOGETHER_API_KEY"},
            {"api.groq.com", "GROQ_API_KEY"}};

const char *chat_key_name(const char *url, bool *needed)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (url_is_host(url, keys[i].host)) {
            *needed = true;
            return keys[i].name;
        }
    }
    *needed = false;
    return "CE_COMPAT_API_KEY";
}

/* ---- replies ---- */

static const reply_end ends[] = {{"stop", PROVIDER_STOP_OK},
                                 {"eos", PROVIDER_STOP_OK},
                                 {"length", PROVIDER_STOP_LENGTH},
                                 {"content_filter", PROVIDER_STOP_FILTER},
                                 {NULL, PROVIDER_STOP_OK}};

static void read_stop(reply *self, const json *choice)
{
    if (!self->stopped)
        reply_end_by(self, ends, json_get(choice, "finish_reason"));
}

/* A message, or the part of one that an event adds. */
static void read_message(reply *self, const json *message)
{
    const char *refusal = json_str(json_get(message, "refusal"), NULL);
    const json *content = json_get(message, "content"); /* text, null, or a list of parts */
    reply_add_text(self, json_str(content, ""));
    reply_add_parts(self, content, "text");
    if (refusal != NULL && refusal[0] != '\0') {
        reply_add_text(self, refusal);
        reply_stop(self, PROVIDER_STOP_REFUSED);
    }
}

static void read_usage(reply *self, const json *usage)
{
    const json *details = json_get(usage, "prompt_tokens_details");
    if (json_typeof(usage) != JSON_TYPE_OBJECT) {
        return;
    }
    reply_keep_usage(self, usage);
    reply_split(self, reply_count(usage, "prompt_tokens", -1),
                reply_count(details, "cached_tokens", -1),
                reply_count(details, "cache_write_tokens", -1),
                reply_count(usage, "completion_tokens", -1));
    double cost = json_real(json_get(usage, "cost"), (double)NAN); /* OpenRouter tells it */
    self->cost_usd = cost >= 0.0 ? cost : self->cost_usd;
}

static void read_common(reply *self, const json *body)
{
    reply_keep(self->id, json_get(body, "id"));
    reply_keep(self->served, json_get(body, "model"));
    read_usage(self, json_get(body, "usage"));
}

/* Some servers leave the reasoning in the text, before the answer; that is no part of it. */
static void drop_reasoning(reply *self)
{
    static const char open[] = "<think>", close[] = "</think>";
    const char *text = buf_text(&self->text);
    const char *start = text + strspn(text, " \n\r\t");
    const char *end = str_starts(start, open) ? strstr(start, close) : NULL;
    if (end != NULL) {
        SCOPED(scoped_free) char *rest = xstrdup(end + sizeof(close) - 1);
        buf_clear(&self->text);
        buf_puts(&self->text, rest);
    }
}

/* Some servers fail on status 200: in the reply or in its choice. */
static bool has_error(reply *self, const json *body)
{
    const json *choice = json_at(json_get(body, "choices"), 0);
    if (json_typeof(json_get(body, "error")) != JSON_TYPE_NULL ||
        strcmp(json_str(json_get(body, "object"), ""), "error") == 0) {
        chat_classify(self, 200, body);
        return true;
    }
    if (json_typeof(json_get(choice, "error")) != JSON_TYPE_NULL) {
        chat_classify(self, 200, choice);
        return true;
    }
    return false;
}

void chat_read_whole(reply *self, const json *body)
{
    const json *choice = json_at(json_get(body, "choices"), 0);
    if (has_error(self, body)) {
        return;
    }
    read_common(self, body);
    if (json_typeof(json_get(choice, "message")) != JSON_TYPE_OBJECT) {
        reply_bad(self, "the answer has no message");
        return;
    }
    read_message(self, json_get(choice, "message"));
    drop_reasoning(self);
    read_stop(self, choice);
    self->ended = true;
}

void chat_read_event(reply *self, const char *name, const json *data)
{
    const json *choice = json_at(json_get(data, "choices"), 0);
    (void)name;
    if (has_error(self, data)) {
        return;
    }
    read_common(self, data);
    read_message(self, json_get(choice, "delta"));
    read_stop(self, choice);
}

void chat_read_end(reply *self)
{
    drop_reasoning(self);
    self->ended = self->stopped;
}

/* ---- errors ---- */

static const reply_word words[] = {
    {"insufficient_quota", FAULT_QUOTA, false},
    {"credit_balance_exhausted", FAULT_QUOTA, false},
    {"organization_spend_limit_exceeded", FAULT_QUOTA, false},
    {"project_spend_limit_exceeded", FAULT_QUOTA, false},
    {"organization_usage_limit_exceeded", FAULT_QUOTA, false},
    {"billing_hard_limit_reached", FAULT_QUOTA, false},
    {"payment_required", FAULT_QUOTA, false},
    {"weight_exceeds_budget", FAULT_QUOTA, false},
    {"in_flight_budget_exhausted", FAULT_RATE_LIMIT, false},
    {"invalid_api_key", FAULT_AUTH, false},
    {"authentication_error", FAULT_AUTH, false},
    {"model_not_found", FAULT_REQUEST, false},
    {"context_length_exceeded", FAULT_REQUEST, false},
    {"exceed_context_size_error", FAULT_REQUEST, false},
    {"unsupported_parameter", FAULT_REQUEST, false},
    {"unsupported_value", FAULT_REQUEST, false},
    {"not_supported_error", FAULT_REQUEST, false},
    {"rate_limit_exceeded", FAULT_RATE_LIMIT, false},
    {"rate_limit_error", FAULT_RATE_LIMIT, false},
    {"slow_down", FAULT_RATE_LIMIT, false},
    {"server_is_overloaded", FAULT_OVERLOADED, false},
    {"service_unavailable_error", FAULT_OVERLOADED, false},
    {"resource_unavailable", FAULT_OVERLOADED, false},
    {"capacity_exceeded", FAULT_OVERLOADED, false},
    {"unavailable_error", FAULT_OVERLOADED, false}, /* llama.cpp while it loads the model */
    {"server_error", FAULT_SERVER, false},
    {NULL, FAULT_NONE, false}};

static const char *const refusals[] = {"content_policy_violation", "invalid_prompt", "bio_policy",
                                       "misalignment_policy_violation"};

/* OpenRouter says by {"metadata": {"reasons": […]}} that moderation declined. */
static bool is_refusal(const json *error)
{
    const char *code = json_str(json_get(error, "code"), "");
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strcmp(code, refusals[i]) == 0) {
            return true;
        }
    }
    return json_size(json_get(json_get(error, "metadata"), "reasons")) > 0;
}

/* The object with message, type and code; the body itself where there is no such object. */
static const json *error_of(const json *body)
{
    const json *error = json_get(body, "error");
    return json_typeof(error) == JSON_TYPE_OBJECT ? error : body;
}

static const char *message_of(const json *body, const json *error)
{
    const char *plain = json_str(json_get(body, "error"), json_str(json_get(body, "detail"), ""));
    return json_str(json_get(error, "message"), plain);
}

void chat_classify(reply *self, int64_t status, const json *body)
{
    const json *error = error_of(body);
    const char *message = message_of(body, error);
    /* A type says "no money" whatever the code beside it. */
    const char *said[] = {json_str(json_get(error, "type"), ""),
                          json_str(json_get(error, "code"), ""), NULL};
    int64_t code = json_int(json_get(error, "code"), 0);
    if (is_refusal(error)) {
        reply_refuse(self, message);
        return;
    }
    bool inside = status == 200 && code >= 300 && code <= 599;
    reply_fail(self, inside ? code : status, words, said, message);
}
