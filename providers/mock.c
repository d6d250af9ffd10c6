/* mock - scripted answers and faults from a JSON file
 *
 * SPDX-License-Identifier: MIT */
#include "providers/mock.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "providers/gold.h"

typedef struct mock_fault {
    const char *name;
    err_code code;
    bool retry;
} mock_fault;

typedef struct mock_rule {
    const char *problem, *stage; /* NULL: any; borrowed from the script */
    int64_t index, sample;       /* -1: any */
    const char *text, *file;
    bool gold;
    provider_stop stop;
    const mock_fault *fault; /* NULL: none */
    int64_t latency_ms, tokens_in, tokens_out;
    double cost_usd;
} mock_rule;

typedef struct mock {
    json_doc *script;   /* owns the texts of the rules */
    char *folder;       /* of the script */
    const char *record; /* NULL: not recorded */
    mock_rule *rules;
    size_t rule_count;
} mock;

static const mock_fault faults[] = {
    {"auth", ERR_DENIED, false},         {"quota", ERR_LIMIT, false},
    {"rate_limit", ERR_LIMIT, true},     {"overloaded", ERR_UNAVAILABLE, true},
    {"timeout", ERR_TIMEOUT, true},      {"server", ERR_UNAVAILABLE, true},
    {"bad_response", ERR_PROTOCOL, true}};

static const char *const fault_names[] = {"auth",    "quota",  "rate_limit",   "overloaded",
                                          "timeout", "server", "bad_response", NULL};
static const char *const stop_choices[] = {"ok", "length", "refused", "filter", "exhausted", NULL};

static void mock_free(mock **self)
{
    if (*self == NULL) {
        return;
    }
    json_doc_destroy(&(*self)->script);
    free((*self)->folder);
    free((*self)->rules);
    free(*self);
    *self = NULL;
}

static int maybe_text(const json_cursor *c, const char *key, const char **out, err *e)
{
    json_cursor member;
    return json_maybe(c, key, &member) ? json_want_str(&member, out, e) : 0;
}

static int maybe_count(const json_cursor *c, const char *key, int64_t *out, err *e)
{
    json_cursor member;
    return json_maybe(c, key, &member) ? json_want_int(&member, 0, INT32_MAX, out, e) : 0;
}

static int read_selectors(const json_cursor *c, mock_rule *rule, err *e)
{
    return maybe_text(c, "problem", &rule->problem, e) != 0 ||
                   maybe_text(c, "stage", &rule->stage, e) != 0 ||
                   maybe_count(c, "index", &rule->index, e) != 0 ||
                   maybe_count(c, "sample", &rule->sample, e) != 0
               ? -1
               : 0;
}

static int read_answer(const json_cursor *c, mock_rule *rule, err *e)
{
    json_cursor member;
    int choice = 0;
    if (maybe_text(c, "text", &rule->text, e) != 0 || maybe_text(c, "file", &rule->file, e) != 0) {
        return -1;
    }
    if (json_maybe(c, "gold", &member) && json_want_bool(&member, &rule->gold, e) != 0) {
        return -1;
    }
    if (json_maybe(c, "stop", &member)) {
        if (json_want_choice(&member, stop_choices, &choice, e) != 0) {
            return -1;
        }
        rule->stop = (provider_stop)choice;
    }
    if (json_maybe(c, "fault", &member)) {
        if (json_want_choice(&member, fault_names, &choice, e) != 0) {
            return -1;
        }
        rule->fault = &faults[choice];
    }
    return 0;
}

static int read_usage(const json_cursor *c, mock_rule *rule, err *e)
{
    json_cursor member;
    if (maybe_count(c, "latency_ms", &rule->latency_ms, e) != 0 ||
        maybe_count(c, "tokens_in", &rule->tokens_in, e) != 0 ||
        maybe_count(c, "tokens_out", &rule->tokens_out, e) != 0) {
        return -1;
    }
    return json_maybe(c, "cost_usd", &member) ? json_want_real(&member, &rule->cost_usd, e) : 0;
}

static int read_rule(const json_cursor *c, mock_rule *rule, err *e)
{
    static const char *const keys[] = {
        "problem", "stage", "index",      "sample",    "text",       "file",     "gold",
        "stop",    "fault", "latency_ms", "tokens_in", "tokens_out", "cost_usd", NULL};
    *rule = (mock_rule){
        .index = -1, .sample = -1, .tokens_in = -1, .tokens_out = -1, .cost_usd = (double)NAN};
    if (json_only_keys(c, keys, e) != 0 || read_selectors(c, rule, e) != 0 ||
        read_answer(c, rule, e) != 0 || read_usage(c, rule, e) != 0) {
        return -1;
    }
    int answers = (rule->text != NULL) + (rule->file != NULL) + rule->gold;
    if (answers > 1) {
        return json_fail(c, e, "give one of text, file and gold");
    }
    return 0;
}

