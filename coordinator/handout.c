/* handout - each step: memory says "on its way", the store commits, memory follows
 *
 * A lease alone is sent before its grant is durable: no node waits for a disk. What a node says of it comes
 * after the grant in the store's queue, so nothing about it is acknowledged before the grant is durable; and
 * a coordinator that is killed in between never gives the same token again (run.c), so what such a node
 * says later is fenced off.
 *
 * A task stays SCHED_LEASED in memory from the moment it is picked until its return or its result is
 * durable. Jobs run in the order they were submitted, so a result that raced with a loss is decided
 * by the store once, and the loser's continuation sees a conflict.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/handout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "coordinator/paid.h"
#include "coordinator/reach.h"

static const sched_task *task_of(const coord *c, size_t task)
{
    return sched_get(c->options.run->tasks, task);
}

void handout_acknowledge(coord *c, const handout_ack *ack, const err *why)
{
    message m;
    message_init(&m, MSG_ACK);
    m.body.ack.ref = (int64_t)ack->seq;
    m.body.ack.code = why ? why->code : ERR_NONE;
    message_cut_str(&m.body.ack.text, why ? why->text : "", ERR_TEXT_MAX);
    coord_send(c, &ack->peer, &m);
}

size_t handout_holder(coord *c, const char *id, int64_t token, err *e)
{
    size_t task = sched_find(c->options.run->tasks, id);
    lease now;
    if (task == SCHED_NONE) {
        err_set(e, ERR_NOT_FOUND, "there is no task %s", id);
        return SCHED_NONE;
    }
    if (lease_check(c->leases, task, token, &now, e)) {
        err_wrap(e, "task %s", id);
        return SCHED_NONE;
    }
    return task;
}

/* ---- granting ---- */
typedef struct grant_job {
    int64_t token;
    char id[ID_TEXT];
    char name[NODES_NAME];
} grant_job;

static int write_grant(store_tx *tx, void *arg, err *e)
{
    const grant_job *job = arg;
    return task_grant(tx, job->id, job->name, job->token, clock_wall_ms(), e);
}

static void granted(void *owner, void *arg, int result, const err *e)
{
    free(arg);
    if (result)
        coord_stop(owner, COORD_BROKEN, e);
}

static void fill_cards(struct msg_lease *body, const node *holder)
{
    body->cards = xcalloc(holder->card_count + 1, sizeof *body->cards);
    for (; body->cards_count < holder->card_count; body->cards_count++) {
        struct row_card *row = &body->cards[body->cards_count];
        *row = holder->cards[body->cards_count];
        row->uuid = xstrdup(row->uuid);
        row->failure = xstrdup(row->failure);
    }
}

static void fill_lease(message *m, const sched_task *task, int64_t token)
{
    struct msg_lease *body = &m->body.lease;
    message_init(m, MSG_LEASE);
    message_set_str(&body->task, task->id);
    message_set_str(&body->kind, task->kind == SCHED_CONTRACT ? "contract" : "synthesize");
    body->token = token;
    body->spec = task->spec;
    body->stages = xcalloc(task->stage_count + 1, sizeof *body->stages);
    body->calls = xcalloc(task->call_count + 1, sizeof *body->calls);
    for (; body->stages_count < task->stage_count; body->stages_count++) {
        struct row_stage_ref *row = &body->stages[body->stages_count];
        row->record = task->stages[body->stages_count].record;
        message_set_str(&row->stage, task->stages[body->stages_count].stage);
    }
    for (; body->calls_count < task->call_count; body->calls_count++) {
        struct row_call_ref *row = &body->calls[body->calls_count];
        row->record = task->calls[body->calls_count].record;
        row->index = task->calls[body->calls_count].index;
        message_set_str(&row->stage, task->calls[body->calls_count].stage);
    }
}

/* The node was gone before it heard of the task: nobody can say that the task took it along. */
static void take_back(coord *c, const lease *given)
{
    handout_return how = {.task = given->task, .token = given->token, .ending = TASK_LOST};
    snprintf(how.text, sizeof how.text, "node %s was gone before it was sent",
             nodes_get(c->nodes, given->node)->name);
    lease_release(c->leases, given->task, given->token, NULL);
    nodes_release(c->nodes, given->node);
    handout_end(c, &how, NULL);
}

