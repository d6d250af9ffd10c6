/* remote - one answer from a provider behind HTTP
 *
 * Purpose:   what every HTTP back end shares: address and key, the limit, the call, the one retry layer,
 *            the reading of whole and streamed replies, usage and cost. A back end says in a remote_ops
 *            how its protocol puts a question and how its replies are read.
 * Ownership: remote_open gives an owned object (remote_close). The process has one HTTP client and one
 *            table of limits, made when first needed and ended at exit.
 * Threads:   an object belongs to one task thread; what is shared is safe.
 * Errors:    as provider_ask: texts name class, reason and request id, never a key.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_REMOTE_H
#define CE_PROVIDERS_REMOTE_H

#include "common/buf.h"
#include "common/json.h"
#include "providers/catalog.h"
#include "providers/provider.h"
#include "providers/reply.h"
#include "providers/retry.h"

enum { REMOTE_BODY_MAX = 16 * 1024 * 1024, REMOTE_EVENT_MAX = 4 * 1024 * 1024 };

/* What is put to the model; borrowed. */
typedef struct remote_call {
    const char *model;
    const ability_terms *terms;
    const provider_request *request;
    const json *schema; /* of request->format, where the model can be bound to it; NULL: not */
} remote_call;

/* remote_turn is a turn's text; an empty one, which some refuse, reads "(no answer)". */
const char *remote_turn(const provider_turn *turn);

/* remote_set_sampling puts temperature and top_p, where they are sent, into `object`. */
void remote_set_sampling(json *object, const ability_terms *terms, const char *top_p_key);

/* A back end's protocol. */
typedef struct remote_ops {
    const char *name;
    const char *url;       /* the provider's own base URL; NULL: the id must give one */
    const char *key_field; /* the header that carries the key */
    const char *key_form;  /* what stands before it: "Bearer " */
    /* key_name: the variable with the key for a base URL; *needed: without it nobody will answer. */
    const char *(*key_name)(const char *url, bool *needed);
    const char *version_field; /* a header with the version of the API (family.api), or NULL */
    const char *id_field;      /* the reply's header with the request id */
    /* build makes the body and appends to the base URL. */
    json *(*build)(const remote_call *call, buf *url);
    /* read_whole takes a whole reply (status 200); read_event one event of a stream. read_end says whether a stream that ended here is whole; NULL: `ended` tells. */
    void (*read_whole)(reply *self, const json *body);
    void (*read_event)(reply *self, const char *name, const json *data);
    void (*read_end)(reply *self);
    /* classify reads an error body (NULL: no JSON) that came with that status; it may find that it is
     * an answer after all (a refusal): then it sets stop, stopped and ended. */
    void (*classify)(reply *self, int64_t status, const json *body);
} remote_ops;

/* How long a call may take, and how often it is tried. idle_ms is for streams: the longest silence. */
typedef struct remote_rules {
    int64_t connect_ms, idle_ms, total_ms;
    retry_rules retry;
} remote_rules;
extern const remote_rules remote_default;

typedef struct remote remote;
/* remote_open takes "MODEL[@URL]", settles the demand (NULL: none) and reads the key. Demand and rules are
 * borrowed for the object's life. */
remote *remote_open(const remote_ops *ops, const char *model, const ability_demand *demand,
                    const remote_rules *rules, err *e);
void remote_close(remote **self);
const ability_terms *remote_terms(const remote *self);
/* remote_weigh and remote_ask are their parts of provider_weigh and provider_ask. */
int remote_weigh(remote *self, const provider_request *request, provider_weight *out, err *e);
int remote_ask(remote *self, const provider_request *request, provider_answer *out, err *e);

#endif
