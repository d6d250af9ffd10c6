/* rerun - how to do a run again
 *
 * SPDX-License-Identifier: MIT */
#include "reports/rerun.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"

static json *settings_of(const run_row *run)
{
    json *value = json_parse_tree(run->settings, strlen(run->settings), "settings", NULL);
    return value != NULL ? value : json_new_object();
}

/* ---- entrants ---- */

static void copy_member(json *to, const char *key, const json *from, const char *as)
{
    const json *value = json_get(from, key);
    if (json_typeof(value) == JSON_TYPE_NULL)
        return;
    json *copy = json_copy(value);
    json_set(to, as, &copy);
}

/* How the model of a stage is asked, if it is asked in a way of its own. */
static const json *demand_of(const json *entrant, const char *stage)
{
    const json *list = json_get(entrant, "demands");
    for (size_t i = 0; i < json_size(list); i++)
        if (strcmp(json_str(json_get(json_at(list, i), "stage"), ""), stage) == 0)
            return json_at(list, i);
    return NULL;
}

static json *choice_json(const json *entrant, const char *stage, const json *model)
{
    const json *demand = demand_of(entrant, stage);
    json *out = json_new_object(), *name = json_copy(model), *sampling = json_new_object();
    json_set(out, "model", &name);
    copy_member(out, "api", demand, "api");
    copy_member(out, "effort", demand, "effort");
    copy_member(sampling, "temperature", demand, "temperature");
    copy_member(sampling, "top_p", demand, "top_p");
    if (json_size(sampling) > 0)
        json_set(out, "sampling", &sampling);
    json_destroy(&sampling);
    return out;
}

static json *entrant_json(const json *entrant)
{
    json *out = json_new_object(), *stages = json_new_object();
    const json *escalation = json_get(entrant, "escalation");
    copy_member(out, "name", entrant, "name");
    for (json_iter it = {0}; json_next(json_get(entrant, "models"), &it);) {
        json *choice = choice_json(entrant, it.key, it.value);
        json_set(stages, it.key, &choice);
    }
    json_set(out, "stages", &stages);
    copy_member(out, "budgets", entrant, "budgets");
    if (json_typeof(escalation) == JSON_TYPE_STRING) {
        json *choice = choice_json(entrant, "escalation", escalation);
        json_set(out, "escalation", &choice);
    }
    return out;
}

void rerun_entrants(const run_row *run, buf *out)
{
    SCOPED(json_destroy) json *settings = settings_of(run);
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array();
    const json *entrants = json_get(settings, "entrants");
    for (size_t i = 0; i < json_size(entrants); i++) {
        json *one = entrant_json(json_at(entrants, i));
        json_append(list, &one);
    }
    json_set(root, "entrants", &list);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    buf_puts(out, text);
}

/* ---- command ---- */

void rerun_quote(buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        buf_puts(out, word);
        return;
    }
    buf_puts(out, "'");
    for (const char *p = word; *p != '\0'; p++)
        if (*p == '\'')
            buf_puts(out, "'\\''");
        else
            buf_add(out, p, 1);
    buf_puts(out, "'");
}

/* A list of {"name": …} as one option, joined by commas. */
static void names_option(buf *out, const json *settings, const char *key, const char *option)
{
    const json *list = json_get(settings, key);
    SCOPED(buf_fini) buf names = {0};
    buf_init(&names, out->max);
    for (size_t i = 0; i < json_size(list); i++)
        buf_printf(&names, "%s%s", i > 0 ? "," : "",
                   json_str(json_get(json_at(list, i), "name"), ""));
    if (names.size == 0)
        return;
    buf_printf(out, " --%s ", option);
    rerun_quote(out, buf_text(&names));
}

static void text_option(buf *out, const json *settings, const char *key)
{
    const char *value = json_str(json_get(settings, key), NULL);
    if (value == NULL)
        return;
    buf_printf(out, " --%s ", key);
    rerun_quote(out, value);
}

/* A validation brings its own entrants. */
static void validate_command(const run_row *run, const json *settings, buf *out)
{
    const json *only = json_get(settings, "only");
    buf_puts(out, "ce-coord suite validate");
    names_option(out, settings, "suites", "suite");
    buf_printf(out, " --seed %" PRId64 " --device ", run->seed);
    rerun_quote(out, run->device);
    for (size_t i = 0; i < json_size(only); i++) {
        buf_puts(out, " ");
        rerun_quote(out, json_str(json_get(json_at(only, i), "name"), ""));
    }
}

void rerun_command(const run_row *run, const char *entrants, buf *out)
{
    SCOPED(json_destroy) json *settings = settings_of(run);
    int64_t limit = json_int(json_get(settings, "limit"), 0);
    double target = json_real(json_get(settings, "target"), 1);
    if (run->kind == RUN_VALIDATE) {
        validate_command(run, settings, out);
        return;
    }
    buf_puts(out, "ce-coord eval");
    names_option(out, settings, "suites", "suite");
    names_option(out, settings, "only", "only");
    buf_puts(out, " --entrants ");
    buf_puts(out, entrants);
    buf_printf(out, " --samples %" PRId64 " --seed %" PRId64 " --device ", run->samples, run->seed);
    rerun_quote(out, run->device);
    if (limit > 0)
        buf_printf(out, " --limit %" PRId64, limit);
    text_option(out, settings, "arch");
    text_option(out, settings, "fake");
    if (target != 1)
        buf_printf(out, " --target %.17g", target);
}
