/* tasks - the tasks a node is working on, one thread each
 *
 * A slot is free, running, or finished and not joined yet; the loop thread joins finished ones before
 * it starts another. A task ends with a result, or with give_back when the harness failed, or with
 * nothing when the lease is no longer ours.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/tasks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/selftest.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct task {
    tasks *owner;
    pthread_t thread;
    message lease; /* body.lease, or body.measure: then it is a self-test */
    atomic_bool cancelled;
    atomic_bool finished; /* the thread is about to end: join it */
    atomic_bool used;
} task;

struct tasks {
    node_parts parts;
    int64_t slots;
    atomic_int draining;      /* how, or DRAIN_NONE */
    atomic_bool leaving;      /* a task that ends a stage goes back */
    pthread_mutex_t counting; /* of slots: one count is told before the next is made */
    task *slot;               /* more than `slots`: a lease may be under way while one ends */
    size_t slot_count;
};

enum { SPARE_SLOTS = 8, DRAIN_NONE = -1, DRAIN_QUICK = 1, DRAIN_NOW = 2 };

tasks *tasks_create(const node_parts *parts, int64_t slots)
{
    tasks *self = xcalloc(1, sizeof(*self));
    self->parts = *parts;
    self->slots = slots;
    atomic_store(&self->draining, DRAIN_NONE);
    pthread_mutex_init(&self->counting, NULL);
    self->slot_count = (size_t)slots + SPARE_SLOTS;
    self->slot = xcalloc(self->slot_count, sizeof(*self->slot));
    return self;
}

static void join(task *t)
{
    pthread_join(t->thread, NULL);
    message_fini(&t->lease);
    atomic_store(&t->used, false);
}

void tasks_cancel(tasks *self, const char *name)
{
    for (size_t i = 0; i < self->slot_count; i++) {
        task *t = &self->slot[i];
        if (atomic_load(&t->used) &&
            (name == NULL ||
             (t->lease.type == MSG_LEASE && strcmp(t->lease.body.lease.task, name) == 0))) {
            atomic_store(&t->cancelled, true);
        }
    }
}

void tasks_destroy(tasks **self_p)
{
    tasks *self = *self_p;
    if (self == NULL) {
        return;
    }
    tasks_cancel(self, NULL);
    for (size_t i = 0; i < self->slot_count; i++) {
        if (atomic_load(&self->slot[i].used)) {
            join(&self->slot[i]);
        }
    }
    pthread_mutex_destroy(&self->counting);
    free(self->slot);
    free(self);
    *self_p = NULL;
}

/* ---- the task thread ---- */

static int run_spec(const tasks *self, ledger *account, const struct msg_lease *lease,
                    const task_spec *spec, err *e)
{
    checkpoint done = {.stages = lease->stages,
                       .stage_count = lease->stages_count,
                       .calls = lease->calls,
                       .call_count = lease->calls_count,
                       .cards = lease->cards,
                       .card_count = lease->cards_count};
    if (strcmp(spec->kind, "contract") == 0) {
        return pipeline_contract(&self->parts, account, spec, e);
    }
    if (strcmp(spec->kind, "validate") == 0) {
        return pipeline_validate(&self->parts, account, spec, e);
    }
    if (strcmp(spec->kind, "synthesize") == 0) {
        return pipeline_run(&self->parts, account, spec, &done, e);
    }
    return err_set(e, ERR_PROTOCOL, "unknown kind of task '%s'", spec->kind);
}

static int run(const tasks *self, ledger *account, const struct msg_lease *lease, err *e)
{
    SCOPED(task_spec_fini) task_spec spec = {0};
    SCOPED(scoped_free) char *text = ledger_get_text(account, &lease->spec, e);
    if (text == NULL || task_spec_read(text, strlen(text), &spec, e) != 0) {
        return -1;
    }
    return run_spec(self, account, lease, &spec, e);
}

/* How a failed task is told: not at all when the lease is gone, else by giving it back. */
static void tell_failure(const tasks *self, ledger *account, const err *why)
{
    err e;
    bool now = atomic_load(&self->draining) == DRAIN_NOW; /* that is why it was cancelled */
    bool ours = now || (!atomic_load(account->cancelled) && why->code != ERR_CONFLICT);
    if (!ours) {
        log_line(LOG_INFO, "task", "%s dropped: %s", account->task, why->text);
        return;
    }
    log_err(LOG_WARN, "task", why, "%s given back", account->task);
    if (ledger_give_back(account, why, &e) != 0) {
        log_err(LOG_WARN, "task", &e, "%s could not be given back", account->task);
    }
}

static void report_slots(tasks *self, bool ended)
{
    int64_t in_flight = 0;
    pthread_mutex_lock(&self->counting);
    for (size_t i = 0; i < self->slot_count; i++) {
        in_flight += atomic_load(&self->slot[i].used) && !atomic_load(&self->slot[i].finished);
    }
    bool draining = atomic_load(&self->draining) != DRAIN_NONE;
    int64_t left = draining ? 0 : self->slots - in_flight;
    session_free_slot(self->parts.session, left > 0 ? left : 0, in_flight, ended);
    pthread_mutex_unlock(&self->counting);
    if (draining && in_flight == 0) {
        session_stop(self->parts.session);
    }
}

/* ---- self-tests ---- */

static double known_copy(const struct msg_measure *m, const char *uuid)
{
    for (size_t i = 0; i < m->known_count; i++) {
        if (strcmp(m->known[i].uuid, uuid) == 0) {
            return m->known[i].ms;
        }
    }
    return 0;
}

