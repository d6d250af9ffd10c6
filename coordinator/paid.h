/* paid - what a node may spend, call by call
 *
 * Purpose:   a paid call is registered in the store before its node may send it. On the way it must pass
 *            the provider's door (closed, on hold, over a ceiling) and fit the budget at its worst case.
 *            Whom that keeps back waits, or gives its task back as it was; its entrant is paused or
 *            shut, so that no other entrant waits for it.
 * Ownership: acts on a coord, which owns the state.
 * Threads:   the loop's.
 * Errors:    what a node hears is an ack with ERR_LIMIT and the reason, or a later time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_PAID_H
#define CE_COORDINATOR_PAID_H

#include <stdbool.h>

#include "coordinator/coord.h"
#include "coordinator/handout.h"
#include "wire/record.h"

enum {
    PAID_PATIENCE_MS = 5 * 1000, /* longer waits give their slot to others that can use it */
    PAID_BUDGET_MS = 500         /* how often a call asks again whether the budget has room */
};

typedef struct paid paid;
paid *paid_create(const run *of);
void paid_destroy(paid **self);

/* Handlers of the messages reserve and settle; ack names who asked. */
void paid_reserve(coord *c, const handout_ack *ack, const struct msg_reserve *m);
void paid_settle(coord *c, const handout_ack *ack, const struct msg_settle *m);
/* paid_answered: an answer is recorded. paid_lost: a lease ended without a result. */
void paid_answered(coord *c, size_t task, int64_t token, const call_record *record);
void paid_lost(coord *c, size_t task, int64_t token);
/* paid_tick lets paused entrants go on when their time has come. */
void paid_tick(coord *c, int64_t now_ms);

/* What the page shows of it. */
const struct door *paid_door(const paid *self);
const struct budget *paid_budget(const paid *self);

/* paid_stopped is why an entrant was shut, the budget before others; NULL: none was. *by_budget tells which. */
const char *paid_stopped(const paid *self, bool *by_budget);

#endif