static int read_script(mock *self, err *e)
{
    static const char *const keys[] = {"record", "rules", NULL};
    json_cursor root = json_root(self->script);
    json_cursor rules;
    if (json_only_keys(&root, keys, e) != 0 || maybe_text(&root, "record", &self->record, e) != 0 ||
        json_member(&root, "rules", &rules, e) != 0 ||
        json_want_array(&rules, MOCK_RULES_MAX, &self->rule_count, e) != 0) {
        return -1;
    }
    self->rules = xcalloc(self->rule_count + 1, sizeof(*self->rules));
    for (size_t i = 0; i < self->rule_count; i++) {
        json_cursor rule;
        json_element(&rules, i, &rule);
        if (read_rule(&rule, &self->rules[i], e) != 0) {
            return -1;
        }
    }
    return 0;
}

static int mock_open(const char *path, void **state, err *e)
{
    SCOPED(mock_free) mock *self = xcalloc(1, sizeof(*self));
    const char *slash = strrchr(path, '/');
    self->folder = slash != NULL ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
    self->script = json_load(path, e);
    if (self->script == NULL || read_script(self, e) != 0) {
        return -1;
    }
    *state = TAKE(self);
    return 0;
}

static void mock_close(void *state)
{
    mock *self = state;
    mock_free(&self);
}

int mock_check(const char *path, err *e)
{
    void *state = NULL;
    if (mock_open(path, &state, e) != 0) {
        return -1;
    }
    mock_close(state);
    return 0;
}

static bool matches(const mock_rule *rule, const provider_request *request)
{
    return (rule->problem == NULL || strcmp(rule->problem, request->problem) == 0) &&
           (rule->stage == NULL || strcmp(rule->stage, request->stage) == 0) &&
           (rule->index < 0 || rule->index == request->index) &&
           (rule->sample < 0 || rule->sample == request->sample);
}

static const mock_rule *find_rule(const mock *self, const provider_request *request)
{
    for (size_t i = 0; i < self->rule_count; i++) {
        if (matches(&self->rules[i], request)) {
            return &self->rules[i];
        }
    }
    return NULL;
}

static char *beside(const mock *self, const char *path)
{
    return path[0] == '/' ? xstrdup(path) : file_join(self->folder, path);
}

/* One line a served call, so that a test can count what would have been paid. */
static int record_call(const mock *self, const provider_request *request, err *e)
{
    if (self->record == NULL) {
        return 0;
    }
    SCOPED(scoped_free) char *path = beside(self, self->record);
    SCOPED(json_destroy) json *line = json_new_object();
    json_set_str(line, "problem", request->problem);
    json_set_int(line, "sample", request->sample);
    json_set_str(line, "stage", request->stage);
    json_set_int(line, "index", request->index);
    SCOPED(scoped_free) char *dump = json_dump(line);
    SCOPED(scoped_free) char *text = xasprintf("%s\n", dump);
    SCOPED(scoped_close) int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        return err_set(e, ERR_SYSTEM, "%s: cannot record a served call", path);
    }
    return 0;
}

static void wait_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static int answer_text(const mock *self, const mock_rule *rule, const provider_request *request,
                       provider_answer *out, err *e)
{
    if (rule->gold) {
        return gold_answer(NULL, request, out, e);
    }
    if (rule->file == NULL) {
        out->text = xstrdup(rule->text != NULL ? rule->text : "");
        return 0;
    }
    SCOPED(scoped_free) char *path = beside(self, rule->file);
    SCOPED(buf_fini) buf content;
    buf_init(&content, MOCK_ANSWER_MAX);
    if (file_read(path, &content, e) != 0) {
        return -1;
    }
    out->text = buf_take(&content);
    return 0;
}

static int mock_answer(void *state, const provider_request *request, provider_answer *out, err *e)
{
    const mock *self = state;
    const mock_rule *rule = find_rule(self, request);
    if (rule == NULL) {
        out->stop = PROVIDER_STOP_EXHAUSTED;
        out->text = xstrdup("");
        return 0;
    }
    wait_ms(rule->latency_ms);
    if (record_call(self, request, e) != 0) {
        return -1;
    }
    if (rule->fault != NULL) {
        err_set(e, rule->fault->code, "scripted fault '%s'", rule->fault->name);
        if (e != NULL) {
            e->retry = rule->fault->retry;
        }
        return -1;
    }
    out->stop = rule->stop;
    if (answer_text(self, rule, request, out, e) != 0) {
        return -1;
    }
    out->latency_ms = (double)rule->latency_ms;
    out->tokens_in = rule->tokens_in;
    out->tokens_out = rule->tokens_out;
    out->cost_usd = rule->cost_usd;
    return 0;
}

const provider_ops mock_ops = {
    .name = "mock", .open = mock_open, .close = mock_close, .answer = mock_answer};
