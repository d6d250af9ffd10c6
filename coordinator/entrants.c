/* entrants - who competes: from the command line and from a file
 *
 * An entrant of the file is read on top of its own `model`, `effort`, `sampling` and `api`; a stage that
 * names a model of its own has settings of its own. Names of servers are written out here, so that a
 * run's record says where each question went.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/entrants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "common/yaml.h"
#include "providers/catalog.h"

enum { ENDPOINTS_MAX = 32, NAME_ROOM = 1024, ESCALATION = SPEC_STAGES };

/* Default model calls a stage: docs/architecture.md. */
static const int64_t budgets[SPEC_STAGES] = {2, 3, 3, 3, 1};

/* A model as it is asked, before it is written into the settings. */
typedef struct choice {
    const char *model; /* as written; NULL: none */
    ability_demand demand;
} choice;

typedef struct maker {
    settings *out;
    catalog_endpoint own[ENDPOINTS_MAX]; /* texts borrowed from the file's document */
    size_t own_count;
} maker;

/* ---- one model ---- */

/* "groq:llama-3" → "compat:llama-3@https://…"; others as they are. */
static char *written_out(const maker *m, const char *model, const char **key)
{
    const catalog_endpoint *at = catalog_endpoint_of(model, m->own, m->own_count);
    if (!at)
        return xstrdup(model);
    if (at->key)
        *key = at->key;
    return xasprintf("compat:%s@%s", strchr(model, ':') + 1, at->url);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void add_demand(settings_entrant *entrant, const char *stage, const ability_demand *demand)
{
    if (ability_demands_nothing(demand))
        return;
    entrant->demands =
        xreallocarray(entrant->demands, entrant->demand_count + 1, sizeof *entrant->demands);
    entrant->demands[entrant->demand_count++] = (spec_demand){.stage = xstrdup(stage),
                                                              .api = copy(demand->api),
                                                              .effort = copy(demand->effort),
                                                              .key = copy(demand->key),
                                                              .temperature = demand->temperature,
                                                              .top_p = demand->top_p};
}

/* Writes a choice into slot (a stage, or ESCALATION) of an entrant and checks it. */
static int put(const maker *m, settings_entrant *entrant, size_t slot, const choice *chosen, err *e)
{
    ability_demand demand = chosen->demand;
    char *model = written_out(m, chosen->model, &demand.key);
    char **place = slot == ESCALATION ? &entrant->escalation : &entrant->models[slot];
    *place = model;
    add_demand(entrant, slot == ESCALATION ? SPEC_ESCALATION : stage_name((stage_id)slot), &demand);
    if (slot == ESCALATION && strncmp(model, "replay:", strlen("replay:")) == 0)
        return err_set(e, ERR_USAGE, "a recording cannot be the escalation");
    return provider_check(model, &demand, e);
}

static settings_entrant *add_entrant(maker *m, const char *name, err *e)
{
    settings *s = m->out;
    if (s->entrant_count == SETTINGS_ENTRANTS_MAX) {
        err_set(e, ERR_USAGE, "a run has at most %d entrants", SETTINGS_ENTRANTS_MAX);
        return NULL;
    }
    for (size_t i = 0; i < s->entrant_count; i++) {
        if (strcmp(s->entrants[i].name, name) == 0) {
            err_set(e, ERR_USAGE, "entrant %s is given twice (for more attempts use --samples)",
                    name);
            return NULL;
        }
    }
    s->entrants = xreallocarray(s->entrants, s->entrant_count + 1, sizeof *s->entrants);
    settings_entrant *entrant = &s->entrants[s->entrant_count++];
    *entrant = (settings_entrant){.name = xstrdup(name)};
    memcpy(entrant->budgets, budgets, sizeof budgets);
    return entrant;
}

/* ---- the command line ---- */

/* A model that is asked over the network: --effort and --temperature mean those. */
static bool is_asked(const maker *m, const char *model)
{
    const char *rest = NULL;
    const catalog_entry *entry = catalog_split(model, &rest, NULL);
    return (entry && entry->remote) || catalog_endpoint_of(model, m->own, m->own_count);
}

static choice chosen_by(const maker *m, const entrants_wanted *wanted, const char *model)
{
    choice chosen = {.model = model, .demand = ability_no_demand};
    if (is_asked(m, model)) {
        chosen.demand.effort = wanted->effort;
        chosen.demand.temperature = wanted->temperature;
    }
    return chosen;
}

/* On the board an entrant that is asked otherwise has another name. */
static char *name_of(const maker *m, const entrants_wanted *wanted, const char *model)
{
    SCOPED(buf_fini) buf name;
    buf_init(&name, NAME_ROOM);
    buf_puts(&name, model);
    if (is_asked(m, model) && wanted->effort)
        buf_printf(&name, " effort=%s", wanted->effort);
    if (is_asked(m, model) && !isnan(wanted->temperature))
        buf_printf(&name, " temperature=%g", wanted->temperature);
    return buf_take(&name);
}

/* The models that --stage names, by stage. */
static int read_stages(const entrants_wanted *wanted, const char *models[SPEC_STAGES], err *e)
{
    for (size_t i = 0; i < wanted->stage_count; i++) {
        const char *text = wanted->stages[i];
        const char *model = strchr(text, '=');
        SCOPED(scoped_free) char *name = model ? xstrndup(text, (size_t)(model - text)) : NULL;
        int stage = name ? stage_parse(name) : -1;
        if (stage < 0)
            return err_set(e, ERR_USAGE,
                           "--stage %s: write STAGE=P:M, with a stage of interview, codegen, "
                           "correctness, performance, polish",
                           text);
        models[stage] = model + 1;
    }
    return 0;
}

static int take_model(maker *m, const entrants_wanted *wanted, const char *model,
                      const char *const stages[SPEC_STAGES], err *e)
{
    SCOPED(scoped_free) char *name = name_of(m, wanted, model);
    settings_entrant *entrant = add_entrant(m, name, e);
    if (!entrant)
        return -1;
    for (size_t k = 0; k < SPEC_STAGES; k++) {
        const choice chosen = chosen_by(m, wanted, stages[k] ? stages[k] : model);
        if (put(m, entrant, k, &chosen, e))
            return -1;
    }
    if (!wanted->escalate)
        return 0;
    const choice chosen = chosen_by(m, wanted, wanted->escalate);
    return put(m, entrant, ESCALATION, &chosen, e);
}

static int take_models(maker *m, const entrants_wanted *wanted, err *e)
{
    const char *stages[SPEC_STAGES] = {NULL};
    bool alone =
        wanted->stage_count || wanted->effort || wanted->escalate || !isnan(wanted->temperature);
    if (!wanted->model_count && alone)
        return err_set(
            e, ERR_USAGE,
            "--stage, --effort, --temperature and --escalate are about --model-id: say it "
            "in the file %s",
            wanted->file);
    if (read_stages(wanted, stages, e))
        return -1;
    for (size_t i = 0; i < wanted->model_count; i++) {
        if (take_model(m, wanted, wanted->models[i], stages, e))
            return -1;
    }
    return 0;
}

/* ---- the file ---- */

static int maybe_text(const json_cursor *c, const char *key, const char **out, err *e)
{
    json_cursor member;
    if (!json_maybe(c, key, &member))
        return 0;
    if (json_want_str(&member, out, e))
        return -1;
    return **out ? 0 : json_fail(&member, e, "is empty");
}

static int maybe_real(const json_cursor *c, const char *key, double max, double *out, err *e)
{
    json_cursor member;
    if (!json_maybe(c, key, &member))
        return 0;
    if (json_want_real(&member, out, e))
        return -1;
    return *out >= 0 && *out <= max ? 0 : json_fail(&member, e, "want a number from 0 to %g", max);
}

static int read_sampling(const json_cursor *c, ability_demand *out, err *e)
{
    static const char *const keys[] = {"temperature", "top_p", NULL};
    json_cursor sampling;
    if (!json_maybe(c, "sampling", &sampling))
        return 0;
    return json_only_keys(&sampling, keys, e) ||
                   maybe_real(&sampling, "temperature", 2, &out->temperature, e) ||
                   maybe_real(&sampling, "top_p", 1, &out->top_p, e)
               ? -1
               : 0;
}

/* model, effort, sampling, api of an object, on top of what *out says; a model of its own starts anew. */
static int read_choice(const json_cursor *c, choice *out, err *e)
{
    const char *model = NULL;
    if (maybe_text(c, "model", &model, e))
        return -1;
    if (model)
        *out = (choice){.model = model, .demand = ability_no_demand};
    return maybe_text(c, "effort", &out->demand.effort, e) ||
                   maybe_text(c, "api", &out->demand.api, e) || read_sampling(c, &out->demand, e)
               ? -1
               : 0;
}

/* A model id as text, or an object. */
static int read_place(const json_cursor *c, choice *out, err *e)
{
    static const char *const keys[] = {"model", "effort", "sampling", "api", NULL};
    if (json_typeof(c->value) == JSON_TYPE_STRING) {
        *out = (choice){.model = json_str(c->value, ""), .demand = ability_no_demand};
        return 0;
    }
    return json_only_keys(c, keys, e) || read_choice(c, out, e) ? -1 : 0;
}

static int put_at(const maker *m, const json_cursor *c, settings_entrant *entrant, size_t slot,
                  const choice *chosen, err *e)
{
    err why = {0};
    if (!chosen->model)
        return json_fail(c, e, "\"model\" is missing");
    return put(m, entrant, slot, chosen, &why) ? json_fail(c, e, "%s", why.text) : 0;
}

static int read_stage_table(const maker *m, const json_cursor *c, const choice *base,
                            settings_entrant *entrant, err *e)
{
    static const char *const keys[] = {"interview",   "codegen", "correctness",
                                       "performance", "polish",  NULL};
    json_cursor stages, place;
    bool given = json_maybe(c, "stages", &stages);
    if (given && json_only_keys(&stages, keys, e))
        return -1;
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        choice chosen = *base;
        bool own = given && json_maybe(&stages, keys[i], &place);
        if (own && read_place(&place, &chosen, e))
            return -1;
        if (put_at(m, own ? &place : c, entrant, i, &chosen, e))
            return -1;
    }
    return 0;
}

