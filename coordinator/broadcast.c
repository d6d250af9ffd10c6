/* broadcast - memory to JSON, on a timer
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/broadcast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/budget.h"
#include "coordinator/door.h"
#include "coordinator/paid.h"
#include "coordinator/reach.h"
#include "coordinator/service.h"

struct broadcast {
    coord *of;
    dashboard *page;
    int timer;
    char run[ID_TEXT]; /* what the next two are of */
    int64_t started_ms;
    size_t done_before;  /* tasks that earlier parts of the run ended */
    int64_t expected_ms; /* when the next tick is due */
};

/* ---- the run ---- */

static void set_counts(json *out, const sched_counts *work)
{
    json_set_int(out, "planned", (int64_t)work->planned);
    json_set_int(out, "waiting", (int64_t)work->state[SCHED_WAITING]);
    json_set_int(out, "leased", (int64_t)work->state[SCHED_LEASED]);
    json_set_int(out, "done", (int64_t)work->state[SCHED_DONE]);
    json_set_int(out, "failed", (int64_t)work->state[SCHED_FAILED]);
    json_set_int(out, "correct", (int64_t)work->correct);
}

/* Seconds, so that the same text stays the same between two looks. */
static void set_times(const broadcast *self, json *out, const sched_counts *work, int64_t now_ms)
{
    int64_t elapsed = (now_ms - self->started_ms) / 1000 * 1000;
    size_t done = sched_ended(work) - self->done_before, left = work->planned - sched_ended(work);
    json_set_int(out, "elapsed_ms", elapsed);
    if (done > 0)
        json_set_int(out, "left_ms", elapsed / (int64_t)done * (int64_t)left);
    else
        json_set_null(out, "left_ms");
}

static json *flying_of(const coord *c)
{
    json *list = json_new_array();
    const run *r = c->options.run;
    lease held;
    for (size_t i = 0; i < BROADCAST_FLYING && lease_at(c->leases, i, &held); i++) {
        const sched_task *task = sched_get(r->tasks, held.task);
        json *one = json_new_object();
        json_set_str(one, "task", task->id);
        json_set_str(one, "problem", task->problem);
        json_set_str(one, "entrant",
                     task->entrant != SCHED_NONE ? r->entrants[task->entrant] : NULL);
        json_set_str(one, "stage", sched_stage_name(task->stage));
        json_set_str(one, "node", nodes_get(c->nodes, held.node)->name);
        json_append(list, &one);
    }
    return list;
}

static void note(json *list, const char *text)
{
    json *value = json_new_str(text);
    json_append(list, &value);
}

/* Why tasks wait that no connected node could run. */
static void note_waits(json *list, const coord *c)
{
    for (size_t i = 0; i < sched_needs(c->options.run->tasks); i++) {
        SCOPED(buf_fini) buf text;
        buf_init(&text, REACH_TEXT);
        if (reach_why(c, i, &text))
            note(list, buf_text(&text));
    }
}

static json *notes_of(const coord *c)
{
    json *list = json_new_array();
    bool by_budget = false;
    const char *stopped = paid_stopped(c->paid, &by_budget);
    if (nodes_count(c->nodes) == 0)
        note(list, "waiting for a node");
    if (!*c->options.run->id)
        note(list, "no run is at work");
    else if (!sched_released(c->options.run->tasks))
        note(list, "the contracts are being checked first");
    if (stopped)
        note(list, stopped);
    note_waits(list, c);
    return list;
}

/* Runs that wait for the one at work. */
static json *queue_of(const coord *c)
{
    json *list = json_new_array();
    SCOPED(message_fini) message m;
    message_init(&m, MSG_FLEET);
    struct msg_fleet *body = &m.body.fleet;
    if (c->options.service)
        service_view(c->options.service, &body->runs, &body->runs_count);
    for (size_t i = 0; i < body->runs_count; i++) {
        if (strcmp(body->runs[i].state, "waiting") == 0)
            note(list, body->runs[i].run);
    }
    return list;
}

static void tell_now(broadcast *self, int64_t now_ms)
{
    const run *r = self->of->options.run;
    sched_counts work = sched_count(r->tasks, SCHED_SYNTHESIZE);
    SCOPED(json_destroy) json *out = json_new_object();
    json *flying = flying_of(self->of), *notes = notes_of(self->of);
    json *queue = queue_of(self->of);
    json_set_str(out, "run", *r->id ? r->id : NULL);
    set_counts(out, &work);
    set_times(self, out, &work, now_ms);
    json_set_int(out, "calls", r->calls);
    json_set_real(out, "spent_usd", r->spent_usd);
    json_set_int(out, "unpriced", r->unpriced);
    json_set(out, "flying", &flying);
    json_set(out, "notes", &notes);
    json_set(out, "queue", &queue);
    SCOPED(scoped_free) char *text = json_dump(out);
    dashboard_set(self->page, FEED_NOW, text);
}

/* ---- nodes, providers ---- */

/* What self-tests have shown: each card's complaint, and from how many A/A runs its margins come. */
static json *cards_of(const node *n)
{
    json *list = json_new_array();
    for (size_t i = 0; i < n->card_count; i++) {
        json *one = json_new_object();
        const struct row_card *card = &n->cards[i];
        json_set_str(one, "uuid", card->uuid);
        json_set_str(one, "failure", *card->failure ? card->failure : NULL);
        json_set_int(one, "runs", card->runs_short);
        json_set_real(one, "margin", card->runs_short ? card->margin_short : (double)NAN);
        json_append(list, &one);
    }
    return list;
}

