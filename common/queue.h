/* queue - a bounded queue between threads
 *
 * Purpose:   hand pointers from one thread to another; the reader may wait on a condition or poll an
 *            eventfd inside its loop.
 * Ownership: queue_push moves the item in (on success), queue_pop moves it out. Items left at destroy
 *            are given to the `drop` function.
 * Threads:   any number of writers and readers.
 * Errors:    push on a full or closed queue fails (ERR_LIMIT / ERR_CONFLICT), nothing is moved.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_QUEUE_H
#define CE_COMMON_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

typedef struct queue queue;
typedef void queue_drop_fn(void *item);

queue *queue_create(size_t capacity, queue_drop_fn *drop);
void queue_destroy(queue **self);
/* queue_push never blocks. */
int queue_push(queue *self, void *item, err *e);
/* queue_push_wait blocks up to timeout_ms (-1: for ever) for room. */
int queue_push_wait(queue *self, void *item, int64_t timeout_ms, err *e);
/* queue_pop waits up to timeout_ms (0: do not wait, -1: for ever); NULL on timeout or closed+empty. */
void *queue_pop(queue *self, int64_t timeout_ms);
/* queue_close: no more pushes; readers drain what is there, then get NULL at once. */
void queue_close(queue *self);
/* queue_fd is readable while the queue is not empty (or is closed); -1 never. */
int queue_fd(const queue *self);
size_t queue_size(queue *self);

#endif