static int read_budgets(const json_cursor *c, settings_entrant *entrant, err *e)
{
    static const char *const keys[] = {"interview",   "codegen", "correctness",
                                       "performance", "polish",  NULL};
    json_cursor table, member;
    if (!json_maybe(c, "budgets", &table))
        return 0;
    if (json_only_keys(&table, keys, e))
        return -1;
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        if (json_maybe(&table, keys[i], &member) &&
            json_want_int(&member, 0, ENTRANTS_BUDGET_MAX, &entrant->budgets[i], e))
            return -1;
    }
    return 0;
}

static int read_escalation(const maker *m, const json_cursor *c, settings_entrant *entrant, err *e)
{
    json_cursor place;
    choice chosen = {.model = NULL, .demand = ability_no_demand};
    if (!json_maybe(c, "escalation", &place))
        return 0;
    return read_place(&place, &chosen, e) || put_at(m, &place, entrant, ESCALATION, &chosen, e) ? -1
                                                                                                : 0;
}

static int read_name(maker *m, const json_cursor *c, settings_entrant **out, err *e)
{
    json_cursor member;
    const char *name = NULL;
    err why = {0};
    if (json_member(c, "name", &member, e) || json_want_str(&member, &name, e))
        return -1;
    if (!*name || strlen(name) > ENTRANTS_NAME_MAX || name[strcspn(name, "\n\r\t|")])
        return json_fail(&member, e, "a name has 1 to %d bytes, on one line and without |",
                         ENTRANTS_NAME_MAX);
    *out = add_entrant(m, name, &why);
    return *out ? 0 : json_fail(&member, e, "%s", why.text);
}

