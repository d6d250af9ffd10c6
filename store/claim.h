/* claim - what other programs say they measured
 *
 * Purpose:   rows of table claim: imported results, which belong to no run and are never ranked with
 *            measured ones.
 * Ownership: writing borrows; reading gives text that the list owns (claim_list_fini).
 * Threads:   inside a job (store.h).
 * Errors:    ERR_CONFLICT: a row of the same file, entrant, problem and sample is there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_CLAIM_H
#define CE_STORE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "store/store.h"

typedef struct claim_row {
    const char *file;
    hash content; /* of the file */
    const char *format;
    int64_t imported_ms;
    const char *entrant, *problem;
    int64_t sample;
    bool correct;
    const char *detail;
    double speedup;     /* NaN with reason */
    const char *reason; /* NULL when there is a speedup */
    double candidate_ms, baseline_ms;
    const char *baseline, *device;
} claim_row;
typedef struct claim_list {
    claim_row *rows;
    size_t count;
} claim_list;

int claim_insert(store_tx *tx, const claim_row *row, err *e);
/* claim_count: how many rows of a file with this content there are. */
int claim_count(store_tx *tx, const hash *content, int64_t *count, err *e);
/* claim_list_read: by format, entrant, problem, time of import, sample. */
int claim_list_read(store_tx *tx, claim_list *out, err *e);
void claim_list_fini(claim_list *self);

#endif
