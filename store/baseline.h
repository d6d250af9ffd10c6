/* baseline - stored baselines: the winning mode per (contract, shape, GPU, driver, torch)
 *
 * Purpose:   rows of table baseline; the newest record of a key stands.
 * Ownership: writing borrows; baseline_get gives owned text.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_BASELINE_H
#define CE_STORE_BASELINE_H

#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

typedef struct baseline_row {
    const char *key;    /* 64 hex digits */
    const char *record; /* JSON (wire/record.h) */
    hash cache;         /* artifact; zero: none */
    int64_t created_ms;
} baseline_row;

int baseline_put(store_tx *tx, const baseline_row *row, err *e);
/* baseline_get: ERR_NOT_FOUND when there is none. */
int baseline_get(store_tx *tx, const char *key, baseline_row *out, err *e);
void baseline_row_fini(baseline_row *self);

#endif