static int read_entrant(maker *m, const json_cursor *c, err *e)
{
    static const char *const keys[] = {"name",   "model",   "effort",     "sampling", "api",
                                       "stages", "budgets", "escalation", NULL};
    settings_entrant *entrant = NULL;
    choice base = {.model = NULL, .demand = ability_no_demand};
    return json_only_keys(c, keys, e) || read_name(m, c, &entrant, e) || read_choice(c, &base, e) ||
                   read_stage_table(m, c, &base, entrant, e) || read_budgets(c, entrant, e) ||
                   read_escalation(m, c, entrant, e)
               ? -1
               : 0;
}

/* ---- servers of the file ---- */

static int check_endpoint(const json_cursor *c, const catalog_endpoint *at, err *e)
{
    size_t count = 0;
    const catalog_entry *known = catalog_entries(&count);
    char variable[CATALOG_KEY_MAX];
    err why = {0};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i].name, at->name) == 0)
            return json_fail(c, e, "%s is a provider already: give the server another name",
                             at->name);
    }
    if (at->name[strspn(at->name, "abcdefghijklmnopqrstuvwxyz0123456789.-_")])
        return json_fail(c, e, "a server's name has small letters, digits, '.', '-' and '_'");
    if (at->key && catalog_key_variable(at->key, variable, &why))
        return json_fail(c, e, "%s", why.text);
    SCOPED(scoped_free) char *id = xasprintf("compat:m@%s", at->url);
    return provider_check(id, NULL, &why) ? json_fail(c, e, "%s", why.text) : 0;
}

