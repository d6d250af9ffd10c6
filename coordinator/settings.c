/* settings - one table of fields writes, reads and frees them
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/id.h"
#include "common/scoped.h"
#include "wire/fields.h"

enum { MODEL_TEXT_MAX = 1024 };

#define AT(member) offsetof(settings, member)
#define TEXT(member)                                             \
    {                                                            \
        .key = #member, .type = FIELD_TEXT, .offset = AT(member) \
    }
#define MAYBE(member)                                                    \
    {                                                                    \
        .key = #member, .type = FIELD_TEXT_OR_NULL, .offset = AT(member) \
    }
#define IF_ANY(member)                                                  \
    {                                                                   \
        .key = #member, .type = FIELD_TEXT_IF_ANY, .offset = AT(member) \
    }
#define NUMBER(member)                                          \
    {                                                           \
        .key = #member, .type = FIELD_INT, .offset = AT(member) \
    }
#define PER_STAGE(field_type, record, member)                                                      \
    {.key = "interview",                                                                           \
     .type = (field_type),                                                                         \
     .offset = offsetof(record, member[STAGE_INTERVIEW])},                                         \
        {.key = "codegen",                                                                         \
         .type = (field_type),                                                                     \
         .offset = offsetof(record, member[STAGE_CODEGEN])},                                       \
        {.key = "correctness",                                                                     \
         .type = (field_type),                                                                     \
         .offset = offsetof(record, member[STAGE_CORRECTNESS])},                                   \
        {.key = "performance",                                                                     \
         .type = (field_type),                                                                     \
         .offset = offsetof(record, member[STAGE_PERFORMANCE])},                                   \
        {.key = "polish", .type = (field_type), .offset = offsetof(record, member[STAGE_POLISH])}, \
    {                                                                                              \
        .key = NULL                                                                                \
    }
#define NAMES(member, counter)                                                                \
    {                                                                                         \
        .key = #member, .type = FIELD_LIST, .offset = AT(member), .inner = name_fields,       \
        .count_offset = AT(counter), .size = sizeof(settings_name), .max = SETTINGS_NAMES_MAX \
    }

static const field name_fields[] = {
    {.key = "name", .type = FIELD_TEXT, .offset = offsetof(settings_name, name)},
    {.key = NULL},
};

static const field model_fields[] = {PER_STAGE(FIELD_TEXT, settings_entrant, models)};

static const field entrant_budget_fields[] = {PER_STAGE(FIELD_INT, settings_entrant, budgets)};

static const field entrant_fields[] = {
    {.key = "name", .type = FIELD_TEXT, .offset = offsetof(settings_entrant, name)},
    {.key = "models", .type = FIELD_OBJECT, .inner = model_fields},
    {.key = "budgets", .type = FIELD_OBJECT, .inner = entrant_budget_fields},
    {.key = "escalation",
     .type = FIELD_TEXT_OR_NULL,
     .offset = offsetof(settings_entrant, escalation)},
    {.key = "demands",
     .type = FIELD_LIST,
     .offset = offsetof(settings_entrant, demands),
     .inner = spec_demand_fields,
     .count_offset = offsetof(settings_entrant, demand_count),
     .size = sizeof(spec_demand),
     .max = SPEC_DEMANDS_MAX},
    {.key = NULL},
};

static const field ceiling_fields[] = {
    {.key = "name", .type = FIELD_TEXT, .offset = offsetof(door_ceiling, name)},
    {.key = "requests", .type = FIELD_INT, .offset = offsetof(door_ceiling, requests)},
    {.key = "tokens", .type = FIELD_INT, .offset = offsetof(door_ceiling, tokens)},
    {.key = NULL},
};

static const field table[] = {
    NAMES(suites, suite_count),
    MAYBE(suites_dir),
    IF_ANY(root),
    IF_ANY(level),
    IF_ANY(shots),
    IF_ANY(found),
    {.key = "entrants",
     .type = FIELD_LIST,
     .offset = AT(entrants),
     .inner = entrant_fields,
     .count_offset = AT(entrant_count),
     .size = sizeof(settings_entrant),
     .max = SETTINGS_ENTRANTS_MAX},
    NAMES(only, only_count),
    NUMBER(limit),
    NUMBER(samples),
    NUMBER(seed),
    TEXT(device),
    MAYBE(arch),
    {.key = "target", .type = FIELD_REAL, .offset = AT(target)},
    MAYBE(out),
    MAYBE(bind),
    MAYBE(python),
    MAYBE(fake),
    NUMBER(slots),
    NUMBER(node_timeout_ms),
    {.key = "selftest", .type = FIELD_INT_IF_ANY, .offset = AT(selftest)},
    {.key = "on_rate_limit", .type = FIELD_TEXT_IF_ANY, .offset = AT(on_rate_limit)},
    {.key = "ceilings",
     .type = FIELD_LIST_IF_ANY,
     .offset = AT(ceilings),
     .inner = ceiling_fields,
     .count_offset = AT(ceiling_count),
     .size = sizeof(door_ceiling),
     .max = DOOR_CEILINGS_MAX},
    {.key = NULL},
};

char *settings_write(const settings *self)
{
    return fields_dump(table, self);
}

int settings_read(const char *text, size_t size, settings *out, err *e)
{
    return fields_parse(text, size, "run settings", table, out, sizeof *out, e);
}

void settings_fini(settings *self)
{
    fields_fini(table, self);
}

int64_t settings_calls(const settings_entrant *entrant, stage_id stage)
{
    bool once = stage == STAGE_POLISH; /* it asks one time */
    int64_t budget = entrant->budgets[stage];
    return budget + (entrant->escalation && budget > 0 && !once);
}

static void set_model(json *object, const settings_entrant *entrant, const char *stage,
                      const char *model)
{
    const spec_demand *d = spec_demand_of(entrant->demands, entrant->demand_count, stage);
    SCOPED(buf_fini) buf text;
    buf_init(&text, MODEL_TEXT_MAX);
    buf_puts(&text, model);
    if (d && d->api)
        buf_printf(&text, " api=%s", d->api);
    if (d && d->effort)
        buf_printf(&text, " effort=%s", d->effort);
    if (d && !isnan(d->temperature))
        buf_printf(&text, " temperature=%g", d->temperature);
    if (d && !isnan(d->top_p))
        buf_printf(&text, " top_p=%g", d->top_p);
    json_set_str(object, stage, buf_text(&text));
}

char *settings_models(const settings_entrant *entrant)
{
    SCOPED(json_destroy) json *object = json_new_object();
    for (int i = 0; i < SPEC_STAGES; i++)
        set_model(object, entrant, stage_name((stage_id)i), entrant->models[i]);
    if (entrant->escalation)
        set_model(object, entrant, SPEC_ESCALATION, entrant->escalation);
    return json_dump(object);
}

int settings_check_device(const char *device, err *e)
{
    static const char *const known[] = {"auto", "cuda", "emu", "fake", NULL};
    for (const char *const *at = known; *at; at++) {
        if (strcmp(*at, device) == 0)
            return 0;
    }
    return err_set(e, ERR_USAGE, "--device %s: want auto, cuda, emu or fake", device);
}

int64_t settings_random_seed(void)
{
    uint64_t bits;
    id_random(&bits, sizeof bits);
    return (int64_t)(bits >> 16); /* 48 bits: exact in every reader of JSON */
}
