/* hook - a command of the user's, called when something happened
 *
 * Purpose:   notifications go wherever a person wants them: the command gets the event's name in CE_EVENT, one
 *            sentence in CE_MESSAGE, a JSON document on standard input, and what the caller adds. Its
 *            environment is ours without the keys of providers.
 * Ownership: borrows.
 * Threads:   not from a loop: it waits, HOOK_TIMEOUT_MS at most.
 * Errors:    ERR_NOT_FOUND, ERR_DENIED: it cannot be started; ERR_TIMEOUT: killed; ERR_UNAVAILABLE: it ended with
 *            something else than 0. Nothing depends on it: a caller says so and goes on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_HOOK_H
#define CE_COORDINATOR_HOOK_H

#include "common/err.h"
#include "common/json.h"

enum { HOOK_TIMEOUT_MS = 60000, HOOK_WORDS_MAX = 32, HOOK_MORE_MAX = 8 };

typedef struct hook_event {
    const char *name;    /* "good", "worse", … */
    const char *message; /* one sentence */
    const json *document;
    const char *const
        *more; /* further variables, "CE_RUN=…", HOOK_MORE_MAX at most, NULL-ended; or NULL */
} hook_event;

/* hook_call: `argv` is NULL-ended; `environment` too, or NULL. */
int hook_call(const char *const *argv, const char *const *environment, const hook_event *event,
              err *e);

#endif
