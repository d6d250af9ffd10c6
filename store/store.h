/* store - the one database: a thread, a queue, group commit
 *
 * Purpose:   every durable fact goes through here. A job is a function that runs on the store thread
 *            inside a savepoint; many jobs share one transaction; a job is answered only after its
 *            COMMIT has reached the disk. Typed writers and readers (run.h, task.h, call.h, …) take
 *            the store_tx that a job is given.
 * Ownership: store_open gives an owned object; store_destroy drains the queue, joins the thread, frees.
 *            `arg` stays the caller's and must live until the job is answered.
 * Threads:   store_run and store_submit from any thread but the store's own (a job or a `done` must
 *            not call store_run). A store_tx belongs to its job. STORE_READ has no thread of its own:
 *            jobs run on the caller's, one at a time, each on one consistent snapshot.
 * Errors:    ERR_CONFLICT: another process owns the file. ERR_CONFIG: not a ce database, or a newer
 *            one. ERR_DENIED: read-only. ERR_LIMIT: the queue is full (nothing was taken).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_STORE_H
#define CE_STORE_STORE_H

#include <stdint.h>

#include "common/err.h"

enum {
    STORE_QUEUE_MAX = 16384, /* jobs that wait; then store_submit says ERR_LIMIT */
    STORE_BATCH_MAX = 1024,  /* jobs in one transaction */
    STORE_BUSY_MS = 5000     /* how long SQLite waits for a reader's lock */
};

typedef struct store store;
typedef struct store_tx store_tx;

typedef enum store_mode {
    STORE_OWN, /* make folder and file if absent, lock PATH.lock, migrate, write */
    STORE_READ /* no lock, works beside an owner, changes nothing; the file must exist */
} store_mode;

/* A job: 0, or -1 with e; then everything it wrote is undone, and only that. */
typedef int store_fn(store_tx *tx, void *arg, err *e);
/* Called once for each accepted job, on the store thread, after COMMIT. result 0: durable. -1: nothing
 * of it was kept; e says why (the job's own failure, or the commit's). After a failed commit and a
 * crash at once it may turn up all the same: send it again, the writers accept repeats. */
typedef void store_done_fn(void *arg, int result, const err *e);

/* store_open opens or makes the database. NULL on failure. */
store *store_open(const char *path, store_mode mode, err *e);
void store_destroy(store **self);
const char *store_path(const store *self);
/* store_owned_since: when the process of this host that has the database open to write opened it, Unix ms; 0: there is
 * none, as far as its lock file tells. */
int64_t store_owned_since(const store *self);

/* store_run does a job and waits until it is durable (waits for room in the queue too). */
int store_run(store *self, store_fn *fn, void *arg, err *e);
/* store_interrupt makes the statement that a job of a STORE_READ is in fail at once, from any thread; one that
 * begins later is not hurt. Nothing for a STORE_OWN. */
void store_interrupt(store *self);
/* store_submit queues a job and returns at once. `done` may be NULL. 0: `done` will be called exactly
 * once, also when the store is closed meanwhile; -1: it will not. */
int store_submit(store *self, store_fn *fn, void *arg, store_done_fn *done, err *e);

#endif
