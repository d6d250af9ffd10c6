/* gemini - Google's Gemini models by generateContent
 *
 * SPDX-License-Identifier: MIT */
#include "providers/gemini.h"

#include <ctype.h>
#include <string.h>

#include "common/str.h"
#include "providers/hint.h"
#include "providers/url.h"

static const char *key_name(const char *url, bool *needed)
{
    (void)url;
    *needed = true;
    return "GEMINI_API_KEY";
}

/* ---- the question ---- */

/* {"role": …, "parts": [{"text": …}]} */
static json *build_content(const char *role, const char *text)
{
    json *content = json_new_object();
    json *parts = json_new_array();
    json *part = json_new_object();
    json_set_str(part, "text", text);
    json_append(parts, &part);
    json_set(content, "parts", &parts);
    if (role != NULL) {
        json_set_str(content, "role", role);
    }
    return content;
}

static json *build_rules(const remote_call *call)
{
    const ability_terms *terms = call->terms;
    json *rules = json_new_object();
    json_set_int(rules, terms->family->cap_field, terms->family->output_max);
    remote_set_sampling(rules, terms, "topP");
    if (terms->effort != NULL) {
        json *thinking = json_new_object();
        char level[16] = "";
        for (size_t i = 0; i + 1 < sizeof(level) && terms->effort[i] != '\0'; i++) {
            level[i] = (char)toupper((unsigned char)terms->effort[i]);
        }
        json_set_str(thinking, "thinkingLevel", level);
        json_set(rules, "thinkingConfig", &thinking);
    }
    if (call->schema != NULL) {
        json *schema = json_copy(call->schema);
        json_set_str(rules, "responseMimeType", "application/json");
        json_set(rules, "responseJsonSchema", &schema);
    }
    return rules;
}

