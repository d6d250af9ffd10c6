/* blob - content-addressed bytes: exchange in chunks, and a node's cache of them
 *
 * A blob's name is its hash, so nothing that is kept can be stale, and what arrives is right or refused.
 * The store keeps entries in hash buckets and in order of arrival; the oldest leave memory first. Files
 * are FOLDER/ab/cdef…, written atomically, verified when read.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/blob.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* ---- sending ---- */

/* cut gives the chunk at offset: empty when offset is outside. */
static size_t cut(size_t size, int64_t offset)
{
    if (offset < 0 || (uint64_t)offset >= size)
        return 0;
    size_t left = size - (size_t)offset;
    return left < BLOB_CHUNK ? left : BLOB_CHUNK;
}

int64_t blob_put_chunk(message *m, const hash *name, const void *data, size_t size, int64_t offset)
{
    struct msg_blob_put *put = &m->body.blob_put;
    size_t n = cut(size, offset);
    put->blob = *name;
    put->offset = offset;
    put->total = (int64_t)size;
    message_set_bytes(&put->data, n > 0 ? (const char *)data + offset : NULL, n);
    int64_t next = offset + (int64_t)n;
    return n == 0 || (uint64_t)next >= size ? -1 : next;
}

void blob_answer(message *m, const message *get, const void *data, size_t size)
{
    struct msg_blob_data *answer = &m->body.blob_data;
    const struct msg_blob_get *asked = &get->body.blob_get;
    size_t n = data != NULL ? cut(size, asked->offset) : 0;
    answer->ref = (int64_t)get->seq;
    answer->blob = asked->blob;
    answer->found = data != NULL;
    answer->offset = asked->offset;
    answer->total = data != NULL ? (int64_t)size : 0;
    message_set_bytes(&answer->data, n > 0 ? (const char *)data + asked->offset : NULL, n);
}

/* ---- receiving one ---- */

struct blob_in {
    hash name;
    int64_t total; /* -1: not told yet */
    buf bytes;     /* what came so far */
};

blob_in *blob_in_create(const hash *name)
{
    blob_in *self = xcalloc(1, sizeof(*self));
    self->name = *name;
    self->total = -1;
    buf_init(&self->bytes, BLOB_MAX);
    return self;
}

void blob_in_destroy(blob_in **self)
{
    if (self == NULL || *self == NULL)
        return;
    buf_fini(&(*self)->bytes);
    free(*self);
    *self = NULL;
}

int64_t blob_in_next(const blob_in *self)
{
    return (int64_t)self->bytes.size;
}

static int check_chunk(const blob_in *self, int64_t offset, int64_t total, size_t size, err *e)
{
    int64_t next = blob_in_next(self);
    if (total < 0 || total > BLOB_MAX)
        return err_set(e, ERR_LIMIT, "a blob of %" PRId64 " bytes, the maximum is %d", total,
                       BLOB_MAX);
    if (self->total >= 0 && total != self->total)
        return err_set(e, ERR_PROTOCOL, "a blob's size changed from %" PRId64 " to %" PRId64,
                       self->total, total);
    if (offset != next)
        return err_set(e, ERR_PROTOCOL, "a chunk at %" PRId64 " where %" PRId64 " was due", offset,
                       next);
    if ((uint64_t)(total - next) < size)
        return err_set(e, ERR_PROTOCOL, "a chunk reaches past the end of its blob");
    if (size == 0 && total > 0) /* it would go on for ever */
        return err_set(e, ERR_PROTOCOL, "an empty chunk of a blob that has bytes");
    return 0;
}

int blob_in_add(blob_in *self, int64_t offset, int64_t total, const message_bytes *chunk, err *e)
{
    if (check_chunk(self, offset, total, chunk->size, e) < 0)
        return -1;
    self->total = total;
    buf_add(&self->bytes, chunk->data, chunk->size);
    if (blob_in_next(self) < total)
        return 0;
    hash real = hash_of(self->bytes.data, self->bytes.size);
    if (hash_equal(&real, &self->name))
        return 1;
    char wanted[HASH_HEX], got[HASH_HEX];
    hash_hex(&self->name, wanted);
    hash_hex(&real, got);
    return err_set(e, ERR_PROTOCOL, "the bytes that came for blob %.16s… have hash %.16s…", wanted,
                   got);
}

message_bytes blob_in_take(blob_in *self)
{
    size_t size = self->bytes.size;
    return (message_bytes){(uint8_t *)buf_take(&self->bytes), size};
}

/* ---- receiving many ---- */

typedef struct inbox_row {
    char *owner;
    blob_in *in; /* NULL: the row is free */
    int64_t total;
} inbox_row;

struct blob_inbox {
    inbox_row rows[BLOB_INBOX_MAX];
    size_t bytes; /* announced sizes, together */
    size_t bytes_max;
};

