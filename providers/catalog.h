/* catalog - what the coordinator must know of a provider before any call
 *
 * Purpose:   which providers exist, whether their calls cost money, whether an id is usable. No HTTP.
 * Ownership: borrowed constants.
 * Threads:   safe.
 * Errors:    ERR_USAGE / ERR_CONFIG with the known providers or the script's place.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_CATALOG_H
#define CE_PROVIDERS_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

typedef struct catalog_entry {
    const char *name;
    const char *form;    /* how it is written: "mock:FILE" */
    const char *summary; /* one line for the help */
    bool paid;           /* calls cost money */
} catalog_entry;

/* catalog_entries is the whole list. */
const catalog_entry *catalog_entries(size_t *count);

/* catalog_split: "mock:a.json" → the entry and "a.json". NULL and ERR_USAGE for an unknown provider. */
const catalog_entry *catalog_split(const char *model_id, const char **model, err *e);

/* provider_check tells whether an id can be used (a mock script must exist and be valid). */
int provider_check(const char *model_id, err *e);
/* provider_is_paid: false for unknown ids, which provider_check refuses. */
bool provider_is_paid(const char *model_id);

#endif
