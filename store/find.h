/* find - from what a person types to an id (inside store/ only)
 *
 * Purpose:   a whole id, a unique prefix, or "latest".
 * Ownership: *out is fresh memory.
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND; ERR_CONFLICT lists the first ids that fit a prefix.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_FIND_H
#define CE_STORE_FIND_H

#include "store/column.h"

/* find_id looks in `table` ("run" or "task"); text NULL means latest. */
int find_id(store_tx *tx, const char *table, const char *text, char **out, err *e);

#endif
