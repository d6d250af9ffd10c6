/* catalog - what the coordinator must know of a provider before any call
 *
 * SPDX-License-Identifier: MIT */
#include "providers/catalog.h"

#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "providers/mock.h"

static const catalog_entry entries[] = {
    {"gold", "gold", "the suite's own kernels: calibrates harness and suite", false},
    {"mock", "mock:FILE", "scripted answers and faults from a JSON file", false},
    {"replay", "replay:RUN", "the stored answers of an earlier run again, at no cost", false},
};

enum { ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]) };

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

const catalog_entry *catalog_split(const char *model_id, const char **model, err *e)
{
    size_t size = strcspn(model_id, ":");
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (strlen(entries[i].name) == size && memcmp(entries[i].name, model_id, size) == 0) {
            *model = model_id[size] == ':' ? model_id + size + 1 : "";
            return &entries[i];
        }
    }
    unknown(model_id, e);
    return NULL;
}

int provider_check(const char *model_id, err *e)
{
    const char *model = NULL;
    const catalog_entry *entry = catalog_split(model_id, &model, e);
    if (entry == NULL) {
        return -1;
    }
    bool takes_model = strchr(entry->form, ':') != NULL;
    if (takes_model != (model[0] != '\0')) {
        return err_set(e, ERR_USAGE, "model id '%s' must be written %s", model_id, entry->form);
    }
    return strcmp(entry->name, "mock") == 0 ? mock_check(model, e) : 0;
}

bool provider_is_paid(const char *model_id)
{
    const char *model = NULL;
    const catalog_entry *entry = catalog_split(model_id, &model, NULL);
    return entry != NULL && entry->paid;
}