static int read_endpoint(maker *m, const json_cursor *c, err *e)
{
    static const char *const keys[] = {"url", "key", NULL};
    catalog_endpoint at = {.name = c->key};
    json_cursor member;
    if (json_only_keys(c, keys, e) || json_member(c, "url", &member, e) ||
        json_want_str(&member, &at.url, e) || maybe_text(c, "key", &at.key, e) ||
        check_endpoint(c, &at, e))
        return -1;
    m->own[m->own_count++] = at;
    return 0;
}

static int read_endpoints(maker *m, const json_cursor *root, err *e)
{
    json_cursor table, entry;
    size_t count = 0;
    if (!json_maybe(root, "endpoints", &table))
        return 0;
    if (json_want_object(&table, ENDPOINTS_MAX, &count, e))
        return -1;
    for (size_t i = 0; i < count; i++) {
        json_entry(&table, i, &entry);
        if (read_endpoint(m, &entry, e))
            return -1;
    }
    return 0;
}

static int read_entrants(maker *m, const json_cursor *root, err *e)
{
    json_cursor list, entrant;
    size_t count = 0;
    if (!json_maybe(root, "entrants", &list))
        return 0;
    if (json_want_array(&list, SETTINGS_ENTRANTS_MAX, &count, e))
        return -1;
    for (size_t i = 0; i < count; i++) {
        json_element(&list, i, &entrant);
        if (read_entrant(m, &entrant, e))
            return -1;
    }
    return 0;
}

/* ---- both ---- */

int entrants_make(const entrants_wanted *wanted, settings *out, err *e)
{
    static const char *const keys[] = {"endpoints", "entrants", NULL};
    maker m = {.out = out};
    SCOPED(json_doc_destroy) json_doc *file = NULL;
    json_cursor root = {0};
    if (wanted->file) {
        file = yaml_load(wanted->file, e);
        if (!file)
            return err_wrap(e, "--entrants");
        root = json_root(file);
        if (json_only_keys(&root, keys, e) || read_endpoints(&m, &root, e))
            return -1;
    }
    if (take_models(&m, wanted, e) || (file && read_entrants(&m, &root, e)))
        return -1;
    return out->entrant_count
               ? 0
               : err_set(e, ERR_USAGE, "%s names no entrant, and there is no --model-id",
                         wanted->file);
}
