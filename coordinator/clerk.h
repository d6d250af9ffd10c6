/* clerk - work that reads files and waits for the store, off the loop
 *
 * Purpose:   a thread that does one piece of work after another: a suite is read, a run written down or
 *            opened, reports are written. The loop goes on meanwhile and continues when one is done.
 * Ownership: a job's arg belongs to the clerk until its continuation has run.
 * Threads:   clerk_submit, clerk_fd, clerk_take: the loop's.
 * Errors:    clerk_submit: ERR_LIMIT when too much waits already.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_CLERK_H
#define CE_COORDINATOR_CLERK_H

#include "common/err.h"

enum { CLERK_QUEUE = 1024 };

typedef struct clerk clerk;

typedef int clerk_fn(void *arg, err *e);                                      /* on the thread */
typedef void clerk_next_fn(void *owner, void *arg, int result, const err *e); /* on the loop */

typedef struct clerk_job {
    clerk_fn *fn;
    clerk_next_fn *next; /* frees arg */
    void *arg, *owner;
} clerk_job;

clerk *clerk_create(err *e);
/* clerk_destroy waits for the job at work; what waits behind it is continued as ERR_UNAVAILABLE. */
void clerk_destroy(clerk **self);
int clerk_submit(clerk *self, const clerk_job *job, err *e);
/* clerk_fd is readable while continuations are due; clerk_take runs them. */
int clerk_fd(const clerk *self);
void clerk_take(clerk *self);

#endif
