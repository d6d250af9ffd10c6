/* redact - takes a run's texts out of the database, for good
 *
 * Purpose:   problem texts, references, prompts, answers (and whatever else is named) lose their bytes;
 *            hashes, scores, kernels, logs and measurements stay. redact_compact then rewrites the file,
 *            so that nothing of them is left in free pages or in the WAL.
 * Ownership: borrows.
 * Threads:   redact_run inside a job (store.h); redact_compact while nobody has the file open.
 * Errors:    redact_compact: ERR_CONFLICT when another process owns or reads the file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_REDACT_H
#define CE_STORE_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

typedef struct redact_request {
    const char *run;
    const hash *also; /* further artifacts that only hold what a model said */
    size_t also_count;
    bool apply; /* false: count only */
    int64_t now_ms;
} redact_request;

typedef struct redact_counts {
    int64_t texts;  /* that lose their bytes now */
    int64_t shared; /* that stay: another run, or a kernel, is the same text */
} redact_counts;

/* redact_run: doing it again finds nothing more to remove. */
int redact_run(store_tx *tx, const redact_request *request, redact_counts *out, err *e);
int redact_compact(const char *path, err *e);

#endif
