/* blob - content-addressed bytes: exchange in chunks, and a node's cache of them
 *
 * Purpose:   cut a blob into messages, put chunks together again and verify the hash, and keep blobs in
 *            memory and in a folder that survives the process.
 * Ownership: as each function says; stores and inboxes own what was put into them.
 * Threads:   a blob_store is shared by threads; a blob_in and a blob_inbox have one owner.
 * Errors:    ERR_PROTOCOL: a chunk out of order or past the end, or the hash is not the bytes';
 *            ERR_LIMIT: bigger than BLOB_MAX, or no room; ERR_NOT_FOUND.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_WIRE_BLOB_H
#define CE_WIRE_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "wire/message.h"

enum {
    BLOB_MAX = 64 * 1024 * 1024,
    BLOB_CHUNK = 1024 * 1024,
    BLOB_INBOX_MAX = 64 /* blobs in the making per inbox */
};

/* ---- sending ---- */
/* blob_put_chunk fills an initialised BLOB_PUT with the chunk at offset; the next offset, or -1 when this
 * is the last one. An empty blob is one empty chunk. */
int64_t blob_put_chunk(message *m, const hash *name, const void *data, size_t size, int64_t offset);
/* blob_answer fills an initialised BLOB_DATA, the answer to `get`; data NULL: not found. */
void blob_answer(message *m, const message *get, const void *data, size_t size);

/* ---- receiving one blob ---- */
typedef struct blob_in blob_in;
blob_in *blob_in_create(const hash *name);
void blob_in_destroy(blob_in **self);
/* blob_in_add takes the next chunk: 1 = complete and verified, 0 = more to come, -1 = err, start over. */
int blob_in_add(blob_in *self, int64_t offset, int64_t total, const message_bytes *chunk, err *e);
int64_t blob_in_next(const blob_in *self); /* the offset wanted next */
/* blob_in_take hands the complete bytes over; caller frees data. */
message_bytes blob_in_take(blob_in *self);

/* ---- receiving many, from several peers ---- */
typedef struct blob_inbox blob_inbox;
blob_inbox *blob_inbox_create(size_t bytes_max);
void blob_inbox_destroy(blob_inbox **self);
/* blob_inbox_put takes a chunk of `owner`'s: 1 = complete, *done is the caller's; 0 = more to come; -1 =
 * err, that blob is dropped and must start over at 0. Offset 0 always starts over. */
int blob_inbox_put(blob_inbox *self, const char *owner, const struct msg_blob_put *chunk,
                   message_bytes *done, err *e);
/* blob_inbox_forget drops the unfinished blobs of an owner that left. */
void blob_inbox_forget(blob_inbox *self, const char *owner);

/* ---- keeping ---- */
typedef struct blob_store blob_store;
/* blob_store_create: folder NULL = memory only, and then memory_max is the end of it; with a folder (made
 * when absent) memory holds the newest memory_max bytes and the folder holds all. */
blob_store *blob_store_create(const char *folder, size_t memory_max, err *e);
void blob_store_destroy(blob_store **self);
/* blob_store_put keeps a copy; *name (may be NULL) is its hash. */
int blob_store_put(blob_store *self, const void *data, size_t size, hash *name, err *e);
bool blob_store_has(blob_store *self, const hash *name);
/* blob_store_get appends the bytes to out. A damaged file counts as not found and is removed. */
int blob_store_get(blob_store *self, const hash *name, buf *out, err *e);

#endif
