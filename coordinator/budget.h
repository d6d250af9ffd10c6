/* budget - money that may be spent, is promised, and is gone
 *
 * Purpose:   a call's worst case is taken out before it is sent and what it came to is booked after, so
 *            that however many nodes ask at once, charged + reserved never passes the limit.
 * Ownership: budget_create gives an owned object.
 * Threads:   one owner (the coordinator's loop).
 * Errors:    none; sums are whole nano-dollars, rounded up.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_BUDGET_H
#define CE_COORDINATOR_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BUDGET_BILLS = 2
}; /* attempts of one call that can be billed: one may be lost before the other */

typedef struct budget budget;

typedef enum budget_answer {
    BUDGET_RESERVED,
    BUDGET_WAIT,   /* calls in flight hold what is missing: some of it may come back */
    BUDGET_REACHED /* it does not fit, and nothing in flight can change that */
} budget_answer;

/* budget_create: limit 0 = none; charged is what earlier parts of the run came to; tasks is how many
 * tasks there are, numbered from 0, each with one call in flight at most. */
budget *budget_create(size_t tasks, double limit_usd, double charged_usd);
void budget_destroy(budget **self);

/* budget_reserve takes the worst case of a task's call out: BUDGET_BILLS attempts at `worst` (NaN: no price
 * is known, which fits no limit). */
budget_answer budget_reserve(budget *self, size_t task, int64_t token, double worst);
/* budget_settle books what the reserved call came to: usd (NaN: unknown, one attempt at its worst) and
 * `bills` further attempts that may have been billed. False: that lease has nothing reserved. */
bool budget_settle(budget *self, size_t task, int64_t token, double usd, int64_t bills);
/* budget_covers: is usd no more than what one attempt of the task's call was reserved at? */
bool budget_covers(const budget *self, size_t task, double usd);
/* budget_holds: does the task have a call in flight? */
bool budget_holds(const budget *self, size_t task);
/* budget_abandon books a reservation whole: nobody knows what became of its call. */
bool budget_abandon(budget *self, size_t task, int64_t token);
/* budget_release gives a reservation back: its call was never sent. */
bool budget_release(budget *self, size_t task, int64_t token);

double budget_limit(const budget *self); /* 0: none */
double budget_charged(const budget *self);
double budget_reserved(const budget *self);

#endif
