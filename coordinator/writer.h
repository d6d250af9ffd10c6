/* writer - store jobs of a loop: submitted now, continued when they are durable
 *
 * Purpose:   the loop never waits for a disk. It submits a job and goes on; when the job's COMMIT has
 *            reached the disk, its continuation runs on the loop's thread.
 * Ownership: borrows the store. A job's arg belongs to the job until its continuation has run.
 * Threads:   everything but the handover inside is for the loop's thread.
 * Errors:    writer_submit fails with ERR_LIMIT when the store's queue is full; then the continuation
 *            will not run.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_WRITER_H
#define CE_COORDINATOR_WRITER_H

#include <stddef.h>

#include "common/err.h"
#include "store/store.h"

typedef struct writer writer;

/* result 0: durable; -1: nothing of the job was kept and e says why. Frees arg. */
typedef void writer_next_fn(void *owner, void *arg, int result, const err *e);

typedef struct writer_job {
    store_fn *fn;         /* on the store's thread */
    void *arg;            /* for fn and next */
    writer_next_fn *next; /* on the loop's thread */
    void *owner;          /* for next */
} writer_job;

writer *writer_create(store *s);
/* writer_destroy first flushes (see writer_flush). */
void writer_destroy(writer **self);

int writer_submit(writer *self, const writer_job *job, err *e);
/* writer_fd is readable while continuations are due; writer_take runs them. */
int writer_fd(const writer *self);
void writer_take(writer *self);
/* writer_pending is how many jobs have not been continued. */
size_t writer_pending(const writer *self);
/* writer_flush waits until every job, also those that continuations submit, has been continued. */
void writer_flush(writer *self);

#endif
