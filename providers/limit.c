/* limit - how many calls at a time a provider takes
 *
 * SPDX-License-Identifier: MIT */
#include "providers/limit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/xalloc.h"

enum { LOOK_MS = 100, TOKENS_LOW = 1 };

struct limit {
    limit *next;
    char *key;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    limit_state state;
};

struct limit_table {
    pthread_mutex_t lock;
    limit *first;
};

/* ---- the arithmetic ---- */

void limit_state_init(limit_state *self)
{
    *self = (limit_state){.allowed = LIMIT_FIRST};
}

int64_t limit_state_wait(const limit_state *self, int64_t now_ms)
{
    if (now_ms < self->not_before) {
        return self->not_before - now_ms;
    }
    return (double)self->running + 1.0 > self->allowed ? LOOK_MS : 0;
}

static void hold(limit_state *self, int64_t until_ms)
{
    self->not_before = until_ms > self->not_before ? until_ms : self->not_before;
}

/* Nothing left until the reset: whoever comes before would be refused. */
static void respect(limit_state *self, const hint *told, int64_t now_ms)
{
    if (told->requests_left == 0 && told->requests_reset_ms > 0) {
        hold(self, now_ms + told->requests_reset_ms);
    }
    if (told->tokens_left >= 0 && told->tokens_left < TOKENS_LOW && told->tokens_reset_ms > 0) {
        hold(self, now_ms + told->tokens_reset_ms);
    }
}

static void shrink(limit_state *self, int64_t begun_ms, int64_t now_ms)
{
    if (begun_ms < self->shrunk_ms) {
        return; /* a call of before the last cut says nothing new */
    }
    self->allowed = self->allowed / 2.0 < 1.0 ? 1.0 : self->allowed / 2.0;
    self->shrunk_ms = now_ms;
}

void limit_state_learn(limit_state *self, const fault *how, const hint *told, int64_t begun_ms,
                       int64_t now_ms)
{
    if (how->class == FAULT_NONE) {
        double more = self->allowed + 1.0 / self->allowed;
        self->allowed = more > LIMIT_MOST ? LIMIT_MOST : more;
    }
    if (fault_throttles(how)) {
        shrink(self, begun_ms, now_ms);
        hold(self, now_ms + (how->wait_ms > 0 ? how->wait_ms : 0));
    }
    if (fault_is_terminal(how)) {
        self->closed = *how;
        self->closed_ms = now_ms + LIMIT_CLOSED_MS;
    }
    respect(self, told, now_ms);
}

/* ---- shared between threads ---- */

limit_table *limit_table_create(void)
{
    limit_table *self = xcalloc(1, sizeof(*self));
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void limit_table_destroy(limit_table **self)
{
    limit_table *t = *self;
    if (t == NULL) {
        return;
    }
    for (limit *l = t->first; l != NULL;) {
        limit *next = l->next;
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->lock);
        free(l->key);
        free(l);
        l = next;
    }
    pthread_mutex_destroy(&t->lock);
    free(t);
    *self = NULL;
}

static limit *make(const char *key)
{
    limit *self = xcalloc(1, sizeof(*self));
    pthread_condattr_t attributes;
    self->key = xstrdup(key);
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    limit_state_init(&self->state);
    return self;
}

limit *limit_of(limit_table *self, const char *key)
{
    pthread_mutex_lock(&self->lock);
    limit *found = self->first;
    while (found != NULL && strcmp(found->key, key) != 0) {
        found = found->next;
    }
    if (found == NULL) {
        found = make(key);
        found->next = self->first;
        self->first = found;
    }
    pthread_mutex_unlock(&self->lock);
    return found;
}

static void wait_for_change(limit *self, int64_t ms)
{
    struct timespec until;
    int64_t slice = ms < LOOK_MS ? ms : LOOK_MS; /* to see a cancellation */
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(slice * 1000000);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&self->changed, &self->lock, &until);
}

static int no_room(int64_t wait_ms, err *e)
{
    err_set(e, ERR_LIMIT, "rate_limit: the provider wants no call for the next %lld s",
            (long long)(wait_ms / 1000));
    if (e != NULL) {
        e->retry = true;
        e->retry_after_ms = wait_ms;
    }
    return -1;
}

/* 1: entered, 0: wait, -1: e. */
static int try_enter(limit *self, const atomic_bool *cancelled, int64_t deadline_ms, err *e)
{
    int64_t now = clock_mono_ms();
    if (cancelled != NULL && atomic_load(cancelled)) {
        return err_set(e, ERR_CONFLICT, "cancelled while waiting for the provider");
    }
    if (now < self->state.closed_ms) {
        return fault_to_err(&self->state.closed, e);
    }
    int64_t wait = limit_state_wait(&self->state, now);
    if (wait == 0) {
        self->state.running++;
        return 1;
    }
    if (now >= deadline_ms || wait > LIMIT_HOLD_MAX_MS) {
        return no_room(wait, e);
    }
    wait_for_change(self, wait);
    return 0;
}

int limit_enter(limit *self, const atomic_bool *cancelled, int64_t deadline_ms, err *e)
{
    int rc = 0;
    pthread_mutex_lock(&self->lock);
    while (rc == 0) {
        rc = try_enter(self, cancelled, deadline_ms, e);
    }
    pthread_mutex_unlock(&self->lock);
    return rc > 0 ? 0 : -1;
}

void limit_leave(limit *self, const fault *how, const hint *told, int64_t begun_ms)
{
    pthread_mutex_lock(&self->lock);
    self->state.running--;
    limit_state_learn(&self->state, how, told, begun_ms, clock_mono_ms());
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}
