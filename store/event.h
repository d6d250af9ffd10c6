/* event - every transition, in order
 *
 * Purpose:   rows of table event. Replaying the kinds granted, returned, lost, cancelled, revived,
 *            failed and done rebuilds the state of every task; the writers of task.h and result.h add
 *            them themselves.
 * Ownership: writing borrows; reading gives text that the list owns.
 * Threads:   inside a job (store.h).
 * Errors:    as the database says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_EVENT_H
#define CE_STORE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

typedef struct event_row {
    int64_t at_ms;
    const char *run, *task, *node; /* NULL where it does not apply */
    const char *kind;
    const char *detail; /* NULL or one line */
    int64_t id;         /* reading only */
} event_row;
typedef struct event_list {
    event_row *rows;
    size_t count;
} event_list;

int event_add(store_tx *tx, const event_row *row, err *e);
/* event_list_read: events of a run (with those of its tasks) or of one task, oldest first; one of the
 * two is NULL. */
int event_list_read(store_tx *tx, const char *run, const char *task, event_list *out, err *e);
void event_list_fini(event_list *self);

#endif
