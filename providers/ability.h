/* ability - what families of models take, by API and version, and how a user's demand is met
 *
 * Purpose:   one table says which sampling, effort, output cap, cache, thinking and structured answers a
 *            model has at an API of its provider. A coordinator plans with it, a node asks by it. What is
 *            not demanded and not taken is left out; what is demanded and refused is an error before any
 *            call.
 * Ownership: borrowed constants; terms borrow the demand's text.
 * Threads:   safe.
 * Errors:    ERR_USAGE: what the model does not take, and what it does.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_ABILITY_H
#define CE_PROVIDERS_ABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* What a user asks of a model beside the question. */
typedef struct ability_demand {
    const char *api;    /* NULL: the first that fits */
    const char *effort; /* NULL: the model's own */
    double temperature; /* NaN: the model's own */
    double top_p;       /* NaN: the model's own */
    const char *key;    /* as catalog_endpoint.key; compat only */
} ability_demand;
extern const ability_demand ability_no_demand;
/* ability_demands_nothing: the model is taken as it comes. */
bool ability_demands_nothing(const ability_demand *demand);

/* ---- what a family of models takes ---- */

typedef enum ability_sampling {
    ABILITY_SAMPLING_NEVER,          /* temperature and its like are refused */
    ABILITY_SAMPLING_WITHOUT_EFFORT, /* only with effort `none` */
    ABILITY_SAMPLING_IGNORED,
    ABILITY_SAMPLING_YES
} ability_sampling;

typedef enum ability_cache {
    ABILITY_CACHE_NONE,
    ABILITY_CACHE_AUTOMATIC, /* the provider finds shared prefixes itself */
    ABILITY_CACHE_MARKED     /* the request marks what to keep */
} ability_cache;

typedef enum ability_thinking {
    ABILITY_THINKING_NONE,   /* or nothing that a request could say about it */
    ABILITY_THINKING_ALWAYS, /* cannot be switched off */
    ABILITY_THINKING_ON,     /* unless it is switched off */
    ABILITY_THINKING_ASKED   /* only when the request says so */
} ability_thinking;

/* One row: a family of models at one API of its provider, or one version of it. */
typedef struct ability_row {
    const char *provider, *api;
    const char *prefix; /* of the model id; the longest one counts; "" is any other */
    ability_sampling sampling;
    double temperature_max;
    const char *
        effort; /* levels, separated by blanks; `none` switches thinking off; "" = none can be set */
    ability_thinking thinking;
    const char *thinking_off; /* anthropic: type of the `thinking` object that switches it off */
    const char *cap_field;    /* how the output cap is called */
    int64_t output_max;       /* what we ask for */
    ability_cache cache;
    bool stream; /* we ask for a stream */
    bool schema; /* answers can be bound to a JSON schema */
} ability_row;
/* ability_of: the row of a model without demands; NULL for a provider that is not remote. */
const ability_row *ability_of(const char *name, const char *model);
/* ability_list is the whole list. */
const ability_row *ability_list(size_t *count);

/* How a model is asked: the row, and what of a demand is sent. */
typedef struct ability_terms {
    const ability_row *family;
    const char *effort; /* borrowed from the demand; NULL: not sent */
    double temperature; /* NaN: not sent */
    double top_p;       /* NaN: not sent */
    char degraded[160]; /* what was demanded and is left out, and why; "" */
} ability_terms;
/* ability_settle: among the rows with the longest fitting prefix, the first whose API takes the demand.
 * ERR_USAGE says what the model does not take. NULL: nothing is demanded. */
int ability_settle(const char *provider, const char *model, const ability_demand *demand,
                   ability_terms *out, err *e);

#endif
