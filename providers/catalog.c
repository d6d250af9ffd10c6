/* catalog - what the coordinator must know of a provider before any call
 *
 * SPDX-License-Identifier: MIT */
#include "providers/catalog.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"
#include "providers/mock.h"
#include "providers/url.h"

static const catalog_entry entries[] = {
    {"gold", "gold", "the suite's own kernels: calibrates harness and suite", false, false},
    {"mock", "mock:FILE", "scripted answers and faults from a JSON file", false, false},
    {"replay", "replay:RUN", "the stored answers of an earlier run again, at no cost", false,
     false},
    {"anthropic", "anthropic:MODEL[@URL]", "Anthropic Messages; an id without a provider is one",
     true, true},
    {"openai", "openai:MODEL[@URL]", "OpenAI Responses or Chat Completions, as the model needs",
     true, true},
    {"gemini", "gemini:MODEL[@URL]", "Google Gemini generateContent", true, true},
    {"compat", "compat:MODEL@URL", "any server that speaks OpenAI's Chat Completions", true, true},
};

enum { ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]) };

/* Output caps are ours: thinking and text of an answer together, well within what each model can. */
#define ANTHROPIC(prefix, sampling, effort)                                                      \
    {                                                                                            \
        "anthropic", prefix, sampling, effort, "max_tokens", 32000, CATALOG_CACHE_MARKED, false, \
            true, true                                                                           \
    }
#define RESPONSES(prefix, sampling, effort)                                                      \
    {                                                                                            \
        "openai", prefix, sampling, effort, "max_output_tokens", 32000, CATALOG_CACHE_AUTOMATIC, \
            true, true, true                                                                     \
    }
#define GEMINI(prefix, sampling, effort)                                                       \
    {                                                                                          \
        "gemini", prefix, sampling, effort, "maxOutputTokens", 32000, CATALOG_CACHE_AUTOMATIC, \
            false, true, true                                                                  \
    }

static const catalog_family families[] = {
    ANTHROPIC("", CATALOG_SAMPLING_NEVER, "low medium high xhigh max"),
    ANTHROPIC("claude-opus-4-6", CATALOG_SAMPLING_YES, "low medium high xhigh max"),
    ANTHROPIC("claude-sonnet-4-6", CATALOG_SAMPLING_YES, "low medium high xhigh max"),
    ANTHROPIC("claude-opus-4-5", CATALOG_SAMPLING_YES, "low medium high"),
    ANTHROPIC("claude-sonnet-4-5", CATALOG_SAMPLING_YES, ""),
    ANTHROPIC("claude-haiku-4-5", CATALOG_SAMPLING_YES, ""),
    RESPONSES("", CATALOG_SAMPLING_NEVER, "low medium high xhigh"),
    RESPONSES("gpt-6", CATALOG_SAMPLING_WITHOUT_EFFORT, "none low medium high xhigh max"),
    RESPONSES("gpt-6.2", CATALOG_SAMPLING_NEVER, "low medium high xhigh max"),
    RESPONSES("gpt-6.1-sol", CATALOG_SAMPLING_NEVER, "low medium high xhigh max"),
    RESPONSES("gpt-6-astra", CATALOG_SAMPLING_NEVER, "low medium high xhigh max"),
    RESPONSES("gpt-5.6", CATALOG_SAMPLING_WITHOUT_EFFORT, "none low medium high xhigh max"),
    RESPONSES("gpt-5.5", CATALOG_SAMPLING_WITHOUT_EFFORT, "none low medium high xhigh"),
    RESPONSES("gpt-5.5-pro", CATALOG_SAMPLING_NEVER, "medium high xhigh"),
    RESPONSES("gpt-5", CATALOG_SAMPLING_NEVER, "minimal low medium high"),
    {"openai", "gpt-4", CATALOG_SAMPLING_YES, "", "max_completion_tokens", 16384,
     CATALOG_CACHE_AUTOMATIC, false, true, true},
    GEMINI("", CATALOG_SAMPLING_YES, "low medium high"),
    GEMINI("gemini-4", CATALOG_SAMPLING_IGNORED, "low medium high xhigh"),
    GEMINI("gemini-2", CATALOG_SAMPLING_YES, ""),
    {"compat", "", CATALOG_SAMPLING_YES, "", "max_tokens", 16384, CATALOG_CACHE_NONE, false, false,
     false},
};

enum { FAMILY_COUNT = sizeof(families) / sizeof(families[0]) };

const catalog_entry *catalog_entries(size_t *count)
{
    *count = ENTRY_COUNT;
    return entries;
}

