/* paid - reserve in memory, register in the store, then grant
 *
 * A reservation is taken out of the budget before the store job that registers the call, and is booked
 * only after the store has committed how it ended: memory never holds more room than the file.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/paid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/budget.h"
#include "coordinator/door.h"
#include "providers/catalog.h"
#include "providers/price.h"
#include "store/charge.h"

_Static_assert((int)BUDGET_BILLS == (int)CHARGE_BILLS_MAX, "memory and file count alike");

enum { BYTES_A_TOKEN = 4 }; /* for ceilings, where a guess will do */

struct paid {
    budget *budget;
    door *door;
    int64_t *paused_until; /* by entrant; 0: not paused */
    bool *unbounded;       /* by entrant: an answer cost more than was reserved for it */
    size_t entrants;
    char budget_text[ERR_TEXT_MAX],
        door_text[ERR_TEXT_MAX]; /* why an entrant was shut; "": none was */
};

paid *paid_create(const run *of)
{
    paid *self = xcalloc(1, sizeof *self);
    const settings *s = &of->settings;
    self->budget = budget_create(sched_size(of->tasks), of->budget_usd, of->charged_usd);
    self->door = door_create(s->ceilings, s->ceiling_count,
                             !s->on_rate_limit || strcmp(s->on_rate_limit, "wait") == 0);
    self->entrants = of->entrant_count;
    self->paused_until = xcalloc(of->entrant_count + 1, sizeof *self->paused_until);
    self->unbounded = xcalloc(of->entrant_count + 1, sizeof *self->unbounded);
    return self;
}

void paid_destroy(paid **self)
{
    if (!*self)
        return;
    budget_destroy(&(*self)->budget);
    door_destroy(&(*self)->door);
    free((*self)->paused_until);
    free((*self)->unbounded);
    free(*self);
    *self = NULL;
}

const door *paid_door(const paid *self)
{
    return self->door;
}

const budget *paid_budget(const paid *self)
{
    return self->budget;
}

const char *paid_stopped(const paid *self, bool *by_budget)
{
    *by_budget = *self->budget_text != '\0';
    if (*by_budget)
        return self->budget_text;
    return *self->door_text ? self->door_text : NULL;
}

/* ---- who waits, and who gives its task back ---- */
static size_t entrant_of(const coord *c, size_t task)
{
    return sched_get(c->options.run->tasks, task)->entrant;
}

static void grant(coord *c, const handout_ack *to, int64_t wait_ms)
{
    message m;
    message_init(&m, MSG_GRANT);
    m.body.grant.ref = (int64_t)to->seq;
    m.body.grant.wait_ms = wait_ms;
    m.body.grant.patient = door_is_patient(c->paid->door);
    coord_send(c, &to->peer, &m);
}

static void shut(coord *c, size_t task, char *reason, const char *text)
{
    const run *now = c->options.run;
    sched_refuse(now->tasks, task);
    sched_hold(now->tasks, entrant_of(c, task), SCHED_SHUT);
    if (*reason)
        return;
    snprintf(reason, ERR_TEXT_MAX, "%s", text);
    log_line(LOG_WARN, "paid", "no further calls of %s in this run: %s",
             now->entrants[entrant_of(c, task)], text);
}

static void pause_until(coord *c, size_t task, int64_t until_ms)
{
    size_t entrant = entrant_of(c, task);
    sched_refuse(c->options.run->tasks, task);
    sched_hold(c->options.run->tasks, entrant, SCHED_PAUSED);
    if (until_ms > c->paid->paused_until[entrant])
        c->paid->paused_until[entrant] = until_ms;
}

void paid_tick(coord *c, int64_t now_ms)
{
    for (size_t i = 0; i < c->paid->entrants; i++) {
        int64_t *until = &c->paid->paused_until[i];
        if (!*until || now_ms < *until)
            continue;
        *until = 0;
        sched_hold(c->options.run->tasks, i, SCHED_OPEN);
    }
}

static void refuse(coord *c, const handout_ack *to, const char *text)
{
    err why = {0};
    err_set(&why, ERR_LIMIT, "%s", text);
    handout_acknowledge(c, to, &why);
}

/* ---- reserving ---- */
typedef struct open_job {
    handout_ack ack;
    size_t task;
    char id[ID_TEXT];
    char *stage, *provider, *model;
    charge_row row;
} open_job;

