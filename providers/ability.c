/* ability - what families of models take, and how a demand is met
 *
 * One row a family and API. The rows of a provider stand in the order in which its APIs are preferred.
 *
 * SPDX-License-Identifier: MIT */
#include "providers/ability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"

#define NEWER  "2026-10-21" /* versions of Anthropic's API */
#define OLDER  "2023-06-01"
#define LEVELS "low medium high xhigh max"

/* Output caps are ours: thinking and text of an answer together, well within what each model can. */
#define ANTHROPIC(version, name, samples, levels, thinks, off)                                   \
    {                                                                                            \
        .provider = "anthropic", .api = (version), .prefix = (name), .sampling = (samples),      \
        .temperature_max = 1.0, .effort = (levels), .thinking = (thinks), .thinking_off = (off), \
        .cap_field = "max_tokens", .output_max = 32000, .cache = ABILITY_CACHE_MARKED,           \
        .stream = true, .schema = true                                                           \
    }
#define OPENAI(protocol, cap, most, name, samples, levels)                                    \
    {                                                                                         \
        .provider = "openai", .api = (protocol), .prefix = (name), .sampling = (samples),     \
        .temperature_max = 2.0, .effort = (levels), .cap_field = (cap), .output_max = (most), \
        .cache = ABILITY_CACHE_AUTOMATIC, .stream = true, .schema = true                      \
    }
#define RESPONSES(name, samples, levels) \
    OPENAI("responses", "max_output_tokens", 32000, name, samples, levels)
#define CHAT(name, samples, levels) \
    OPENAI("chat", "max_completion_tokens", 32000, name, samples, levels)
#define GEMINI(name, samples, levels)                                                            \
    {                                                                                            \
        .provider = "gemini", .api = "generateContent", .prefix = (name), .sampling = (samples), \
        .temperature_max = 2.0, .effort = (levels), .cap_field = "maxOutputTokens",              \
        .output_max = 32000, .cache = ABILITY_CACHE_AUTOMATIC, .stream = true, .schema = true    \
    }
/* One server binds answers to a schema, the next refuses the field: only who runs it knows. */
#define COMPAT(protocol, bound)                                                                  \
    {                                                                                            \
        .provider = "compat", .api = (protocol), .prefix = "", .sampling = ABILITY_SAMPLING_YES, \
        .temperature_max = 2.0, .effort = "none minimal " LEVELS /* the server knows which */,   \
        .cap_field = "max_tokens", .output_max = 16384, .schema = (bound)                        \
    }

const ability_demand ability_no_demand = {.temperature = (double)NAN, .top_p = (double)NAN};

