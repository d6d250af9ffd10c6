/* door - whether a provider may be asked now, over all nodes of a run
 *
 * Purpose:   what one node learns of a provider holds for all: a wait that it asked for, a used-up
 *            quota. And the ceilings that the user set: calls and tokens a minute for the whole run.
 * Ownership: door_create copies the ceilings; borrowed texts live as long as the door.
 * Threads:   one owner (the coordinator's loop). Time is a parameter.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_DOOR_H
#define CE_COORDINATOR_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum {
    DOOR_CEILINGS_MAX = 32,
    DOOR_HOLD_MIN_MS = 5 * 1000,       /* after a first complaint without a time; doubles */
    DOOR_HOLD_MAX_MS = 15 * 60 * 1000, /* a longer wait closes the door for the run */
    DOOR_COMPLAINTS_MAX = 8            /* in a row, without an answer between them */
};
#define DOOR_CLOSED INT64_MAX

typedef struct door door;

/* A ceiling: "openai" or "openai:gpt-4o" and what it may get a minute, all nodes together; 0: no ceiling. */
typedef struct door_ceiling {
    char *name;
    int64_t requests, tokens;
} door_ceiling;
/* door_read_ceiling takes "NAME=REQUESTS[,TOKENS]"; the name is fresh text. */
int door_read_ceiling(const char *text, door_ceiling *out, err *e);

/* door_create: patient = wait when a provider says "too fast"; else its door closes at the first such. */
door *door_create(const door_ceiling *ceilings, size_t count, bool patient);
void door_destroy(door **self);
bool door_is_patient(const door *self);

/* Whom a call is for: "openai" and "gpt-4o@http://…". */
typedef struct door_guest {
    const char *provider, *model;
} door_guest;
/* door_wait: 0 = a call may go now; ms until it is worth asking again; DOOR_CLOSED. */
int64_t door_wait(door *self, const door_guest *to, int64_t now_ms);
/* door_reason is why door_wait was not 0, in words. */
const char *door_reason(const door *self, const door_guest *to);
/* How a place stands: wait_ms as of door_wait, without the ceilings; reason is in words. */
typedef struct door_state {
    door_guest guest;
    int64_t wait_ms;
    const char *reason;
} door_state;
/* door_at is the i-th place that was asked for; false past the last. */
bool door_at(const door *self, size_t i, int64_t now_ms, door_state *out);
/* door_enter counts a call of about so many tokens against the ceilings; door_leave counts what it took
 * beyond that: further attempts, more (or fewer) tokens. */
void door_enter(door *self, const door_guest *to, int64_t tokens, int64_t now_ms);
void door_leave(door *self, const door_guest *to, int64_t attempts_more, int64_t tokens_more);
/* door_answered: the provider answers (again). */
void door_answered(door *self, const door_guest *to);
/* door_complain: it wants fewer calls, or none for hold_ms (0: it does not say). */
void door_complain(door *self, const door_guest *to, int64_t hold_ms, const char *text,
                   int64_t now_ms);
/* door_close: nothing more from this provider at this address in this run. */
void door_close(door *self, const door_guest *to, const char *text);

#endif
