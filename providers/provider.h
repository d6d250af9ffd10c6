/* provider - who answers a stage's question
 *
 * Purpose:   one table of operations a back end; a back end is found by the part of a model id before
 *            the first colon. Local back ends (gold, mock, replay) implement `answer`; those that speak
 *            HTTP describe their protocol.
 * Ownership: provider_create gives an owned object; an answer's text is owned by the caller
 *            (provider_answer_fini).
 * Threads:   one provider object belongs to one task thread.
 * Errors:    an err means that no answer could be got (retry says whether asking again may help).
 *            A refusal, an answer cut short or the end of a recording is an answer with that stop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_PROVIDER_H
#define CE_PROVIDERS_PROVIDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "providers/ability.h"

typedef struct provider provider;

typedef enum provider_stop {
    PROVIDER_STOP_OK,        /* a whole answer */
    PROVIDER_STOP_LENGTH,    /* cut at the token limit */
    PROVIDER_STOP_REFUSED,   /* the model declined */
    PROVIDER_STOP_FILTER,    /* a content filter cut it */
    PROVIDER_STOP_EXHAUSTED, /* a recording or script has no further answer */
    PROVIDER_STOP_COUNT
} provider_stop;
const char *provider_stop_name(provider_stop stop);
/* provider_stop_parse: false on an unknown name. */
bool provider_stop_parse(const char *name, provider_stop *out);

typedef struct provider_turn {
    const char *role; /* user | assistant */
    const char *text;
} provider_turn;

/* An answer of an earlier run, for replay. */
typedef struct provider_recorded {
    const char *stage;
    int64_t index;
    const char *stop;
    const char *text;
} provider_recorded;

/* What a node has beside the conversation; borrowed. */
typedef struct provider_material {
    const char *contract;    /* canonical contract JSON */
    const char *gold_source; /* NULL: the problem has no gold kernel */
    const char *gold_plan;
    const provider_recorded *recorded;
    size_t recorded_count;
} provider_material;

/* A form that answers are bound to where the provider can; elsewhere the prompt alone asks for it. */
typedef struct provider_format {
    const char *name;   /* letters, digits and _ */
    const char *schema; /* JSON schema as text: objects list all their members as required */
} provider_format;

typedef struct provider_request {
    const char *stage;
    int64_t index; /* call number within the stage, from 0 */
    const char *problem;
    int64_t sample;
    const char *system;
    const provider_turn *turns; /* the last one is the user's */
    size_t turn_count;
    const provider_material *material;
    const provider_format *format; /* NULL: free text */
    const atomic_bool *cancelled;  /* NULL: never; ends a wait for a remote model */
    bool impatient;                /* no further try when the provider says: too fast */
} provider_request;

/* What a call leaves behind beside its answer, or instead of one. */
typedef struct provider_trouble {
    int64_t attempts;      /* requests that were sent */
    int64_t unknown_bills; /* attempts without an answer that may have been billed */
    bool terminal;         /* no call with this key would succeed */
    bool throttled;        /* the provider wants fewer calls */
    int64_t hold_ms;       /* it wants none for so long; 0: it does not say */
} provider_trouble;

typedef struct provider_answer {
    char *text; /* never NULL after success */
    provider_stop stop;
    int64_t tokens_in, tokens_out, tokens_cache_read, tokens_cache_write; /* -1: not told */
    double cost_usd;                                                      /* NaN: unknown */
    double latency_ms;
    char *usage; /* how it was asked and what the provider told, as JSON text; NULL: nothing */
    provider_trouble trouble; /* told also when there is no answer */
} provider_answer;
void provider_answer_fini(provider_answer *self);

/* A back end. A local one answers itself; `state` is what open made, and ops without state leave open and
 * close NULL. One that speaks HTTP only says how, in `remote` (providers/remote.h). */
typedef struct provider_ops {
    const char *name;
    int (*open)(const char *model, void **state, err *e);
    void (*close)(void *state);
    int (*answer)(void *state, const provider_request *request, provider_answer *out, err *e);
    const struct remote_ops *remote;
} provider_ops;

/* provider_create opens the back end of a model id such as "gold" or "mock:script.json".
 * ERR_NOT_FOUND names the known ones. The demand (NULL: none) is borrowed for the object's life. */
provider *provider_create(const char *model_id, const ability_demand *demand, err *e);
void provider_destroy(provider **self);
/* How much a call can be, before it is sent. */
typedef struct provider_weight {
    bool paid;            /* false: it is answered here, for nothing */
    int64_t prompt_bytes; /* of the whole question: no tokenizer makes more tokens of it */
    int64_t output_max;   /* tokens that the answer has at most */
} provider_weight;
int provider_weigh(provider *self, const provider_request *request, provider_weight *out, err *e);
/* provider_ask blocks until there is an answer. On failure out is zeroed but for its trouble. */
int provider_ask(provider *self, const provider_request *request, provider_answer *out, err *e);
/* provider_name is the back end's name; provider_model what follows the colon ("" for gold). */
const char *provider_name(const provider *self);
const char *provider_model(const provider *self);
/* provider_binds: answers can be bound to a format. */
bool provider_binds(const provider *self);
/* provider_degraded: what was demanded and is left out; "" when nothing is. */
const char *provider_degraded(const provider *self);

#endif
