/* catalog - what the coordinator must know of a provider before any call
 *
 * Purpose:   which providers exist, whether their calls cost money, whether an id is usable, what a
 *            family of models takes. No HTTP.
 * Ownership: borrowed constants.
 * Threads:   safe.
 * Errors:    ERR_USAGE / ERR_CONFIG with the known providers or the script's place.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_CATALOG_H
#define CE_PROVIDERS_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { CATALOG_MODEL_MAX = 128, CATALOG_URL_MAX = 512 };

typedef struct catalog_entry {
    const char *name;
    const char *form;    /* how it is written: "mock:FILE" */
    const char *summary; /* one line for the help */
    bool paid;           /* calls cost money */
    bool remote;         /* speaks HTTP: "MODEL@URL" */
} catalog_entry;

/* catalog_entries is the whole list. */
const catalog_entry *catalog_entries(size_t *count);

/* catalog_split: "mock:a.json" → the entry and "a.json". An id without a provider is a model of
 * anthropic. NULL and ERR_USAGE for an unknown provider. */
const catalog_entry *catalog_split(const char *model_id, const char **model, err *e);

/* What follows the colon of a remote provider. */
typedef struct catalog_address {
    char model[CATALOG_MODEL_MAX];
    char url[CATALOG_URL_MAX]; /* base URL without a slash at its end; "" = the provider's own */
} catalog_address;
/* catalog_locate takes "MODEL@URL" apart and checks both. */
int catalog_locate(const char *text, catalog_address *out, err *e);

/* provider_check tells whether an id can be used (a mock script must exist and be valid). */
int provider_check(const char *model_id, err *e);
/* provider_is_paid: false for unknown ids, which provider_check refuses. */
bool provider_is_paid(const char *model_id);

/* What a family of models takes. */
typedef enum catalog_sampling {
    CATALOG_SAMPLING_NEVER,          /* temperature and its like are refused */
    CATALOG_SAMPLING_WITHOUT_EFFORT, /* only with effort `none` */
    CATALOG_SAMPLING_IGNORED,
    CATALOG_SAMPLING_YES
} catalog_sampling;

typedef enum catalog_cache {
    CATALOG_CACHE_NONE,
    CATALOG_CACHE_AUTOMATIC, /* the provider finds shared prefixes itself */
    CATALOG_CACHE_MARKED     /* the request marks what to keep */
} catalog_cache;

typedef struct catalog_family {
    const char *provider;
    const char *prefix; /* of the model id; the longest one counts; "" is any other */
    catalog_sampling sampling;
    const char *effort;    /* levels, separated by spaces; "" = none can be set */
    const char *cap_field; /* how the output cap is called */
    int64_t output_max;    /* what we ask for */
    catalog_cache cache;
    bool responses; /* openai: the Responses API, else Chat Completions */
    bool stream;    /* we ask for a stream */
    bool schema;    /* answers can be bound to a JSON schema */
} catalog_family;
/* catalog_family_of: NULL for a provider that is not remote. */
const catalog_family *catalog_family_of(const char *name, const char *model);
/* catalog_families is the whole list. */
const catalog_family *catalog_families(size_t *count);

#endif
