/* reply - what has been read of a provider's answer
 *
 * Purpose:   the one form that every back end reads its replies into, whole or event by event, and the
 *            helpers that they share.
 * Ownership: an embedded value; reply_fini frees.
 * Threads:   one user at a time.
 * Errors:    what is wrong with a reply is its fault.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_REPLY_H
#define CE_PROVIDERS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/json.h"
#include "providers/fault.h"
#include "providers/price.h"
#include "providers/provider.h"

enum { REPLY_TEXT_MAX = 1024 * 1024, REPLY_WORD_MAX = 128, REPLY_USAGE_MAX = 8192 };

typedef struct reply {
    buf text;     /* at most REPLY_TEXT_MAX */
    bool stopped; /* the provider said why it ended */
    bool ended;   /* the reply is whole */
    provider_stop stop;
    price_tokens used;
    double cost_usd;             /* told by the provider; NaN: not told */
    json *usage;                 /* as it came; NULL: none */
    char served[REPLY_WORD_MAX]; /* the model that answered */
    char id[REPLY_WORD_MAX];     /* of the reply */
    fault fault;                 /* told inside the reply; class FAULT_NONE: none */
} reply;
void reply_init(reply *self);
void reply_fini(reply *self);

/* reply_stop notes why the model ended. */
void reply_stop(reply *self, provider_stop stop);
/* A provider's word for why a model ended, and what it means. */
typedef struct reply_end {
    const char *word;
    provider_stop stop;
} reply_end;
/* reply_end_by notes the end that a word tells, by a list ended by word NULL; a word that is not in it is
 * an odd stop. Anything but text says nothing. */
void reply_end_by(reply *self, const reply_end *ends, const json *word);
/* reply_odd_stop: an end that nobody can use; the word is kept in the fault's text. */
void reply_odd_stop(reply *self, const char *word);
/* reply_add_text appends to the answer. */
void reply_add_text(reply *self, const char *text);
/* reply_add_parts appends the `text` of each part of a list that has this `type` (NULL: of any) and is no
 * thought. Anything but a list has no parts. */
void reply_add_parts(reply *self, const json *parts, const char *type);
/* reply_keep copies a word such as a model id. */
void reply_keep(char out[REPLY_WORD_MAX], const json *text);
/* reply_keep_usage keeps the raw usage object. */
void reply_keep_usage(reply *self, const json *usage);
/* reply_count is a token count, or `otherwise` when it is not there. */
int64_t reply_count(const json *object, const char *key, int64_t otherwise);
/* reply_split sets the buckets of a provider whose input count includes what its cache read and wrote. */
void reply_split(reply *self, int64_t all_in, int64_t cache_read, int64_t cache_write, int64_t out);

/* A word of an error body (type, code, status) and what it means. */
typedef struct reply_word {
    const char *word;
    fault_class class;
    bool final;
} reply_word;
/* reply_find_word: NULL when no word of the list (ended by word NULL) is `text`. */
const reply_word *reply_find_word(const reply_word *words, const char *text);
/* reply_fail sets the fault by the first of the words said (NULL-ended list, "" = nothing said) that the
 * back end knows, else by the status. A fault told inside a reply comes with status 200. */
void reply_fail(reply *self, int64_t status, const reply_word *words, const char *const *said,
                const char *message);
/* reply_refuse: the provider declines to answer at all; why goes into the text. */
void reply_refuse(reply *self, const char *why);
/* reply_bad: a reply that is not what the protocol promises. */
void reply_bad(reply *self, const char *what);

#endif
