/* sink - a file that is hashed and written by a thread of its own
 *
 * Purpose:   who makes a large text does not wait for SHA-256 and the disk. As file_out: complete or not
 *            there.
 * Ownership: sink_create gives an owned object; pieces are copied.
 * Threads:   one at a time uses it; its own thread is none of the caller's business.
 * Errors:    as errno says, with the path in the text.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_SINK_H
#define CE_COMMON_SINK_H

#include <stddef.h>

#include "common/err.h"
#include "common/hash.h"

typedef struct sink sink;

sink *sink_create(const char *path, err *e);
/* sink_add takes a piece for `arg`, the sink, as a buf's drain does; -1: an earlier one could not be written. */
int sink_add(void *arg, const void *data, size_t size);
/* sink_commit waits for what was added, then syncs and renames; *out is the hash of the whole. */
int sink_commit(sink *self, hash *out, err *e);
/* sink_destroy drops what was not committed. */
void sink_destroy(sink **self);

#endif
