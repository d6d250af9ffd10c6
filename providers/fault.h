/* fault - why a provider gave no answer
 *
 * Purpose:   the closed list of error classes, and what each means for another try. A refusal, a
 *            filter or an answer cut at its length is no fault: it is an answer.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    fault_to_err turns a fault into the error that a task is given back with.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_FAULT_H
#define CE_PROVIDERS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

typedef enum fault_class {
    FAULT_NONE,
    FAULT_AUTH,         /* the key is missing, wrong or not allowed */
    FAULT_QUOTA,        /* money or a daily quota is used up */
    FAULT_REQUEST,      /* the provider does not accept what we ask; asking again is no use */
    FAULT_RATE_LIMIT,   /* too fast */
    FAULT_OVERLOADED,   /* the provider is full */
    FAULT_TIMEOUT,      /* no answer in time */
    FAULT_BAD_RESPONSE, /* an answer that cannot be read */
    FAULT_SERVER,       /* the provider failed, or cannot be reached */
    FAULT_CLASS_COUNT
} fault_class;
const char *fault_class_name(fault_class class);

typedef struct fault {
    fault_class class;
    bool final;      /* not worth another try, whatever the class allows */
    bool billed;     /* the provider may have done (and billed) the work */
    bool cancelled;  /* we did not want to wait any longer */
    int64_t wait_ms; /* what the provider asked for; -1: nothing */
    char text[ERR_TEXT_MAX];
} fault;

/* fault_set fills class and text (one line of valid UTF-8), and leaves wait_ms at -1. */
void fault_set(fault *self, fault_class class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* fault_may_retry: does asking again make sense? */
bool fault_may_retry(const fault *self);
/* fault_is_terminal: every further call with this key would fail too. */
bool fault_is_terminal(const fault *self);
/* fault_throttles: the provider wants fewer calls. */
bool fault_throttles(const fault *self);
/* fault_of_status is the class that an HTTP status means by itself; FAULT_NONE below 300. */
fault_class fault_of_status(int64_t status);
/* fault_to_err returns -1. */
int fault_to_err(const fault *self, err *e);

#endif