static json *build(const remote_call *call, buf *url)
{
    const provider_request *request = call->request;
    json *body = json_new_object();
    json *contents = json_new_array();
    json *rules = build_rules(call);
    json *system = build_content(NULL, request->system);
    for (size_t i = 0; i < request->turn_count; i++) {
        bool user = strcmp(request->turns[i].role, "user") == 0;
        json *content = build_content(user ? "user" : "model", remote_turn(&request->turns[i]));
        json_append(contents, &content);
    }
    json_set(body, "systemInstruction", &system);
    json_set(body, "contents", &contents);
    json_set(body, "generationConfig", &rules);
    json_set_bool(body, "store", false);
    buf_puts(url, "/models/");
    url_escape(url, call->model);
    buf_puts(url,
             call->terms->family->stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
    return body;
}

/* ---- replies ---- */

static const reply_end ends[] = {
    {"STOP", PROVIDER_STOP_OK},
    {"MAX_TOKENS", PROVIDER_STOP_LENGTH},
    {"CONTINUATION", PROVIDER_STOP_LENGTH}, /* the limit of one request, not ours */
    {"SAFETY", PROVIDER_STOP_FILTER},
    {"RECITATION", PROVIDER_STOP_FILTER},
    {"BLOCKLIST", PROVIDER_STOP_FILTER},
    {"PROHIBITED_CONTENT", PROVIDER_STOP_FILTER},
    {"SPII", PROVIDER_STOP_FILTER},
    {"ESCALATION", PROVIDER_STOP_FILTER},
    {"MODEL_ARMOR", PROVIDER_STOP_FILTER},
    {"LANGUAGE", PROVIDER_STOP_FILTER},
    {NULL, PROVIDER_STOP_OK}};

/* Counts of zero are left out; the input count includes what the cache had. */
static void read_usage(reply *self, const json *usage)
{
    if (json_typeof(usage) != JSON_TYPE_OBJECT) {
        return;
    }
    reply_keep_usage(self, usage);
    reply_split(self,
                reply_count(usage, "promptTokenCount", 0) +
                    reply_count(usage, "toolUsePromptTokenCount", 0),
                reply_count(usage, "cachedContentTokenCount", 0), 0,
                reply_count(usage, "candidatesTokenCount", 0) +
                    reply_count(usage, "thoughtsTokenCount", 0));
}

/* ---- errors ---- */

static const reply_word words[] = {{"API_KEY_INVALID", FAULT_AUTH, false},
                                   {"PerDay", FAULT_QUOTA, false},
                                   {"UNAUTHENTICATED", FAULT_AUTH, false},
                                   {"PERMISSION_DENIED", FAULT_AUTH, false},
                                   {"FAILED_PRECONDITION", FAULT_AUTH, false},
                                   {"INVALID_ARGUMENT", FAULT_REQUEST, false},
                                   {"NOT_FOUND", FAULT_REQUEST, false},
                                   {"INTERNAL", FAULT_SERVER, false},
                                   {"UNAVAILABLE", FAULT_OVERLOADED, false},
                                   {"DEADLINE_EXCEEDED", FAULT_TIMEOUT, false},
                                   {NULL, FAULT_NONE, false}};

static bool is_daily(const json *violations)
{
    for (size_t i = 0; i < json_size(violations); i++) {
        if (strstr(json_str(json_get(json_at(violations, i), "quotaId"), ""), "PerDay") != NULL) {
            return true;
        }
    }
    return false;
}

/* What the details add: a reason, a daily quota, a delay. */
static const char *read_details(const json *details, int64_t *wait_ms)
{
    const char *reason = "";
    for (size_t i = 0; i < json_size(details); i++) {
        const json *detail = json_at(details, i);
        const char *delay = json_str(json_get(detail, "retryDelay"), NULL);
        if (delay != NULL) {
            hint_duration(delay, wait_ms);
        }
        if (is_daily(json_get(detail, "violations"))) {
            reason = "PerDay";
        }
        reason = json_str(json_get(detail, "reason"), reason);
    }
    return reason;
}

static void classify(reply *self, int64_t status, const json *body)
{
    const json *first = json_typeof(body) == JSON_TYPE_ARRAY ? json_at(body, 0) : body;
    const json *error = json_get(first, "error");
    int64_t wait_ms = -1;
    const char *reason = read_details(json_get(error, "details"), &wait_ms);
    const char *said[] = {reason, json_str(json_get(error, "status"), ""), NULL};
    reply_fail(self, status, words, said, json_str(json_get(error, "message"), ""));
    self->fault.wait_ms = wait_ms;
}

/* ---- whole and streamed: each event is a response of its own ---- */

static void read_part(reply *self, const char *name, const json *data)
{
    const json *candidate = json_at(json_get(data, "candidates"), 0);
    (void)name;
    if (json_typeof(json_get(data, "error")) != JSON_TYPE_NULL) {
        classify(self, json_int(json_get(json_get(data, "error"), "code"), 200), data);
        return;
    }
    reply_keep(self->id, json_get(data, "responseId"));
    reply_keep(self->served, json_get(data, "modelVersion"));
    read_usage(self, json_get(data, "usageMetadata"));
    reply_add_parts(self, json_get(json_get(candidate, "content"), "parts"), NULL);
    reply_end_by(self, ends, json_get(candidate, "finishReason"));
    if (json_str(json_get(json_get(data, "promptFeedback"), "blockReason"), NULL) != NULL) {
        reply_stop(self, PROVIDER_STOP_FILTER);
    }
}

static void read_whole(reply *self, const json *body)
{
    read_part(self, "", body);
    self->ended = self->stopped;
}

/* There is no last event: a stream whose last piece has no reason was cut. */
static void read_end(reply *self)
{
    self->ended = self->stopped;
}

const remote_ops gemini_remote = {.name = "gemini",
                                  .url = "https://generativelanguage.googleapis.com/v1beta",
                                  .key_field = "x-goog-api-key",
                                  .key_form = "",
                                  .key_name = key_name,
                                  .id_field = "x-request-id",
                                  .build = build,
                                  .read_whole = read_whole,
                                  .read_event = read_part,
                                  .read_end = read_end,
                                  .classify = classify};

const provider_ops gemini_ops = {.name = "gemini", .remote = &gemini_remote};