blob_inbox *blob_inbox_create(size_t bytes_max)
{
    blob_inbox *self = xcalloc(1, sizeof(*self));
    self->bytes_max = bytes_max;
    return self;
}

static void drop_row(blob_inbox *self, inbox_row *row)
{
    self->bytes -= (size_t)row->total;
    blob_in_destroy(&row->in);
    free(row->owner);
    *row = (inbox_row){0};
}

void blob_inbox_forget(blob_inbox *self, const char *owner)
{
    for (inbox_row *row = self->rows; row < self->rows + BLOB_INBOX_MAX; row++)
        if (row->in != NULL && strcmp(row->owner, owner) == 0)
            drop_row(self, row);
}

void blob_inbox_destroy(blob_inbox **self)
{
    if (self == NULL || *self == NULL)
        return;
    for (inbox_row *row = (*self)->rows; row < (*self)->rows + BLOB_INBOX_MAX; row++)
        if (row->in != NULL)
            drop_row(*self, row);
    free(*self);
    *self = NULL;
}

static inbox_row *find_row(blob_inbox *self, const char *owner, const hash *name)
{
    for (inbox_row *row = self->rows; row < self->rows + BLOB_INBOX_MAX; row++)
        if (row->in != NULL && hash_equal(&row->in->name, name) && strcmp(row->owner, owner) == 0)
            return row;
    return NULL;
}

static inbox_row *open_row(blob_inbox *self, const char *owner, const struct msg_blob_put *chunk,
                           err *e)
{
    inbox_row *row = self->rows;
    while (row < self->rows + BLOB_INBOX_MAX && row->in != NULL)
        row++;
    if (row == self->rows + BLOB_INBOX_MAX || chunk->total < 0 ||
        (uint64_t)chunk->total > self->bytes_max - self->bytes) {
        err_set(e, ERR_LIMIT, "no room for a blob of %" PRId64 " bytes: finish others first",
                chunk->total);
        return NULL;
    }
    *row = (inbox_row){xstrdup(owner), blob_in_create(&chunk->blob), chunk->total};
    self->bytes += (size_t)chunk->total;
    return row;
}

int blob_inbox_put(blob_inbox *self, const char *owner, const struct msg_blob_put *chunk,
                   message_bytes *done, err *e)
{
    inbox_row *row = find_row(self, owner, &chunk->blob);
    if (chunk->offset == 0) {
        if (row != NULL)
            drop_row(self, row);
        row = open_row(self, owner, chunk, e);
        if (row == NULL)
            return -1;
    }
    if (row == NULL)
        return err_set(e, ERR_PROTOCOL, "a chunk at %" PRId64 " of a blob that was not begun",
                       chunk->offset);
    int rc = blob_in_add(row->in, chunk->offset, chunk->total, &chunk->data, e);
    if (rc == 1)
        *done = blob_in_take(row->in);
    if (rc != 0)
        drop_row(self, row);
    return rc;
}

/* ---- keeping ---- */

enum { BUCKETS = 4096 };

typedef struct entry {
    hash name;
    char *data;
    size_t size;
    struct entry *next;  /* in the bucket */
    struct entry *newer; /* in order of arrival */
} entry;

struct blob_store {
    pthread_mutex_t lock; /* of everything below; files need none: names are contents */
    char *folder;         /* NULL: memory only */
    size_t memory, memory_max;
    entry *buckets[BUCKETS];
    entry *oldest, *newest;
};

blob_store *blob_store_create(const char *folder, size_t memory_max, err *e)
{
    if (folder != NULL && file_mkdirs(folder, e) < 0)
        return NULL;
    blob_store *self = xcalloc(1, sizeof(*self));
    pthread_mutex_init(&self->lock, NULL);
    self->folder = folder != NULL ? xstrdup(folder) : NULL;
    self->memory_max = memory_max;
    return self;
}

static void entry_destroy(entry *one)
{
    free(one->data);
    free(one);
}

void blob_store_destroy(blob_store **self)
{
    if (self == NULL || *self == NULL)
        return;
    for (entry *one = (*self)->oldest; one != NULL;) {
        entry *newer = one->newer;
        entry_destroy(one);
        one = newer;
    }
    pthread_mutex_destroy(&(*self)->lock);
    free((*self)->folder);
    free(*self);
    *self = NULL;
}

static entry **bucket_of(blob_store *self, const hash *name)
{
    return &self->buckets[(name->bytes[0] << 8 | name->bytes[1]) % BUCKETS];
}

static entry *memory_find(blob_store *self, const hash *name)
{
    entry *one = *bucket_of(self, name);
    while (one != NULL && !hash_equal(&one->name, name))
        one = one->next;
    return one;
}

static void memory_drop_oldest(blob_store *self)
{
    entry *one = self->oldest;
    entry **link = bucket_of(self, &one->name);
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    self->oldest = one->newer;
    if (self->oldest == NULL)
        self->newest = NULL;
    self->memory -= one->size;
    entry_destroy(one);
}

