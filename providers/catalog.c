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

/* Servers whose key has a name of its own are known by their address (chat.c). */
static const catalog_endpoint endpoints[] = {
    {"openrouter", "https://openrouter.ai/api/v1", NULL},
    {"together", "https://api.together.xyz/v1", NULL},
    {"groq", "https://api.groq.com/openai/v1", NULL},
    {"vllm", "http://127.0.0.1:8000/v1", NULL},
    {"llama.cpp", "http://127.0.0.1:8080/v1", NULL},
    {"ollama", "http://127.0.0.1:11434/v1", NULL},
};

enum { ENDPOINT_COUNT = sizeof(endpoints) / sizeof(endpoints[0]) };

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

static int check_remote(const char *model_id, const catalog_entry *entry, const char *model,
                        const ability_demand *demand, err *e)
{
    catalog_address address;
    ability_terms terms;
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
    char variable[CATALOG_KEY_MAX];
    if (demand != NULL && demand->key != NULL &&
        catalog_key_variable(demand->key, variable, e) != 0) {
        return -1;
    }
    return ability_settle(entry->name, address.model, demand, &terms, e);
}

int provider_check(const char *model_id, const ability_demand *demand, err *e)
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
        return check_remote(model_id, entry, model, demand, e);
    }
    if (demand != NULL && !ability_demands_nothing(demand)) {
        return err_set(e, ERR_USAGE, "%s is no model behind an API: it takes no effort or sampling",
                       entry->name);
    }
    return strcmp(entry->name, "mock") == 0 ? mock_check(model, e) : 0;
}

bool provider_is_paid(const char *model_id)
{
    const char *model = NULL;
    const catalog_entry *entry = catalog_split(model_id, &model, NULL);
    return entry != NULL && entry->paid;
}

/* ---- endpoints ---- */

int catalog_key_variable(const char *key, char out[CATALOG_KEY_MAX], err *e)
{
    size_t size = strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (size == 0 || key[size] != '\0' || size > 32) {
        return err_set(e, ERR_USAGE,
                       "'%.40s' is no name of a key: write LAB for the variable CE_LAB_API_KEY",
                       key);
    }
    snprintf(out, CATALOG_KEY_MAX, "CE_%s_API_KEY", key);
    return 0;
}

const catalog_endpoint *catalog_endpoints(size_t *count)
{
    *count = ENDPOINT_COUNT;
    return endpoints;
}

static const catalog_endpoint *find_endpoint(const char *name, size_t size,
                                             const catalog_endpoint *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i].name) == size && memcmp(list[i].name, name, size) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

const catalog_endpoint *catalog_endpoint_of(const char *model_id, const catalog_endpoint *own,
                                            size_t count)
{
    size_t size = strcspn(model_id, ":");
    if (model_id[size] == '\0') {
        return NULL;
    }
    const catalog_endpoint *found = find_endpoint(model_id, size, own, count);
    return found != NULL ? found : find_endpoint(model_id, size, endpoints, ENDPOINT_COUNT);
}
