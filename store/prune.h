/* prune - artifacts that nothing stands on any more
 *
 * Purpose:   run_delete leaves artifacts where they are, as others may share them. Who knows which texts a
 *            removed run stood on names them here; those that some row still names stay.
 * Ownership: borrows.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_PRUNE_H
#define CE_STORE_PRUNE_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

/* prune_artifacts deletes those of `names` that no row names; *removed says how many. */
int prune_artifacts(store_tx *tx, const hash *names, size_t count, int64_t *removed, err *e);

/* How large the file is, and how much of it is empty pages, in bytes. */
typedef struct prune_size {
    int64_t file, unused;
} prune_size;
int prune_size_read(store_tx *tx, prune_size *out, err *e);

#endif