static void send_lease(coord *c, const lease *given)
{
    message m;
    fill_lease(&m, task_of(c, given->task), given->token);
    fill_cards(&m.body.lease, nodes_get(c->nodes, given->node));
    if (coord_send(c, &nodes_get(c->nodes, given->node)->peer, &m))
        return;
    take_back(c, given);
    handout_lose_node(c, given->node, NODE_LOST, "its connection is gone");
}

#define ASKED_NOTHING SIZE_MAX

/* A search of a node for the next task. Many entrants have tasks of one need, and no node changes meanwhile: the
 * answer for the newest need stays good. */
typedef struct search {
    const coord *c;
    size_t (*find)(const nodes *among, const nodes_want *want);
    size_t need, found; /* the newest that was asked for; who has room for it, or NODES_NONE */
    size_t number;      /* of the node for the task that is next so far */
} search;

static search search_for(const coord *c, size_t (*find)(const nodes *, const nodes_want *))
{
    return (search){
        .c = c, .find = find, .need = ASKED_NOTHING, .found = NODES_NONE, .number = NODES_NONE};
}

static bool has_room(void *arg, size_t need)
{
    search *s = arg;
    if (need != s->need) {
        const nodes_want want = reach_want(s->c, need);
        s->need = need;
        s->found = s->find(s->c->nodes, &want);
    }
    if (s->found == NODES_NONE)
        return false;
    s->number = s->found;
    return true;
}

static bool hand_out(coord *c, size_t task, size_t number, bool alone)
{
    if (task == SCHED_NONE)
        return false;
    nodes_take(c->nodes, number, alone);
    lease given;
    err e = {0};
    if (lease_grant(c->leases, task, number, clock_mono_ms(), &given, &e)) {
        coord_stop(c, COORD_BROKEN, &e);
        return false;
    }
    grant_job *job = xcalloc(1, sizeof *job);
    job->token = given.token;
    memcpy(job->id, task_of(c, task)->id, ID_TEXT);
    memcpy(job->name, nodes_get(c->nodes, number)->name, NODES_NAME);
    if (coord_submit(c, write_grant, job, granted)) {
        free(job);
        return false;
    }
    send_lease(c, &given);
    return true;
}

/* Gives one task to one node; false when nothing fits. */
static bool hand_out_one(coord *c)
{
    search s = search_for(c, nodes_find);
    size_t task = sched_pick(c->options.run->tasks, has_room, &s);
    return hand_out(c, task, s.number, false);
}

/* A task that may have taken nodes along goes to a node that has nothing else, when there is one. */
static bool hand_out_suspect(coord *c)
{
    if (!sched_suspects(c->options.run->tasks))
        return false;
    search s = search_for(c, nodes_find_empty);
    size_t task = sched_pick_suspect(c->options.run->tasks, has_room, &s);
    return hand_out(c, task, s.number, true);
}

void handout_dispatch(coord *c)
{
    if (c->end == COORD_GOES_ON)
        reach_refresh(c);
    while (c->end == COORD_GOES_ON && (hand_out_suspect(c) || hand_out_one(c)))
        ;
}

/* ---- claiming ---- */
typedef struct claim_job {
    size_t task;
    int64_t token;
    char id[ID_TEXT];
    char name[NODES_NAME];
    peer_id peer;
} claim_job;

static void tell_cancel(coord *c, const peer_id *to, const char *id)
{
    message m;
    message_init(&m, MSG_CANCEL);
    message_set_str(&m.body.cancel.task, id);
    coord_send(c, to, &m);
}

static int write_claim(store_tx *tx, void *arg, err *e)
{
    const claim_job *job = arg;
    return task_reclaim(tx, job->id, job->name, job->token, clock_wall_ms(), e);
}

static void claimed(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    claim_job *job = arg;
    lease now;
    if (result) {
        log_err(LOG_INFO, "sched", e, "a claim is refused");
        tell_cancel(c, &job->peer, job->id);
        if (lease_check(c->leases, job->task, job->token, &now, NULL) == 0) {
            lease_release(c->leases, job->task, job->token, NULL);
            nodes_release(c->nodes, now.node);
        }
        paid_lost(c, job->task, job->token);
        sched_return(c->options.run->tasks, job->task, false, false);
    }
    free(job);
}

