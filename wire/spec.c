/* spec - what a leased task is, as JSON
 *
 * SPDX-License-Identifier: MIT */
#include "wire/spec.h"

#include <string.h>

#define AT(member) offsetof(task_spec, member)
#define TEXT(member)                                             \
    {                                                            \
        .key = #member, .type = FIELD_TEXT, .offset = AT(member) \
    }
#define HASH(member)                                             \
    {                                                            \
        .key = #member, .type = FIELD_HASH, .offset = AT(member) \
    }
#define INT(member)                                             \
    {                                                           \
        .key = #member, .type = FIELD_INT, .offset = AT(member) \
    }
#define PER_STAGE(member, field_type)                                                          \
    {.key = "interview", .type = (field_type), .offset = AT(member[STAGE_INTERVIEW])},         \
        {.key = "codegen", .type = (field_type), .offset = AT(member[STAGE_CODEGEN])},         \
        {.key = "correctness", .type = (field_type), .offset = AT(member[STAGE_CORRECTNESS])}, \
        {.key = "performance", .type = (field_type), .offset = AT(member[STAGE_PERFORMANCE])}, \
        {.key = "polish", .type = (field_type), .offset = AT(member[STAGE_POLISH])},           \
    {                                                                                          \
        .key = NULL                                                                            \
    }

static const char *const stage_names[SPEC_STAGES] = {"interview", "codegen", "correctness",
                                                     "performance", "polish"};

/* A contract task has no entrant and no models: its texts are null. */
static const field model_fields[] = {PER_STAGE(models, FIELD_TEXT_OR_NULL)};
static const field budget_fields[] = {PER_STAGE(budgets, FIELD_INT)};

static const field replay_fields[] = {
    {.key = "stage", .type = FIELD_TEXT, .offset = offsetof(spec_replay, stage)},
    {.key = "index", .type = FIELD_INT, .offset = offsetof(spec_replay, index)},
    {.key = "answer", .type = FIELD_HASH, .offset = offsetof(spec_replay, answer)},
    {.key = "stop", .type = FIELD_TEXT, .offset = offsetof(spec_replay, stop)},
    {.key = NULL},
};

const field spec_demand_fields[] = {
    {.key = "stage", .type = FIELD_TEXT, .offset = offsetof(spec_demand, stage)},
    {.key = "api", .type = FIELD_TEXT_OR_NULL, .offset = offsetof(spec_demand, api)},
    {.key = "effort", .type = FIELD_TEXT_OR_NULL, .offset = offsetof(spec_demand, effort)},
    {.key = "key", .type = FIELD_TEXT_OR_NULL, .offset = offsetof(spec_demand, key)},
    {.key = "temperature", .type = FIELD_REAL, .offset = offsetof(spec_demand, temperature)},
    {.key = "top_p", .type = FIELD_REAL, .offset = offsetof(spec_demand, top_p)},
    {.key = NULL},
};

static const field spec_fields[] = {
    TEXT(kind),
    TEXT(run),
    TEXT(problem),
    TEXT(suite),
    INT(sample),
    TEXT(contract),
    HASH(contract_hash),
    HASH(prompt),
    HASH(reference),
    TEXT(reference_file),
    HASH(gold_source),
    HASH(gold_plan),
    {.key = "entrant", .type = FIELD_TEXT_OR_NULL, .offset = AT(entrant)},
    {.key = "models", .type = FIELD_OBJECT, .inner = model_fields},
    {.key = "budgets", .type = FIELD_OBJECT, .inner = budget_fields},
    {.key = "escalation", .type = FIELD_TEXT_OR_NULL, .offset = AT(escalation)},
    {.key = "demands",
     .type = FIELD_LIST,
     .offset = AT(demands),
     .inner = spec_demand_fields,
     .count_offset = AT(demand_count),
     .size = sizeof(spec_demand),
     .max = SPEC_DEMANDS_MAX},
    INT(seed),
    TEXT(device),
    {.key = "arch", .type = FIELD_TEXT_OR_NULL, .offset = AT(arch)},
    {.key = "target", .type = FIELD_REAL, .offset = AT(target)},
    {.key = "sanitize", .type = FIELD_INT_IF_ANY, .offset = AT(sanitize)},
    {.key = "trial", .type = FIELD_TEXT_IF_ANY, .offset = AT(trial)},
    {.key = "replay",
     .type = FIELD_LIST,
     .offset = AT(replay),
     .inner = replay_fields,
     .count_offset = AT(replay_count),
     .size = sizeof(spec_replay),
     .max = SPEC_REPLAY_MAX},
    {.key = NULL},
};

const char *stage_name(stage_id stage)
{
    return stage_names[stage];
}

int stage_parse(const char *name)
{
    for (int i = 0; i < SPEC_STAGES; i++) {
        if (strcmp(stage_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

const spec_demand *spec_demand_of(const spec_demand *list, size_t count, const char *stage)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].stage, stage) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

char *task_spec_write(const task_spec *self)
{
    return fields_dump(spec_fields, self);
}

int task_spec_read(const char *text, size_t size, task_spec *out, err *e)
{
    return fields_parse(text, size, "task spec", spec_fields, out, sizeof(*out), e);
}

void task_spec_fini(task_spec *self)
{
    fields_fini(spec_fields, self);
}
