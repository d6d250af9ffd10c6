/* queue - a bounded queue between threads
 *
 * A ring under one mutex. The eventfd holds 1 exactly while the queue is not empty or is closed, so a
 * loop may poll it; it is written and read under the mutex, never blocks.
 *
 * SPDX-License-Identifier: MIT */
#include "common/queue.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t readable; /* an item came, or the queue closed */
    pthread_cond_t writable; /* room came, or the queue closed */
    void **items;            /* a ring of `capacity` */
    size_t capacity, first, count;
    queue_drop_fn *drop;
    bool closed;
    int fd;
};

static void init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

queue *queue_create(size_t capacity, queue_drop_fn *drop)
{
    assert(capacity > 0);
    queue *self = xcalloc(1, sizeof *self);
    self->items = xcalloc(capacity, sizeof *self->items);
    self->capacity = capacity;
    self->drop = drop;
    self->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->fd < 0) { /* like memory: no caller could go on without its queue */
        perror("ce: eventfd");
        abort();
    }
    pthread_mutex_init(&self->lock, NULL);
    init_cond(&self->readable);
    init_cond(&self->writable);
    return self;
}

static void raise_fd(queue *self)
{
    eventfd_write(self->fd, 1);
}

static void lower_fd(queue *self)
{
    eventfd_t value;
    eventfd_read(self->fd, &value);
}

/* take_first needs the lock and an item. */
static void *take_first(queue *self)
{
    void *item = self->items[self->first];
    self->first = (self->first + 1) % self->capacity;
    self->count--;
    if (self->count == 0 && !self->closed)
        lower_fd(self);
    return item;
}

void queue_destroy(queue **self)
{
    queue *q = TAKE(*self);
    if (q == NULL)
        return;
    while (q->count > 0) {
        void *item = take_first(q);
        if (q->drop != NULL)
            q->drop(item);
    }
    pthread_cond_destroy(&q->readable);
    pthread_cond_destroy(&q->writable);
    pthread_mutex_destroy(&q->lock);
    close(q->fd);
    free(q->items);
    free(q);
}

static struct timespec after_ms(int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* wait_on is false when the time is over. */
static bool wait_on(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
    if (until == NULL)
        return pthread_cond_wait(cond, lock) == 0;
    return pthread_cond_timedwait(cond, lock, until) != ETIMEDOUT;
}

static int add_last(queue *self, void *item, err *e)
{
    if (self->closed)
        return err_set(e, ERR_CONFLICT, "the queue is closed");
    if (self->count == self->capacity) {
        err_set(e, ERR_LIMIT, "the queue is full (%zu items)", self->capacity);
        if (e != NULL)
            e->retry = true;
        return -1;
    }
    self->items[(self->first + self->count) % self->capacity] = item;
    if (self->count++ == 0)
        raise_fd(self);
    pthread_cond_signal(&self->readable);
    return 0;
}

int queue_push(queue *self, void *item, err *e)
{
    return queue_push_wait(self, item, 0, e);
}

int queue_push_wait(queue *self, void *item, int64_t timeout_ms, err *e)
{
    assert(item != NULL); /* NULL is queue_pop's "nothing" */
    struct timespec until = after_ms(timeout_ms < 0 ? 0 : timeout_ms);
    pthread_mutex_lock(&self->lock);
    bool waiting = timeout_ms != 0;
    while (waiting && !self->closed && self->count == self->capacity)
        waiting = wait_on(&self->writable, &self->lock, timeout_ms < 0 ? NULL : &until);
    int rc = add_last(self, item, e);
    pthread_mutex_unlock(&self->lock);
    return rc;
}

void *queue_pop(queue *self, int64_t timeout_ms)
{
    struct timespec until = after_ms(timeout_ms < 0 ? 0 : timeout_ms);
    pthread_mutex_lock(&self->lock);
    bool waiting = timeout_ms != 0;
    while (waiting && !self->closed && self->count == 0)
        waiting = wait_on(&self->readable, &self->lock, timeout_ms < 0 ? NULL : &until);
    void *item = NULL;
    if (self->count > 0) {
        item = take_first(self);
        pthread_cond_signal(&self->writable);
    }
    pthread_mutex_unlock(&self->lock);
    return item;
}

void queue_close(queue *self)
{
    pthread_mutex_lock(&self->lock);
    if (!self->closed) {
        self->closed = true;
        if (self->count == 0)
            raise_fd(self);
        pthread_cond_broadcast(&self->readable);
        pthread_cond_broadcast(&self->writable);
    }
    pthread_mutex_unlock(&self->lock);
}

int queue_fd(const queue *self)
{
    return self->fd;
}

size_t queue_size(queue *self)
{
    pthread_mutex_lock(&self->lock);
    size_t count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}