static void open_job_free(open_job *job)
{
    free(job->stage);
    free(job->provider);
    free(job->model);
    free(job);
}

static int write_open(store_tx *tx, void *arg, err *e)
{
    const open_job *job = arg;
    return charge_open(tx, job->id, &job->row, clock_wall_ms(), e);
}

static void opened(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    open_job *job = arg;
    if (result) {
        budget_release(c->paid->budget, job->task, job->row.token);
        handout_acknowledge(c, &job->ack, e);
        if (e->code == ERR_SYSTEM || e->code == ERR_DENIED)
            coord_stop(c, COORD_BROKEN, e);
    } else {
        grant(c, &job->ack, 0);
    }
    open_job_free(job);
}

static void submit_open(coord *c, const handout_ack *to, size_t task, const struct msg_reserve *m,
                        double worst)
{
    open_job *job = xcalloc(1, sizeof *job);
    job->ack = *to;
    job->task = task;
    memcpy(job->id, sched_get(c->options.run->tasks, task)->id, ID_TEXT);
    job->stage = xstrdup(m->stage);
    job->provider = xstrdup(m->provider);
    job->model = xstrdup(m->model);
    job->row = (charge_row){.stage = job->stage,
                            .number = m->index,
                            .token = m->token,
                            .provider = job->provider,
                            .model = job->model,
                            .worst_usd = worst};
    if (coord_submit(c, write_open, job, opened))
        open_job_free(job);
}

static double worst_of(const struct msg_reserve *m)
{
    catalog_address address;
    if (catalog_locate(m->model, &address, NULL))
        return (double)NAN;
    return price_worst(m->provider, address.model, clock_wall_ms(), m->prompt_bytes, m->output_max);
}

/* True when the call may pass; else its node has been told what to do. */
static bool pass_door(coord *c, const handout_ack *to, size_t task, const door_guest *guest)
{
    const sched *tasks = c->options.run->tasks;
    int64_t now = clock_mono_ms();
    int64_t wait = door_wait(c->paid->door, guest, now);
    const char *reason = wait ? door_reason(c->paid->door, guest) : "";
    if (wait == DOOR_CLOSED) {
        shut(c, task, c->paid->door_text, reason);
        refuse(c, to, reason);
    } else if (wait > PAID_PATIENCE_MS && sched_others_wait(tasks, entrant_of(c, task))) {
        pause_until(c, task, now + wait);
        refuse(c, to, reason);
    } else if (wait) {
        grant(c, to, wait < PAID_PATIENCE_MS ? wait : PAID_PATIENCE_MS);
    }
    return wait == 0;
}

static void budget_is_reached(coord *c, const handout_ack *to, size_t task, double worst)
{
    const budget *b = c->paid->budget;
    char text[ERR_TEXT_MAX];
    snprintf(
        text, sizeof text,
        "the budget of $%.4f is reached: calls so far count for $%.4f, and the next one may cost "
        "$%.4f",
        budget_limit(b), budget_charged(b), worst * BUDGET_BILLS);
    shut(c, task, c->paid->budget_text, text);
    refuse(c, to, text);
}

/* What an entrant's calls are reserved at has proved too little: no budget holds for the next one. */
static bool pass_bound(coord *c, const handout_ack *to, size_t task)
{
    static const char text[] = "an answer cost more than was reserved for it, or a model without a "
                               "price gave it: the budget cannot be kept";
    if (!c->paid->unbounded[entrant_of(c, task)])
        return true;
    shut(c, task, c->paid->budget_text, text);
    refuse(c, to, text);
    return false;
}

void paid_reserve(coord *c, const handout_ack *ack, const struct msg_reserve *m)
{
    err e = {0};
    const door_guest guest = {m->provider, m->model};
    size_t task = handout_holder(c, m->task, m->token, &e);
    if (task != SCHED_NONE && entrant_of(c, task) == SCHED_NONE) {
        err_set(&e, ERR_PROTOCOL, "task %s asks no model", m->task);
        task = SCHED_NONE;
    }
    if (task == SCHED_NONE) {
        handout_acknowledge(c, ack, &e);
        return;
    }
    if (budget_holds(c->paid->budget, task)) {
        err_set(&e, ERR_CONFLICT, "task %s has a call in flight already", m->task);
        handout_acknowledge(c, ack, &e);
        return;
    }
    if (!pass_bound(c, ack, task) || !pass_door(c, ack, task, &guest))
        return;
    double worst = worst_of(m);
    switch (budget_reserve(c->paid->budget, task, m->token, worst)) {
    case BUDGET_WAIT:
        grant(c, ack, PAID_BUDGET_MS);
        return;
    case BUDGET_REACHED:
        budget_is_reached(c, ack, task, worst);
        return;
    case BUDGET_RESERVED:
        break;
    }
    door_enter(c->paid->door, &guest, m->prompt_bytes / BYTES_A_TOKEN, clock_mono_ms());
    submit_open(c, ack, task, m, worst);
}

