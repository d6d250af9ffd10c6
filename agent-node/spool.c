/* spool - what a task has said and the coordinator has not acknowledged yet, in a file
 *
 * FOLDER/TASK.TOKEN holds messages as they go over a wire, each behind its length (u32, big endian).
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { LENGTH = 4 };

struct spool {
    char *path;
    int fd;      /* -1: there is no file yet */
    size_t size; /* of the file */
    bool owed;   /* a record in it is not answered */
};

spool *spool_create(const char *folder, const char *task, int64_t token)
{
    spool *self = xcalloc(1, sizeof(*self));
    self->path = xasprintf("%s/%s.%" PRId64, folder, task, token);
    self->fd = -1;
    return self;
}

void spool_destroy(spool **self_p)
{
    spool *self = *self_p;
    if (self == NULL) {
        return;
    }
    if (self->fd >= 0 && !self->owed) {
        unlink(self->path);
    }
    scoped_close(&self->fd);
    free(self->path);
    free(self);
    *self_p = NULL;
}

static int open_file(spool *self, err *e)
{
    self->fd = open(self->path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    return self->fd >= 0 ? 0 : err_errno(e, errno, "open %s", self->path);
}

static int write_all(const spool *self, const char *data, size_t size, err *e)
{
    while (size > 0) {
        ssize_t done = write(self->fd, data, size);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return err_errno(e, errno, "write %s", self->path);
        }
        data += done;
        size -= (size_t)done;
    }
    return 0;
}

/* A piece that was written in part is cut off again: what follows it could not be read. */
static int append(spool *self, const buf *piece, err *e)
{
    if (write_all(self, buf_text(piece), piece->size, e) == 0) {
        self->size += piece->size;
        return 0;
    }
    if (ftruncate(self->fd, (off_t)self->size) != 0) {
        scoped_close(&self->fd); /* nothing more goes behind it */
    }
    return -1;
}

static void put_length(buf *piece, size_t length)
{
    for (int i = 0; i < LENGTH; i++) {
        piece->data[i] = (char)(length >> (8 * (LENGTH - 1 - i)));
    }
}

int spool_add(spool *self, const message *m, err *e)
{
    SCOPED(buf_fini) buf piece;
    buf_init(&piece, MESSAGE_SIZE_MAX + LENGTH);
    buf_add(&piece, "\0\0\0\0", LENGTH);
    if (message_encode(m, &piece, e) != 0) {
        return -1;
    }
    put_length(&piece, piece.size - LENGTH);
    if (self->size + piece.size > SPOOL_BYTES_MAX) {
        return err_set(e, ERR_LIMIT, "%s would be larger than %d MiB", self->path,
                       SPOOL_BYTES_MAX / 1024 / 1024);
    }
    if ((self->fd < 0 && open_file(self, e) != 0) || append(self, &piece, e) != 0) {
        return -1;
    }
    if (m->type == MSG_BLOB_PUT) {
        return 0;
    }
    self->owed = true;
    return fdatasync(self->fd) == 0 ? 0 : err_errno(e, errno, "sync %s", self->path);
}

void spool_answered(spool *self)
{
    self->owed = false;
    if (self->fd >= 0 && ftruncate(self->fd, 0) == 0) {
        self->size = 0;
    }
}

/* ---- reading ---- */

static int read_name(const char *path, spool_rest *out, err *e)
{
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    const char *dot = strrchr(name, '.');
    char *end = NULL;
    out->token = dot != NULL ? strtoll(dot + 1, &end, 10) : 0;
    if (dot == NULL || dot == name || dot - name >= SPOOL_TASK || out->token < 1 || *end != '\0') {
        return err_set(e, ERR_PROTOCOL, "%s is no file of a spool: want TASK.TOKEN", path);
    }
    memcpy(out->task, name, (size_t)(dot - name));
    return 0;
}

/* The message at *at, moving *at behind it; false at the end or at a piece that is not whole. */
static bool read_one(const buf *file, size_t *at, message *out)
{
    size_t length = 0;
    if (file->size - *at < LENGTH) {
        return false;
    }
    for (int i = 0; i < LENGTH; i++) {
        length = length << 8 | (unsigned char)file->data[*at + (size_t)i];
    }
    if (file->size - *at - LENGTH < length ||
        message_decode(file->data + *at + LENGTH, length, out, NULL) != 0) {
        return false;
    }
    *at += LENGTH + length;
    return true;
}

int spool_read(const char *path, spool_rest *out, err *e)
{
    SCOPED(buf_fini) buf file;
    spool_rest rest = {.count = 0};
    buf_init(&file, SPOOL_BYTES_MAX + 1);
    if (read_name(path, &rest, e) != 0 || file_read(path, &file, e) != 0) {
        return -1;
    }
    size_t at = 0;
    message next;
    while (read_one(&file, &at, &next)) {
        rest.messages = xreallocarray(rest.messages, rest.count + 1, sizeof(*rest.messages));
        rest.messages[rest.count++] = next;
    }
    *out = rest;
    return 0;
}

void spool_rest_fini(spool_rest *self)
{
    for (size_t i = 0; i < self->count; i++) {
        message_fini(&self->messages[i]);
    }
    free(self->messages);
    *self = (spool_rest){.count = 0};
}
