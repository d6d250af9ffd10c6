/* history - how the entrants of a run did in earlier runs of the same suite
 *
 * Purpose:   sums of each earlier complete run that had the same suite hash, device and protocols, one row a run
 *            and entrant: what a trend over nights is drawn of.
 * Ownership: reading gives text that the list owns.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_HISTORY_H
#define CE_STORE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { HISTORY_RUNS_MAX = 30 };

typedef struct history_ask {
    const char *run;                  /* only runs that began before it */
    const char *device;               /* NULL: of none */
    const char *correctness, *timing; /* NULL: not timed */
} history_ask;

typedef struct history_row {
    char *entrant;
    int64_t created_ms; /* of the run */
    size_t declared, correct;
    size_t measured;           /* correct with a speedup, without the GEMM track */
    double ln_sum, ln_squares; /* over those: of ln speedup */
} history_row;
typedef struct history_list {
    history_row *rows; /* oldest run first, entrants as declared */
    size_t count;
} history_list;

/* history_list_read: of more than HISTORY_RUNS_MAX such runs, the newest. */
int history_list_read(store_tx *tx, const history_ask *ask, history_list *out, err *e);
void history_list_fini(history_list *self);

#endif