static json *node_json(const node *n)
{
    const struct {
        const char *name;
        bool has;
    } kinds[] = {{"cuda", n->cuda}, {"emu", n->emu}, {"fake", n->fake}};
    json *out = json_new_object(), *list = json_new_array();
    json_set_str(out, "name", n->name);
    json_set_str(out, "state",
                 n->draining            ? "draining"
                 : nodes_quarantined(n) ? "quarantined"
                                        : "up");
    json_set_str(out, "devices", n->devices);
    json_set_int(out, "untested", n->untested);
    json_set_int(out, "slots", n->slots);
    json_set_int(out, "held", n->held);
    json_set_str(out, "reason", n->reason);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].has)
            note(list, kinds[i].name);
    json_set(out, "kinds", &list);
    json *cards = cards_of(n);
    json_set(out, "cards", &cards);
    return out;
}

static void tell_nodes(broadcast *self)
{
    const nodes *all = self->of->nodes;
    SCOPED(json_destroy) json *list = json_new_array();
    for (size_t i = nodes_next(all, NODES_NONE); i != NODES_NONE; i = nodes_next(all, i)) {
        json *one = node_json(nodes_get(all, i));
        json_append(list, &one);
    }
    SCOPED(scoped_free) char *text = json_dump(list);
    dashboard_set(self->page, FEED_NODES, text);
}

static void tell_providers(broadcast *self, int64_t now_ms)
{
    const door *d = paid_door(self->of->paid);
    SCOPED(json_destroy) json *list = json_new_array();
    door_state state;
    for (size_t i = 0; door_at(d, i, now_ms, &state); i++) {
        json *one = json_new_object();
        json_set_str(one, "name", state.guest.provider);
        json_set_str(one, "model", state.guest.model);
        json_set_bool(one, "closed", state.wait_ms == DOOR_CLOSED);
        json_set_int(one, "wait_ms",
                     state.wait_ms == DOOR_CLOSED ? 0 : state.wait_ms / 1000 * 1000);
        json_set_str(one, "reason", state.wait_ms > 0 ? state.reason : NULL);
        json_append(list, &one);
    }
    SCOPED(scoped_free) char *text = json_dump(list);
    dashboard_set(self->page, FEED_PROVIDERS, text);
}

static void tell_gauges(broadcast *self, int64_t now_ms)
{
    const coord *c = self->of;
    sched_counts work = sched_count(c->options.run->tasks, SCHED_SYNTHESIZE);
    const budget *b = paid_budget(c->paid);
    double lag = (double)(now_ms - self->expected_ms) / 1e3;
    dashboard_gauge(self->page, METRICS_LEASES_ACTIVE, (double)lease_count(c->leases));
    dashboard_gauge(self->page, METRICS_QUEUE_WAITING, (double)work.state[SCHED_WAITING]);
    dashboard_gauge(self->page, METRICS_NODES_CONNECTED, (double)nodes_count(c->nodes));
    dashboard_gauge(self->page, METRICS_LOOP_LAG, lag > 0 ? lag : 0);
    dashboard_gauge(self->page, METRICS_BUDGET_REMAINING,
                    budget_limit(b) > 0 ? budget_limit(b) - budget_charged(b) - budget_reserved(b)
                                        : (double)NAN);
}

/* Where the run stood when it was first seen here; a service works on one after another. */
static void follow(broadcast *self, int64_t now_ms)
{
    const run *r = self->of->options.run;
    if (strcmp(self->run, r->id) == 0)
        return;
    sched_counts work = sched_count(r->tasks, SCHED_SYNTHESIZE);
    memcpy(self->run, r->id, sizeof self->run);
    self->started_ms = now_ms;
    self->done_before = sched_ended(&work);
}

static void tell(broadcast *self)
{
    int64_t now = clock_mono_ms();
    follow(self, now);
    tell_now(self, now);
    tell_nodes(self);
    tell_providers(self, now);
    tell_gauges(self, now);
    self->expected_ms = now + BROADCAST_MS;
}

static void on_timer(void *arg)
{
    tell(arg);
}

/* ---- start, stop ---- */

broadcast *broadcast_start(coord *of, const dashboard_options *options, err *e)
{
    SCOPED(broadcast_stop) broadcast *self = xcalloc(1, sizeof *self);
    self->of = of;
    self->page = dashboard_start(options, e);
    if (!self->page)
        return NULL;
    self->started_ms = self->expected_ms = clock_mono_ms();
    self->timer = loop_add_timer(of->events, BROADCAST_MS, BROADCAST_MS, on_timer, self);
    tell(self);
    return TAKE(self);
}

void broadcast_stop(broadcast **self)
{
    if (!*self)
        return;
    if ((*self)->page)
        loop_remove((*self)->of->events, (*self)->timer);
    dashboard_destroy(&(*self)->page);
    free(*self);
    *self = NULL;
}

const char *broadcast_url(const broadcast *self)
{
    return dashboard_url(self->page);
}
