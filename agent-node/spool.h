/* spool - what a task has said and the coordinator has not acknowledged yet, in a file
 *
 * Purpose:   a record is written down and synced before it is sent, with the blobs that it names: an outage
 *            of the coordinator, or of this node, loses no answer that was paid. One append-only file a
 *            lease; it is emptied when everything in it is answered, and goes with its task.
 * Ownership: spool_create borrows nothing; spool_read gives an owned list of messages.
 * Threads:   one task thread.
 * Errors:    as the file system says. Reading ends at the first piece that is not whole: what a kill cut
 *            off was not sent either.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SPOOL_H
#define CE_AGENT_NODE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/message.h"

enum { SPOOL_TASK = 33, SPOOL_BYTES_MAX = 256 * 1024 * 1024 };

typedef struct spool spool;

/* spool_create: the file of a lease in `folder`, which is there; it is made by the first spool_add. */
spool *spool_create(const char *folder, const char *task, int64_t token);
/* spool_destroy leaves the file behind when a record in it was not answered. */
void spool_destroy(spool **self);
/* spool_add appends a message. A record (not a blob) is synced, with what stands before it. */
int spool_add(spool *self, const message *m, err *e);
/* spool_answered: the coordinator has answered every record: the file is emptied. */
void spool_answered(spool *self);

/* What an earlier process left in one file. */
typedef struct spool_rest {
    char task[SPOOL_TASK];
    int64_t token;
    message *messages; /* in the order they were said */
    size_t count;
} spool_rest;

/* spool_read reads a file that spool_create named; ERR_PROTOCOL when the name is none of those. */
int spool_read(const char *path, spool_rest *out, err *e);
void spool_rest_fini(spool_rest *self);

#endif