static int unknown(const char *model_id, err *e)
{
    SCOPED(buf_fini) buf known;
    buf_init(&known, ERR_TEXT_MAX);
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        buf_printf(&known, "%s%s", i > 0 ? ", " : "", entries[i].form);
    }
    return err_set(e, ERR_USAGE, "unknown provider in model id '%s'; known: %s", model_id,
                   buf_text(&known));
}

static const catalog_entry *find_entry(const char *name, size_t size)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (strlen(entries[i].name) == size && memcmp(entries[i].name, name, size) == 0) {
            return &entries[i];
        }
    }
    return NULL;
}

const catalog_entry *catalog_split(const char *model_id, const char **model, err *e)
{
    size_t size = strcspn(model_id, ":@");
    const catalog_entry *found = find_entry(model_id, size);
    if (found != NULL) {
        *model = model_id[size] == ':' ? model_id + size + 1 : model_id + size;
    } else if (size > 0 && model_id[size] != ':') {
        found = find_entry("anthropic", strlen("anthropic"));
        *model = model_id;
    } else {
        unknown(model_id, e);
    }
    return found;
}

/* ---- MODEL@URL ---- */

static bool is_model(const char *text)
{
    size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-._:/@+");
    return size > 0 && text[size] == '\0' && strstr(text, "..") == NULL &&
           strstr(text, "://") == NULL;
}

/* Model names may hold an @ themselves; the URL's scheme says where it begins. */
static const char *find_url(const char *text)
{
    const char *plain = strstr(text, "@http://");
    return plain != NULL ? plain : strstr(text, "@https://");
}

int catalog_locate(const char *text, catalog_address *out, err *e)
{
    const char *at = find_url(text);
    size_t size = at != NULL ? (size_t)(at - text) : strlen(text);
    *out = (catalog_address){0};
    if (size >= sizeof(out->model)) {
        return err_set(e, ERR_USAGE, "the name of a model has at most %d characters",
                       CATALOG_MODEL_MAX - 1);
    }
    memcpy(out->model, text, size);
    if (!is_model(out->model)) {
        return err_set(e, ERR_USAGE,
                       "'%s' is no name of a model (letters, digits and -._:/@+; a URL after it "
                       "begins with @http:// or @https://)",
                       out->model);
    }
    return at != NULL ? url_check(at + 1, out->url, sizeof(out->url), e) : 0;
}

static int check_remote(const char *model_id, const catalog_entry *entry, const char *model, err *e)
{
    catalog_address address;
    if (catalog_locate(model, &address, e) != 0) {
        return err_wrap(e, "model id '%s'", model_id);
    }
    bool compat = strcmp(entry->name, "compat") == 0;
    if (!compat && url_is_open(address.url)) {
        return err_set(
            e, ERR_USAGE,
            "model id '%s': the key would travel in the open; write https:// (plain http "
            "is for this machine)",
            model_id);
    }
    if (compat && address.url[0] == '\0') {
        return err_set(e, ERR_USAGE, "model id '%s' must be written %s, such as %s", model_id,
                       entry->form, "compat:llama-3@http://127.0.0.1:8000/v1");
    }
    return 0;
}

int provider_check(const char *model_id, err *e)
{
    const char *model = NULL;
    const catalog_entry *entry = catalog_split(model_id, &model, e);
    if (entry == NULL) {
        return -1;
    }
    bool takes_model = strchr(entry->form, ':') != NULL;
    if (takes_model != (model[0] != '\0' && model[0] != '@')) {
        return err_set(e, ERR_USAGE, "model id '%s' must be written %s", model_id, entry->form);
    }
    if (entry->remote) {
        return check_remote(model_id, entry, model, e);
    }
    return strcmp(entry->name, "mock") == 0 ? mock_check(model, e) : 0;
}

bool provider_is_paid(const char *model_id)
{
    const char *model = NULL;
    const catalog_entry *entry = catalog_split(model_id, &model, NULL);
    return entry != NULL && entry->paid;
}

/* ---- families ---- */

const catalog_family *catalog_family_of(const char *name, const char *model)
{
    const catalog_family *best = NULL;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        const catalog_family *f = &families[i];
        if (strcmp(f->provider, name) == 0 && str_starts(model, f->prefix) &&
            (best == NULL || strlen(f->prefix) >= strlen(best->prefix))) {
            best = f;
        }
    }
    return best;
}

const catalog_family *catalog_families(size_t *count)
{
    *count = FAMILY_COUNT;
    return families;
}
