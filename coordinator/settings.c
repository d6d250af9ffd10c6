/* settings - one table of fields writes, reads and frees them
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/settings.h"

#include <stdlib.h>

#include "common/scoped.h"
#include "wire/fields.h"

#define AT(member) offsetof(settings, member)
#define TEXT(member)                                             \
    {                                                            \
        .key = #member, .type = FIELD_TEXT, .offset = AT(member) \
    }
#define MAYBE(member)                                                    \
    {                                                                    \
        .key = #member, .type = FIELD_TEXT_OR_NULL, .offset = AT(member) \
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

static const field entrant_fields[] = {
    {.key = "name", .type = FIELD_TEXT, .offset = offsetof(settings_entrant, name)},
    {.key = "models", .type = FIELD_OBJECT, .inner = model_fields},
    {.key = NULL},
};

static const field budget_fields[] = {PER_STAGE(FIELD_INT, settings, budgets)};

static const field table[] = {
    NAMES(suites, suite_count),
    MAYBE(suites_dir),
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
    {.key = "budgets", .type = FIELD_OBJECT, .inner = budget_fields},
    MAYBE(out),
    MAYBE(bind),
    MAYBE(python),
    MAYBE(fake),
    NUMBER(slots),
    NUMBER(node_timeout_ms),
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

char *settings_models(const settings_entrant *entrant)
{
    return fields_dump(model_fields, entrant);
}