static void memory_add(blob_store *self, const hash *name, const void *data, size_t size)
{
    entry *one = xcalloc(1, sizeof(*one));
    entry **bucket = bucket_of(self, name);
    *one = (entry){.name = *name, .size = size, .next = *bucket};
    one->data = size > 0 ? xmemdup(data, size) : NULL;
    *bucket = one;
    if (self->newest != NULL)
        self->newest->newer = one;
    else
        self->oldest = one;
    self->newest = one;
    self->memory += size;
}

/* memory_keep: a memory-only store refuses what does not fit, a store with a folder forgets the oldest. */
static int memory_keep(blob_store *self, const hash *name, const void *data, size_t size, err *e)
{
    if (memory_find(self, name) != NULL)
        return 0;
    if (self->folder == NULL && size > self->memory_max - self->memory)
        return err_set(e, ERR_LIMIT, "no memory left for a blob of %zu bytes", size);
    if (size > self->memory_max)
        return 0; /* the folder has it */
    while (size > self->memory_max - self->memory)
        memory_drop_oldest(self);
    memory_add(self, name, data, size);
    return 0;
}

static int memory_keep_locked(blob_store *self, const hash *name, const void *data, size_t size,
                              err *e)
{
    pthread_mutex_lock(&self->lock);
    int rc = memory_keep(self, name, data, size, e);
    pthread_mutex_unlock(&self->lock);
    return rc;
}

/* file_path is the file of a blob and, when folder is not NULL, the folder that it lies in. */
static char *file_path(const blob_store *self, const hash *name, char **folder)
{
    char hex[HASH_HEX];
    hash_hex(name, hex);
    if (folder != NULL)
        *folder = xasprintf("%s/%.2s", self->folder, hex);
    return xasprintf("%s/%.2s/%s", self->folder, hex, hex + 2);
}

static int file_keep(blob_store *self, const hash *name, const void *data, size_t size, err *e)
{
    SCOPED(scoped_free) char *folder = NULL;
    SCOPED(scoped_free) char *path = file_path(self, name, &folder);
    if (file_exists(path))
        return 0;
    if (file_mkdirs(folder, e) < 0)
        return -1;
    return file_write(path, data, size, e);
}

int blob_store_put(blob_store *self, const void *data, size_t size, hash *name, err *e)
{
    if (size > BLOB_MAX)
        return err_set(e, ERR_LIMIT, "a blob of %zu bytes, the maximum is %d", size, BLOB_MAX);
    hash real = hash_of(data, size);
    if (self->folder != NULL && file_keep(self, &real, data, size, e) < 0)
        return -1;
    if (memory_keep_locked(self, &real, data, size, e) < 0)
        return -1;
    if (name != NULL)
        *name = real;
    return 0;
}

bool blob_store_has(blob_store *self, const hash *name)
{
    pthread_mutex_lock(&self->lock);
    bool found = memory_find(self, name) != NULL;
    pthread_mutex_unlock(&self->lock);
    if (found || self->folder == NULL)
        return found;
    SCOPED(scoped_free) char *path = file_path(self, name, NULL);
    return file_exists(path);
}

static int not_found(const hash *name, err *e)
{
    char hex[HASH_HEX];
    hash_hex(name, hex);
    return err_set(e, ERR_NOT_FOUND, "there is no blob %.16s…", hex);
}

static int file_get(blob_store *self, const hash *name, buf *out, err *e)
{
    SCOPED(scoped_free) char *path = file_path(self, name, NULL);
    SCOPED(buf_fini) buf bytes;
    buf_init(&bytes, BLOB_MAX);
    if (!file_exists(path))
        return not_found(name, e);
    if (file_read(path, &bytes, e) < 0)
        return -1;
    hash real = hash_of(bytes.data, bytes.size);
    if (!hash_equal(&real, name)) {
        unlink(path);
        return not_found(name, e);
    }
    if (buf_add(out, bytes.data, bytes.size) < 0)
        return err_set(e, ERR_LIMIT, "a blob of %zu bytes is too big here", bytes.size);
    return memory_keep_locked(self, name, bytes.data, bytes.size, e);
}

/* memory_get: 1 = appended, 0 = not in memory, -1 = err. */
static int memory_get(blob_store *self, const hash *name, buf *out, err *e)
{
    pthread_mutex_lock(&self->lock);
    const entry *one = memory_find(self, name);
    int rc = one != NULL;
    if (one != NULL && buf_add(out, one->data, one->size) < 0)
        rc = err_set(e, ERR_LIMIT, "a blob of %zu bytes is too big here", one->size);
    pthread_mutex_unlock(&self->lock);
    return rc;
}

int blob_store_get(blob_store *self, const hash *name, buf *out, err *e)
{
    int rc = memory_get(self, name, out, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return self->folder != NULL ? file_get(self, name, out, e) : not_found(name, e);
}