/* ---- settling ---- */
typedef struct settle_job {
    handout_ack ack;
    size_t task;
    char id[ID_TEXT];
    char *stage;
    int64_t number, token, bills;
} settle_job;

static int write_settle(store_tx *tx, void *arg, err *e)
{
    const settle_job *job = arg;
    const charge_key key = {job->id, job->stage, job->number, job->token};
    return charge_fail(tx, &key, job->bills, clock_wall_ms(), e);
}

static void settled(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    settle_job *job = arg;
    if (!result)
        budget_settle(c->paid->budget, job->task, job->token, 0.0, job->bills);
    handout_acknowledge(c, &job->ack, result ? e : NULL);
    if (result)
        coord_stop(c, COORD_BROKEN, e);
    free(job->stage);
    free(job);
}

static void submit_settle(coord *c, const handout_ack *to, size_t task, const struct msg_settle *m)
{
    settle_job *job = xcalloc(1, sizeof *job);
    *job = (settle_job){.ack = *to,
                        .task = task,
                        .stage = xstrdup(m->stage),
                        .number = m->index,
                        .token = m->token,
                        .bills = m->unknown_bills < BUDGET_BILLS ? m->unknown_bills : BUDGET_BILLS};
    memcpy(job->id, sched_get(c->options.run->tasks, task)->id, ID_TEXT);
    if (coord_submit(c, write_settle, job, settled)) {
        free(job->stage);
        free(job);
    }
}

/* What a failed call means for the next ones. */
static void learn(coord *c, size_t task, const struct msg_settle *m)
{
    const door_guest guest = {m->provider, m->model};
    int64_t now = clock_mono_ms();
    door *d = c->paid->door;
    door_leave(d, &guest, m->attempts > 1 ? m->attempts - 1 : 0, 0);
    if (!m->terminal && !m->throttled)
        return;
    if (m->terminal)
        door_close(d, &guest, m->text);
    else
        door_complain(d, &guest, m->hold_ms, m->text, now);
    int64_t wait = door_wait(d, &guest, now);
    if (wait == DOOR_CLOSED)
        shut(c, task, c->paid->door_text, m->text);
    else
        pause_until(c, task, now + wait);
}

void paid_settle(coord *c, const handout_ack *ack, const struct msg_settle *m)
{
    err e = {0};
    size_t task = handout_holder(c, m->task, m->token, &e);
    if (task == SCHED_NONE || entrant_of(c, task) == SCHED_NONE) {
        handout_acknowledge(c, ack, &e);
        return;
    }
    learn(c, task, m);
    submit_settle(c, ack, task, m);
}

/* A cost that is unknown though all tokens were told: the model that answered has no price. */
static bool is_beyond(const budget *b, size_t task, const call_record *record)
{
    if (isnan(record->cost_usd))
        return record->tokens_in >= 0 && record->tokens_out >= 0;
    return !budget_covers(b, task, record->cost_usd);
}

void paid_answered(coord *c, size_t task, int64_t token, const call_record *record)
{
    const door_guest guest = {record->provider, record->model};
    bool beyond = budget_limit(c->paid->budget) > 0 && budget_holds(c->paid->budget, task) &&
                  is_beyond(c->paid->budget, task, record);
    if (!budget_settle(c->paid->budget, task, token, record->cost_usd, record->unknown_bills))
        return;
    c->paid->unbounded[entrant_of(c, task)] |= beyond;
    door_answered(c->paid->door, &guest);
    door_leave(c->paid->door, &guest, record->attempts > 1 ? record->attempts - 1 : 0,
               record->tokens_out > 0 ? record->tokens_out : 0);
}

void paid_lost(coord *c, size_t task, int64_t token)
{
    budget_abandon(c->paid->budget, task, token);
}
