/* budget - an array of reservations, one a task
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/budget.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

#define NANO      1e9
#define NANO_MOST 1e18 /* a thousand million dollars: more is no price */
#define NO_TOKEN  0    /* fencing tokens begin at 1 */

typedef struct reservation {
    int64_t token; /* NO_TOKEN: none */
    int64_t nano;
} reservation;

struct budget {
    int64_t limit, charged, reserved; /* nano-dollars; limit 0: none */
    reservation *of;                  /* by task */
    size_t tasks;
};

static int64_t to_nano(double usd)
{
    double nano = isnan(usd) || usd <= 0 ? 0.0 : ceil(usd * NANO);
    return (int64_t)(nano < NANO_MOST ? nano : NANO_MOST);
}

budget *budget_create(size_t tasks, double limit_usd, double charged_usd)
{
    budget *self = xcalloc(1, sizeof *self);
    self->limit = (int64_t)floor((limit_usd * NANO < NANO_MOST ? limit_usd * NANO : NANO_MOST));
    self->charged = to_nano(charged_usd);
    self->tasks = tasks;
    self->of = xcalloc(tasks + 1, sizeof *self->of);
    return self;
}

void budget_destroy(budget **self)
{
    if (!*self)
        return;
    free((*self)->of);
    free(*self);
    *self = NULL;
}

budget_answer budget_reserve(budget *self, size_t task, int64_t token, double worst)
{
    assert(task < self->tasks && self->of[task].token == NO_TOKEN);
    int64_t nano = to_nano(worst) * BUDGET_BILLS;
    if (self->limit && isnan(worst))
        return BUDGET_REACHED;
    if (self->limit && self->charged + self->reserved + nano > self->limit)
        return self->reserved && self->charged + nano <= self->limit ? BUDGET_WAIT : BUDGET_REACHED;
    self->of[task] = (reservation){.token = token, .nano = nano};
    self->reserved += nano;
    return BUDGET_RESERVED;
}

/* Takes the reservation of that lease out; false when there is none. */
static bool take(budget *self, size_t task, int64_t token, int64_t *nano)
{
    assert(task < self->tasks);
    reservation *r = &self->of[task];
    if (r->token == NO_TOKEN || r->token != token)
        return false;
    *nano = r->nano;
    self->reserved -= r->nano;
    *r = (reservation){.token = NO_TOKEN};
    return true;
}

bool budget_settle(budget *self, size_t task, int64_t token, double usd, int64_t bills)
{
    int64_t nano;
    if (!take(self, task, token, &nano))
        return false;
    self->charged += to_nano(usd) + (bills + (isnan(usd) ? 1 : 0)) * (nano / BUDGET_BILLS);
    return true;
}

bool budget_covers(const budget *self, size_t task, double usd)
{
    assert(task < self->tasks);
    return to_nano(usd) <= self->of[task].nano / BUDGET_BILLS;
}

bool budget_holds(const budget *self, size_t task)
{
    assert(task < self->tasks);
    return self->of[task].token != NO_TOKEN;
}

bool budget_abandon(budget *self, size_t task, int64_t token)
{
    int64_t nano;
    if (!take(self, task, token, &nano))
        return false;
    self->charged += nano;
    return true;
}

bool budget_release(budget *self, size_t task, int64_t token)
{
    int64_t nano;
    return take(self, task, token, &nano);
}

double budget_limit(const budget *self)
{
    return (double)self->limit / NANO;
}

double budget_charged(const budget *self)
{
    return (double)self->charged / NANO;
}

double budget_reserved(const budget *self)
{
    return (double)self->reserved / NANO;
}
