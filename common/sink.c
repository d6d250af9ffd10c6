/* sink - a file that is hashed and written by a thread of its own
 *
 * Few pieces are in flight, so a maker that is faster than the disk waits, and memory stays bounded.
 *
 * SPDX-License-Identifier: MIT */
#include "common/sink.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { IN_FLIGHT = 2 };

typedef struct piece {
    size_t size;
    char data[];
} piece;

struct sink {
    file_out *file;
    hash_stream *sum;
    queue *pieces;
    pthread_t thread;
    bool runs;          /* the thread was started and not yet joined */
    atomic_bool failed; /* a piece could not be written; file_out knows why */
};

static void *write_pieces(void *arg)
{
    sink *self = arg;
    for (piece *p; (p = queue_pop(self->pieces, -1)) != NULL; free(p)) {
        hash_stream_add(self->sum, p->data, p->size);
        if (file_out_add(self->file, p->data, p->size) < 0)
            atomic_store(&self->failed, true);
    }
    return NULL;
}

sink *sink_create(const char *path, err *e)
{
    SCOPED(sink_destroy) sink *self = xcalloc(1, sizeof *self);
    self->file = file_out_create(path, e);
    if (self->file == NULL)
        return NULL;
    self->sum = hash_stream_create();
    self->pieces = queue_create(IN_FLIGHT, free);
    const int failure = pthread_create(&self->thread, NULL, write_pieces, self);
    self->runs = failure == 0;
    if (!self->runs) {
        err_errno(e, failure, "thread");
        return NULL;
    }
    return TAKE(self);
}

int sink_add(void *arg, const void *data, size_t size)
{
    sink *self = arg;
    if (atomic_load(&self->failed))
        return -1;
    if (size == 0)
        return 0;
    piece *p = xmalloc(sizeof *p + size);
    p->size = size;
    memcpy(p->data, data, size);
    if (queue_push_wait(self->pieces, p, -1, NULL) == 0)
        return 0;
    free(p);
    return -1;
}

static void finish(sink *self)
{
    if (!self->runs)
        return;
    queue_close(self->pieces);
    pthread_join(self->thread, NULL);
    self->runs = false;
}

int sink_commit(sink *self, hash *out, err *e)
{
    finish(self);
    if (file_out_commit(self->file, e) < 0)
        return -1;
    *out = hash_stream_finish(&self->sum);
    return 0;
}

void sink_destroy(sink **self)
{
    if (*self == NULL)
        return;
    finish(*self);
    queue_destroy(&(*self)->pieces);
    hash_stream_destroy(&(*self)->sum);
    file_out_destroy(&(*self)->file);
    free(*self);
    *self = NULL;
}