void handout_claim(coord *c, size_t number, const struct msg_claim *claim)
{
    sched *tasks = c->options.run->tasks;
    const node *holder = nodes_get(c->nodes, number);
    size_t task = sched_find(tasks, claim->task);
    const lease old = {.task = task, .node = number, .token = claim->token};
    if (task == SCHED_NONE || claim->token > lease_last_token(c->leases) ||
        lease_held(c->leases, task) || !sched_claim(tasks, task)) {
        tell_cancel(c, &holder->peer, claim->task);
        return;
    }
    claim_job *job = xcalloc(1, sizeof *job);
    *job = (claim_job){.task = task, .token = claim->token, .peer = holder->peer};
    memcpy(job->id, task_of(c, task)->id, ID_TEXT);
    memcpy(job->name, holder->name, NODES_NAME);
    lease_resume(c->leases, &old, clock_mono_ms(), NULL); /* it waited: nobody holds it */
    nodes_hold(c->nodes, number);
    if (coord_submit(c, write_claim, job, claimed))
        free(job);
}

/* ---- returning ---- */
typedef struct return_job {
    handout_return how;
    char id[ID_TEXT];
    handout_ack ack;
    bool acked; /* somebody waits for the ack */
} return_job;

static int write_return(store_tx *tx, void *arg, err *e)
{
    const return_job *job = arg;
    task_return_args args = {.task = job->id,
                             .token = job->how.token,
                             .ending = job->how.ending,
                             .error = *job->how.text ? job->how.text : NULL,
                             .now_ms = clock_wall_ms()};
    return task_return(tx, &args, e);
}

static int write_failure(store_tx *tx, void *arg, err *e)
{
    const return_job *job = arg;
    return task_fail(tx, job->id, job->how.text, clock_wall_ms(), e);
}

static void failure_written(void *owner, void *arg, int result, const err *e)
{
    free(arg);
    if (result)
        coord_stop(owner, COORD_BROKEN, e);
}

static void give_up(coord *c, const return_job *last)
{
    const sched_task *task = task_of(c, last->how.task);
    log_line(LOG_WARN, "sched", "task %s (%s) is given up, failed leases: %d: %s", task->id,
             task->problem, task->failures, last->how.text);
    return_job *job = xmemdup(last, sizeof *last);
    if (coord_submit(c, write_failure, job, failure_written))
        free(job);
}

/* True when the task is not tried again; the text then says why. */
static bool goes_back(coord *c, return_job *job)
{
    sched *tasks = c->options.run->tasks;
    handout_return *how = &job->how;
    if (!how->lost)
        return sched_return(tasks, how->task, how->failure, how->final);
    if (!sched_lose(tasks, how->task, how->node, how->alone))
        return false;
    const sched_task *t = task_of(c, how->task);
    snprintf(how->text, sizeof how->text,
             "quarantined: node %s was lost with this task alone, and node %s before", how->node,
             t->blamed[0]);
    return true;
}

/* Kept back from everybody but the node that will claim it. */
static void park(coord *c, size_t task)
{
    if (task_of(c, task)->state != SCHED_WAITING || task_of(c, task)->suspect)
        return;
    sched_park(c->options.run->tasks, task);
    c->parked_until_ms = clock_mono_ms() + c->options.lost_ms;
}

static void returned(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    return_job job = *(return_job *)arg;
    free(arg);
    if (job.how.parting)
        sched_parted(c->options.run->tasks, job.how.task);
    if (job.how.parting && !result &&
        (lease_held(c->leases, job.how.task) || task_of(c, job.how.task)->endings))
        return; /* it was claimed meanwhile: it goes on, or was lost once more */
    bool held = task_of(c, job.how.task)->state == SCHED_LEASED;
    if (result && held) {
        coord_stop(c, COORD_BROKEN, e); /* no result was recorded either: nothing explains it */
        return;
    }
    if (!result)
        paid_lost(c, job.how.task, job.how.token);
    if (!result && goes_back(c, &job))
        give_up(c, &job);
    else if (!result && job.how.park)
        park(c, job.how.task);
    if (job.acked)
        handout_acknowledge(c, &job.ack, result ? e : NULL);
}

void handout_end(coord *c, const handout_return *how, const handout_ack *ack)
{
    return_job *job = xcalloc(1, sizeof *job);
    job->how = *how;
    memcpy(job->id, task_of(c, how->task)->id, ID_TEXT);
    if (ack) {
        job->ack = *ack;
        job->acked = true;
    }
    if (coord_submit(c, write_return, job, returned))
        free(job);
}

/* ---- losing ---- */
typedef struct losing {
    coord *c;
    task_ending ending;
    bool failure;
    bool alone;  /* there was but one */
    bool cancel; /* the node is there and must be told */
    bool park;   /* its successor will claim them */
    const char *text;
} losing;