int tasks_tell_selftest(session *to, const calibration_record *record, bool *passed, char **text,
                        err *e)
{
    SCOPED(message_fini) message reply = {0};
    message m;
    message_init(&m, MSG_CALIBRATION);
    m.body.calibration.record = calibration_write(record);
    if (session_call(to, &m, &reply, e) != 0) {
        return -1;
    }
    *passed = reply.body.calibrated.passed;
    *text = xstrdup(reply.body.calibrated.text);
    return 0;
}

/* A card that cannot be tested has failed its self-test: the record says why. */
static int test_card(const tasks *self, const task *t, const lane_facts *facts, err *e)
{
    const struct msg_measure *m = &t->lease.body.measure;
    calibration_record record SCOPED(calibration_record_fini) = {.device = NULL};
    const selftest_options how = {
        .quick = m->quick, .copy_ms = known_copy(m, facts->uuid), .version = CE_VERSION};
    SCOPED(scoped_free) char *text = NULL;
    bool passed = false;
    err why = {0};
    lane *held = lanes_acquire_again(self->parts.lanes, facts, &t->cancelled, e);
    if (held == NULL) {
        return -1;
    }
    if (selftest_run(&self->parts, held, &how, &record, &why) != 0) {
        log_err(LOG_WARN, "task", &why, "self-test of %s", facts->uuid);
    }
    lanes_release(self->parts.lanes, &held);
    return tasks_tell_selftest(self->parts.session, &record, &passed, &text, e);
}

static void test_cards(const tasks *self, const task *t)
{
    err e = {0};
    for (size_t i = 0; i < lanes_count(self->parts.lanes); i++) {
        const lane_facts *facts = lanes_facts(self->parts.lanes, i);
        bool times = strcmp(facts->kind, "cuda") == 0 || strcmp(facts->kind, "fake") == 0;
        if (times && test_card(self, t, facts, &e) != 0) {
            log_err(LOG_WARN, "task", &e, "self-test of %s", facts->uuid);
        }
    }
}

static void work(const tasks *self, task *t)
{
    const struct msg_lease *lease = &t->lease.body.lease;
    ledger account = {.session = self->parts.session,
                      .blobs = self->parts.blobs,
                      .token = lease->token,
                      .cancelled = &t->cancelled,
                      .leaving = &self->leaving};
    err why;
    snprintf(account.task, sizeof(account.task), "%s", lease->task);
    if (self->parts.spool != NULL) {
        account.spool = spool_create(self->parts.spool, lease->task, lease->token);
    }
    if (run(self, &account, lease, &why) != 0) {
        tell_failure(self, &account, &why);
    }
    ledger_fini(&account);
}

static void *task_main(void *arg)
{
    task *t = arg;
    tasks *self = t->owner;
    if (t->lease.type == MSG_MEASURE) {
        test_cards(self, t);
    } else {
        work(self, t);
    }
    atomic_store(&t->finished, true);
    report_slots(self, true);
    return NULL;
}

/* ---- the loop thread ---- */

static task *free_slot(tasks *self)
{
    for (size_t i = 0; i < self->slot_count; i++) {
        task *t = &self->slot[i];
        if (atomic_load(&t->used) && atomic_load(&t->finished)) {
            join(t);
        }
        if (!atomic_load(&t->used)) {
            return t;
        }
    }
    return NULL;
}

/* Gives a lease back that no thread took. */
static void refuse(const tasks *self, const struct msg_lease *lease, const char *why)
{
    message m;
    err e;
    message_init(&m, MSG_GIVE_BACK);
    message_set_str(&m.body.give_back.task, lease->task);
    m.body.give_back.token = lease->token;
    m.body.give_back.code = ERR_LIMIT;
    m.body.give_back.retry = true;
    m.body.give_back.leaving = atomic_load(&self->draining) != DRAIN_NONE;
    message_set_str(&m.body.give_back.text, why);
    if (session_try_post(self->parts.session, &m, &e) != 0) {
        log_err(LOG_ERROR, "task", &e, "%s could not be given back", lease->task);
    }
}

void tasks_claim(tasks *self)
{
    for (size_t i = 0; i < self->slot_count; i++) {
        const task *t = &self->slot[i];
        if (atomic_load(&t->used) && !atomic_load(&t->finished) && !atomic_load(&t->cancelled)) {
            session_claim(self->parts.session, t->lease.body.lease.task, t->lease.body.lease.token);
        }
    }
}

void tasks_drain(tasks *self, int how)
{
    if (how <= atomic_load(&self->draining)) {
        return;
    }
    atomic_store(&self->draining, how);
    atomic_store(&self->leaving, how >= DRAIN_QUICK);
    session_drain(self->parts.session);
    if (how == DRAIN_NOW) {
        tasks_cancel(self, NULL);
    }
    report_slots(self, false);
}

/* take_on gives the message to a slot's thread; why not, or NULL. */
static const char *take_on(tasks *self, message *m)
{
    bool draining = atomic_load(&self->draining) != DRAIN_NONE;
    task *t = draining ? NULL : free_slot(self);
    if (t == NULL) {
        return draining ? "the node is being drained" : "the node has no free slot";
    }
    t->owner = self;
    t->lease = *m;
    memset(m, 0, sizeof(*m));
    atomic_store(&t->cancelled, false);
    atomic_store(&t->finished, false);
    atomic_store(&t->used, true);
    if (pthread_create(&t->thread, NULL, task_main, t) != 0) {
        *m = t->lease;
        atomic_store(&t->used, false);
        return "the node cannot start a thread";
    }
    return NULL;
}

void tasks_lease(tasks *self, message *lease)
{
    const char *why = take_on(self, lease);
    if (why != NULL) {
        refuse(self, &lease->body.lease, why);
    }
    report_slots(self, false);
}

void tasks_measure(tasks *self, message *m)
{
    const char *why = take_on(self, m);
    if (why != NULL) {
        log_line(LOG_WARN, "task", "no self-test: %s", why);
    }
}
