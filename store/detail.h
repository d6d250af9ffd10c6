/* detail - what the results of tasks tell at length
 *
 * Purpose:   counters of the emulator, profiles and lineages are a thousand bytes and more each: whoever
 *            shows a million tasks asks for them when a task's turn comes.
 * Ownership: rows are lent to the callback until it returns.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says; what the callback says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_DETAIL_H
#define CE_STORE_DETAIL_H

#include <stddef.h>

#include "store/store.h"

/* Each is JSON on one line, whatever is stored: "null" without a text, a string where it is no JSON. */
typedef struct detail_row {
    const char *modelled, *profile, *lineage;
} detail_row;
typedef int detail_fn(void *arg, size_t index, const detail_row *row, err *e);

/* detail_each calls fn for each of `count` tasks by id, in that order; a NULL id has nothing to tell. A task
 * that is not there has nothing either. */
int detail_each(store_tx *tx, const char *const *tasks, size_t count, detail_fn *fn, void *arg,
                err *e);

#endif