static const ability_row families[] = {
    ANTHROPIC(NEWER, "", ABILITY_SAMPLING_NEVER, LEVELS, ABILITY_THINKING_ALWAYS, NULL),
    ANTHROPIC(NEWER, "claude-opus-5-5", ABILITY_SAMPLING_NEVER, LEVELS, ABILITY_THINKING_ALWAYS,
              NULL),
    ANTHROPIC(NEWER, "claude-opus-5", ABILITY_SAMPLING_NEVER, "none " LEVELS, ABILITY_THINKING_ON,
              "disabled"),
    ANTHROPIC(NEWER, "claude-sonnet-5-5", ABILITY_SAMPLING_NEVER, "none " LEVELS,
              ABILITY_THINKING_ON, "between_tools"),
    ANTHROPIC(NEWER, "claude-sonnet-5", ABILITY_SAMPLING_NEVER, "none " LEVELS, ABILITY_THINKING_ON,
              "disabled"),
    ANTHROPIC(NEWER, "claude-opus-4-8", ABILITY_SAMPLING_NEVER, "none " LEVELS,
              ABILITY_THINKING_ASKED, NULL),
    ANTHROPIC(NEWER, "claude-opus-4-7", ABILITY_SAMPLING_NEVER, "none " LEVELS,
              ABILITY_THINKING_ASKED, NULL),
    ANTHROPIC(NEWER, "claude-opus-4-6", ABILITY_SAMPLING_NEVER, "none " LEVELS,
              ABILITY_THINKING_ASKED, NULL),
    ANTHROPIC(NEWER, "claude-sonnet-4-6", ABILITY_SAMPLING_NEVER, "none " LEVELS,
              ABILITY_THINKING_ASKED, NULL),
    ANTHROPIC(NEWER, "claude-opus-4-5", ABILITY_SAMPLING_NEVER, "", ABILITY_THINKING_NONE, NULL),
    ANTHROPIC(NEWER, "claude-sonnet-4-5", ABILITY_SAMPLING_NEVER, "", ABILITY_THINKING_NONE, NULL),
    ANTHROPIC(NEWER, "claude-haiku-4-5", ABILITY_SAMPLING_NEVER, "", ABILITY_THINKING_NONE, NULL),
    ANTHROPIC(OLDER, "", ABILITY_SAMPLING_NEVER, LEVELS, ABILITY_THINKING_ALWAYS, NULL),
    ANTHROPIC(OLDER, "claude-opus-4-6", ABILITY_SAMPLING_WITHOUT_EFFORT, "none " LEVELS,
              ABILITY_THINKING_ASKED, NULL),
    ANTHROPIC(OLDER, "claude-sonnet-4-6", ABILITY_SAMPLING_WITHOUT_EFFORT, "none " LEVELS,
              ABILITY_THINKING_ASKED, NULL),
    ANTHROPIC(OLDER, "claude-opus-4-5", ABILITY_SAMPLING_YES, "", ABILITY_THINKING_NONE, NULL),
    ANTHROPIC(OLDER, "claude-sonnet-4-5", ABILITY_SAMPLING_YES, "", ABILITY_THINKING_NONE, NULL),
    ANTHROPIC(OLDER, "claude-haiku-4-5", ABILITY_SAMPLING_YES, "", ABILITY_THINKING_NONE, NULL),
    RESPONSES("", ABILITY_SAMPLING_NEVER, "low medium high xhigh"),
    RESPONSES("gpt-6", ABILITY_SAMPLING_WITHOUT_EFFORT, "none " LEVELS),
    RESPONSES("gpt-6.2", ABILITY_SAMPLING_NEVER, LEVELS),
    RESPONSES("gpt-6.1-sol", ABILITY_SAMPLING_NEVER, LEVELS),
    RESPONSES("gpt-6-astra", ABILITY_SAMPLING_NEVER, LEVELS),
    RESPONSES("gpt-5.6", ABILITY_SAMPLING_WITHOUT_EFFORT, "none " LEVELS),
    RESPONSES("gpt-5.5", ABILITY_SAMPLING_WITHOUT_EFFORT, "none low medium high xhigh"),
    RESPONSES("gpt-5.5-pro", ABILITY_SAMPLING_NEVER, "medium high xhigh"),
    RESPONSES("gpt-5", ABILITY_SAMPLING_NEVER, "minimal low medium high"),
    RESPONSES("o1", ABILITY_SAMPLING_NEVER, "low medium high"),
    RESPONSES("o3", ABILITY_SAMPLING_NEVER, "low medium high"),
    RESPONSES("o4", ABILITY_SAMPLING_NEVER, "low medium high"),
    OPENAI("chat", "max_completion_tokens", 16384, "gpt-4", ABILITY_SAMPLING_YES, ""),
    OPENAI("responses", "max_output_tokens", 16384, "gpt-4", ABILITY_SAMPLING_YES, ""),
    CHAT("", ABILITY_SAMPLING_NEVER, "low medium high xhigh"),
    CHAT("gpt-6", ABILITY_SAMPLING_WITHOUT_EFFORT, "none " LEVELS),
    CHAT("gpt-6.2", ABILITY_SAMPLING_NEVER, "low medium high xhigh"),
    CHAT("gpt-6.1-sol", ABILITY_SAMPLING_NEVER, "low medium high xhigh"),
    CHAT("gpt-6-astra", ABILITY_SAMPLING_NEVER, LEVELS),
    CHAT("gpt-5.6", ABILITY_SAMPLING_WITHOUT_EFFORT, "none " LEVELS),
    CHAT("gpt-5.5", ABILITY_SAMPLING_WITHOUT_EFFORT, "none low medium high xhigh"),
    CHAT("gpt-5.5-pro", ABILITY_SAMPLING_NEVER, "medium high xhigh"),
    CHAT("gpt-5", ABILITY_SAMPLING_NEVER, "minimal low medium high"),
    CHAT("o1", ABILITY_SAMPLING_NEVER, "low medium high"),
    CHAT("o3", ABILITY_SAMPLING_NEVER, "low medium high"),
    CHAT("o4", ABILITY_SAMPLING_NEVER, "low medium high"),
    GEMINI("", ABILITY_SAMPLING_YES, "low medium high"),
    GEMINI("gemini-4", ABILITY_SAMPLING_IGNORED, "low medium high xhigh"),
    GEMINI("gemini-2", ABILITY_SAMPLING_YES, ""),
    COMPAT("chat", false),
    COMPAT("chat+schema", true),
};

enum { ABILITY_COUNT = sizeof(families) / sizeof(families[0]) };

const ability_row *ability_list(size_t *count)
{
    *count = ABILITY_COUNT;
    return families;
}

/* ---- finding ---- */

static bool fits(const ability_row *f, const char *provider, const char *model, const char *api)
{
    return strcmp(f->provider, provider) == 0 && str_starts(model, f->prefix) &&
           (api == NULL || strcmp(f->api, api) == 0);
}

