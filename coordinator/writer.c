/* writer - a queue of answered jobs back from the store's thread
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/writer.h"

#include <stdlib.h>

#include "common/queue.h"
#include "common/xalloc.h"

struct writer {
    store *store;    /* borrowed */
    queue *answered; /* ticket *; filled by the store's thread */
    size_t pending;
};

/* A job on its way to the store and back. */
typedef struct ticket {
    writer *home;
    writer_job job;
    int result;
    err why;
} ticket;

writer *writer_create(store *s)
{
    writer *self = xcalloc(1, sizeof *self);
    self->store = s;
    self->answered = queue_create(STORE_QUEUE_MAX, free);
    return self;
}

void writer_destroy(writer **self)
{
    if (!*self)
        return;
    writer_flush(*self);
    queue_destroy(&(*self)->answered);
    free(*self);
    *self = NULL;
}

static int run_ticket(store_tx *tx, void *arg, err *e)
{
    ticket *t = arg;
    return t->job.fn(tx, t->job.arg, e);
}

static void answer_ticket(void *arg, int result, const err *e)
{
    ticket *t = arg;
    t->result = result;
    if (result)
        t->why = *e;
    queue_push_wait(t->home->answered, t, -1, NULL);
}

int writer_submit(writer *self, const writer_job *job, err *e)
{
    ticket *t = xcalloc(1, sizeof *t);
    t->home = self;
    t->job = *job;
    if (store_submit(self->store, run_ticket, t, answer_ticket, e)) {
        free(t);
        return -1;
    }
    self->pending++;
    return 0;
}

int writer_fd(const writer *self)
{
    return queue_fd(self->answered);
}

/* Continues one job; false when none came within timeout_ms. */
static bool take_one(writer *self, int64_t timeout_ms)
{
    ticket *t = queue_pop(self->answered, timeout_ms);
    if (!t)
        return false;
    self->pending--;
    t->job.next(t->job.owner, t->job.arg, t->result, &t->why);
    free(t);
    return true;
}

void writer_take(writer *self)
{
    while (take_one(self, 0))
        ;
}

size_t writer_pending(const writer *self)
{
    return self->pending;
}

void writer_flush(writer *self)
{
    while (self->pending && take_one(self, -1))
        ;
}