static void end_lost(void *arg, const lease *ended)
{
    const losing *l = arg;
    nodes_release(l->c->nodes, ended->node);
    if (l->cancel)
        tell_cancel(l->c, &nodes_get(l->c->nodes, ended->node)->peer,
                    task_of(l->c, ended->task)->id);
    handout_return how = {.task = ended->task,
                          .token = ended->token,
                          .ending = l->ending,
                          .failure = l->failure,
                          .lost = l->failure,
                          .alone = l->alone,
                          .park = l->park,
                          .parting = l->ending == TASK_LOST};
    memcpy(how.node, nodes_get(l->c->nodes, ended->node)->name, NODES_NAME);
    snprintf(how.text, sizeof how.text, "%s", l->text);
    if (how.parting)
        sched_part(l->c->options.run->tasks, ended->task);
    handout_end(l->c, &how, NULL);
}

void handout_cancel_all(coord *c)
{
    losing l = {.c = c, .ending = TASK_CANCELLED, .cancel = true, .text = ""};
    lease_drop_all(c->leases, end_lost, &l);
}

typedef struct node_job {
    char name[NODES_NAME];
    node_state state;
} node_job;

static int write_node_state(store_tx *tx, void *arg, err *e)
{
    const node_job *job = arg;
    return node_set_state(tx, job->name, job->state, clock_wall_ms(), e);
}

static void forget_node(coord *c, size_t number, node_state state, losing *how)
{
    const node *gone = nodes_get(c->nodes, number);
    size_t held = lease_count_node(c->leases, number);
    log_line(held || state == NODE_LOST ? LOG_WARN : LOG_INFO, "nodes",
             "%s; tasks that go back: %zu", how->text, held);
    how->alone = held == 1;
    lease_drop_node(c->leases, number, end_lost, how);
    blob_inbox_forget(c->inbox, gone->instance);
    node_job *job = xcalloc(1, sizeof *job);
    memcpy(job->name, gone->name, NODES_NAME);
    job->state = state;
    nodes_leave(c->nodes, number);
    if (coord_submit(c, write_node_state, job, failure_written))
        free(job);
}

void handout_lose_node(coord *c, size_t number, node_state state, const char *reason)
{
    char text[ERR_TEXT_MAX];
    snprintf(text, sizeof text, "node %s %s: %s", nodes_get(c->nodes, number)->name,
             state == NODE_LEFT ? "left" : "was lost", reason);
    losing l = {.c = c, .ending = TASK_LOST, .failure = state == NODE_LOST, .text = text};
    forget_node(c, number, state, &l);
}

void handout_replace_node(coord *c, size_t number, bool same, bool claims)
{
    char text[ERR_TEXT_MAX];
    snprintf(text, sizeof text, "node %s %s", nodes_get(c->nodes, number)->name,
             same ? "comes over another connection"
                  : "was lost: another process registered under its name");
    losing l = {
        .c = c, .ending = TASK_LOST, .failure = !same, .park = same || claims, .text = text};
    forget_node(c, number, NODE_LOST, &l);
}

/* Which task a run waits for, and where it is. */
static void tell_slow(void *arg, const lease *held)
{
    const coord *c = arg;
    const sched_task *t = task_of(c, held->task);
    log_line(LOG_WARN, "sched", "task %s (%s) takes long: %d min at node %s, stage %s", t->id,
             t->problem, HANDOUT_SLOW_MS / 60000, nodes_get(c->nodes, held->node)->name,
             t->stage >= 0 ? sched_stage_name(t->stage) : "not begun");
}

void handout_tick(coord *c, int64_t now_ms)
{
    char text[64];
    snprintf(text, sizeof text, "no sign of life for %lld ms", (long long)c->options.lost_ms);
    for (size_t lost; (lost = nodes_lost(c->nodes, c->options.lost_ms, now_ms)) != NODES_NONE;)
        handout_lose_node(c, lost, NODE_LOST, text);
    losing l = {.c = c, .ending = TASK_LOST, .failure = true, .cancel = true, .text = text};
    lease_expire(c->leases, now_ms, end_lost, &l);
    nodes_tick(c->nodes, now_ms);
    lease_slow(c->leases, HANDOUT_SLOW_MS, now_ms, tell_slow, c);
}

void handout_renew_all(coord *c, int64_t now_ms)
{
    for (size_t i = nodes_next(c->nodes, NODES_NONE); i != NODES_NONE; i = nodes_next(c->nodes, i))
        lease_renew(c->leases, i, now_ms);
}