/* The first row with the longest prefix. */
static const ability_row *find(const char *provider, const char *model, const char *api)
{
    const ability_row *best = NULL;
    for (size_t i = 0; i < ABILITY_COUNT; i++) {
        const ability_row *f = &families[i];
        if (fits(f, provider, model, api) &&
            (best == NULL || strlen(f->prefix) > strlen(best->prefix))) {
            best = f;
        }
    }
    return best;
}

const ability_row *ability_of(const char *name, const char *model)
{
    return find(name, model, NULL);
}

/* ---- demands ---- */

bool ability_demands_nothing(const ability_demand *demand)
{
    return demand->api == NULL && demand->effort == NULL && isnan(demand->temperature) &&
           isnan(demand->top_p) && demand->key == NULL;
}

static bool samples(const ability_demand *demand)
{
    return !isnan(demand->temperature) || !isnan(demand->top_p);
}

static bool has_level(const char *levels, const char *level)
{
    str rest = str_of(levels), word;
    while (str_split(&rest, ' ', &word)) {
        if (str_equal(word, level)) {
            return true;
        }
    }
    return false;
}

static int check_effort(const ability_row *f, const char *model, const char *effort, err *e)
{
    if (effort == NULL || (effort[0] != '\0' && has_level(f->effort, effort))) {
        return 0;
    }
    return f->effort[0] == '\0'
               ? err_set(e, ERR_USAGE, "%s:%s has no effort setting: leave effort '%s' out",
                         f->provider, model, effort)
               : err_set(e, ERR_USAGE, "%s:%s does not take effort '%s' (by %s it takes: %s)",
                         f->provider, model, effort, f->api, f->effort);
}

static int check_sampling(const ability_row *f, const char *model, const ability_demand *demand,
                          err *e)
{
    if (!samples(demand)) {
        return 0;
    }
    if (f->sampling == ABILITY_SAMPLING_NEVER) {
        return err_set(e, ERR_USAGE, "%s:%s refuses temperature and top_p: leave them out",
                       f->provider, model);
    }
    bool off = demand->effort != NULL ? strcmp(demand->effort, "none") == 0
                                      : f->thinking == ABILITY_THINKING_ASKED;
    if (f->sampling == ABILITY_SAMPLING_WITHOUT_EFFORT && !off) {
        return err_set(e, ERR_USAGE, "%s:%s takes temperature and top_p only with effort none",
                       f->provider, model);
    }
    if (demand->temperature > f->temperature_max) {
        return err_set(e, ERR_USAGE, "%s:%s takes a temperature of at most %g, not %g", f->provider,
                       model, f->temperature_max, demand->temperature);
    }
    return 0;
}

static int check(const ability_row *f, const char *model, const ability_demand *demand, err *e)
{
    return check_effort(f, model, demand->effort, e) != 0 ||
                   check_sampling(f, model, demand, e) != 0
               ? -1
               : 0;
}

static int unknown_api(const char *provider, const char *api, err *e)
{
    SCOPED(buf_fini) buf known;
    buf_init(&known, ERR_TEXT_MAX);
    const char *last = "";
    for (size_t i = 0; i < ABILITY_COUNT; i++) {
        bool here = strcmp(families[i].provider, provider) == 0;
        if (here && strstr(buf_text(&known), families[i].api) == NULL) {
            buf_printf(&known, "%s%s", last, families[i].api);
            last = ", ";
        }
    }
    return err_set(e, ERR_USAGE, "%s has no API '%s'; it has: %s", provider, api, buf_text(&known));
}

static void fill_terms(const ability_row *f, const ability_demand *demand, ability_terms *out)
{
    bool ignored = f->sampling == ABILITY_SAMPLING_IGNORED;
    *out = (ability_terms){.family = f,
                           .effort = demand->effort,
                           .temperature = ignored ? (double)NAN : demand->temperature,
                           .top_p = ignored ? (double)NAN : demand->top_p};
    if (ignored && samples(demand)) {
        snprintf(out->degraded, sizeof(out->degraded),
                 "temperature and top_p are not sent: the model takes no notice of them");
    }
}

int ability_settle(const char *provider, const char *model, const ability_demand *demand,
                   ability_terms *out, err *e)
{
    const ability_demand *wanted = demand != NULL ? demand : &ability_no_demand;
    const ability_row *first = find(provider, model, wanted->api);
    if (first == NULL) {
        return unknown_api(provider, wanted->api != NULL ? wanted->api : "", e);
    }
    if (wanted->key != NULL && strcmp(provider, "compat") != 0) {
        return err_set(e, ERR_USAGE, "%s:%s has a key of its own", provider, model);
    }
    for (size_t i = 0; i < ABILITY_COUNT; i++) {
        const ability_row *f = &families[i];
        if (fits(f, provider, model, wanted->api) && strcmp(f->prefix, first->prefix) == 0 &&
            check(f, model, wanted, NULL) == 0) {
            fill_terms(f, wanted, out);
            return 0;
        }
    }
    return check(first, model, wanted, e);
}
