/* catalog - what the coordinator must know of a provider before any call
 *
 * Purpose:   which providers and named servers exist, whether their calls cost money, whether an id is
 *            usable. What its models take is providers/ability.h, included here. No HTTP.
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
#include "providers/ability.h"

enum { CATALOG_MODEL_MAX = 128, CATALOG_URL_MAX = 512, CATALOG_KEY_MAX = 64 };

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

/* A server that is known by name: NAME:MODEL means compat:MODEL@URL. */
typedef struct catalog_endpoint {
    const char *name, *url;
    const char *key; /* the server's key is CE_<key>_API_KEY; NULL: what the address says */
} catalog_endpoint;
/* catalog_endpoints is the list of those that need no entry in a file. */
const catalog_endpoint *catalog_endpoints(size_t *count);
/* catalog_endpoint_of finds the endpoint of an id such as "groq:llama-3": first among `own`, then among
 * those known to everybody. NULL: the id begins with none. */
const catalog_endpoint *catalog_endpoint_of(const char *model_id, const catalog_endpoint *own,
                                            size_t count);

/* catalog_key_variable: "LAB" → "CE_LAB_API_KEY", the variable with the key of a named endpoint. No other
 * variable can be named, so that a file cannot send any secret of a node anywhere. */
int catalog_key_variable(const char *key, char out[CATALOG_KEY_MAX], err *e);

/* provider_check tells whether an id can be used (a mock script must exist and be valid), and whether
 * its model takes what is demanded. NULL: nothing is. */
int provider_check(const char *model_id, const ability_demand *demand, err *e);
/* provider_is_paid: false for unknown ids, which provider_check refuses. */
bool provider_is_paid(const char *model_id);

#endif
