/* closure - every artifact that a run stands on
 *
 * Purpose:   those that its rows name, and those that its records and specs name inside; which of them may
 *            not leave the house, and why.
 * Ownership: closure_fini frees.
 * Threads:   inside a job (store/store.h).
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_CLOSURE_H
#define CE_REPORTS_CLOSURE_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "reports/keyscan.h"
#include "store/store.h"

#define CLOSURE_REDACTED "redacted in the database"
#define CLOSURE_KEY      "it may hold a key"

typedef struct closure_row {
    hash name;
    int64_t size;
    const char *withheld; /* why the bytes stay; NULL: they go */
} closure_row;
typedef struct closure {
    closure_row *rows; /* by name, each once */
    size_t count;
} closure;

int closure_read(store_tx *tx, const char *run, keyscan_list known, closure *out, err *e);
void closure_fini(closure *self);

#endif
