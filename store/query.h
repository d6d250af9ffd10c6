/* query - what may be compared: the `ranked` view and the newest runs
 *
 * Purpose:   the only gate for ranks is the database view `ranked`; readers that claim anything about
 *            speed ask here first.
 * Ownership: reading gives text that the list owns.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says; ERR_NOT_FOUND when there is nothing to compare.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_QUERY_H
#define CE_STORE_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* How many tasks of an entrant are in the view `ranked`; an entrant without any has no row. */
typedef struct ranked_row {
    const char *entrant;
    int64_t tasks;
} ranked_row;
typedef struct ranked_list {
    ranked_row *rows;
    size_t count;
} ranked_list;
/* ranked_list_read: of a run, by entrant name. */
int ranked_list_read(store_tx *tx, const char *run, ranked_list *out, err *e);
void ranked_list_fini(ranked_list *self);

/* An entrant and the run that speaks for it. */
typedef struct standing_row {
    const char *entrant;
    const char *run;
} standing_row;
typedef struct standing_list {
    standing_row *rows;
    size_t count;
} standing_list;
/* query_newest: for the newest suite hash among complete runs (of `suite`, NULL = of the newest such
 * run's suite), the newest complete run of each entrant, by entrant name. Runs that are in `ranked`
 * go first: only when there is none do others (emu, fake) speak. */
int query_newest(store_tx *tx, const char *suite, standing_list *out, err *e);
void standing_list_fini(standing_list *self);

#endif
