/* clerk - two queues and a thread between them
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/clerk.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/queue.h"
#include "common/xalloc.h"

typedef struct ticket {
    clerk_job job;
    int result;
    err why;
} ticket;

struct clerk {
    queue *asked, *done; /* ticket * */
    pthread_t thread;
};

static void *work(void *arg)
{
    clerk *self = arg;
    for (ticket *t; (t = queue_pop(self->asked, -1)) != NULL;) {
        t->result = t->job.fn(t->job.arg, &t->why);
        queue_push_wait(self->done, t, -1, NULL);
    }
    return NULL;
}

static void proceed(ticket *t)
{
    t->job.next(t->job.owner, t->job.arg, t->result, &t->why);
    free(t);
}

clerk *clerk_create(err *e)
{
    clerk *self = xcalloc(1, sizeof *self);
    self->asked = queue_create(CLERK_QUEUE, free);
    self->done = queue_create(CLERK_QUEUE, free);
    if (pthread_create(&self->thread, NULL, work, self) == 0)
        return self;
    err_set(e, ERR_SYSTEM, "cannot start a thread");
    queue_destroy(&self->asked);
    queue_destroy(&self->done);
    free(self);
    return NULL;
}

void clerk_destroy(clerk **self)
{
    if (!*self)
        return;
    queue_close((*self)->asked);
    for (ticket *t; (t = queue_pop((*self)->asked, 0)) != NULL;) {
        t->result = err_set(&t->why, ERR_UNAVAILABLE, "the coordinator stops");
        proceed(t);
    }
    pthread_join((*self)->thread, NULL);
    clerk_take(*self);
    queue_destroy(&(*self)->asked);
    queue_destroy(&(*self)->done);
    free(*self);
    *self = NULL;
}

int clerk_submit(clerk *self, const clerk_job *job, err *e)
{
    ticket *t = xcalloc(1, sizeof *t);
    t->job = *job;
    if (queue_push(self->asked, t, e) == 0)
        return 0;
    free(t);
    return -1;
}

int clerk_fd(const clerk *self)
{
    return queue_fd(self->done);
}

void clerk_take(clerk *self)
{
    for (ticket *t; (t = queue_pop(self->done, 0)) != NULL;)
        proceed(t);
}
