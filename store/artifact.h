/* artifact - content-addressed blobs, compressed
 *
 * Purpose:   prompts, answers, sources, logs, samples: stored once under the hash of their bytes.
 * Ownership: artifact_put borrows; artifact_get appends to a caller's buf.
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND (also for a text whose bytes were redacted), ERR_LIMIT past ARTIFACT_MAX, ERR_PROTOCOL when stored bytes do not have
 *            their hash any more.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_ARTIFACT_H
#define CE_STORE_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/hash.h"
#include "store/store.h"

enum { ARTIFACT_MAX = 64 * 1024 * 1024 };

/* artifact_put stores the bytes unless they are there; *out (may be NULL) is their hash. */
int artifact_put(store_tx *tx, const void *data, size_t size, hash *out, err *e);
/* artifact_put_text is artifact_put of a NUL-terminated text; NULL gives the zero hash, no row. */
int artifact_put_text(store_tx *tx, const char *text, hash *out, err *e);
/* artifact_get appends the bytes to out and verifies them. */
int artifact_get(store_tx *tx, const hash *name, buf *out, err *e);
/* artifact_has: with its bytes. */
int artifact_has(store_tx *tx, const hash *name, bool *out, err *e);

#endif
