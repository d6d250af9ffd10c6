/* late - what nodes said about tasks that were not theirs any more
 *
 * Purpose:   rows of table late: records that the fence refused, with who sent them and why they were
 *            refused. They are for audit: nothing reads them to score or to go on with a task.
 * Ownership: writing borrows; reading gives text that the list owns (late_list_fini).
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND: no such task.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_LATE_H
#define CE_STORE_LATE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

typedef enum late_kind { LATE_CALL, LATE_STAGE, LATE_RESULT } late_kind;
const char *late_kind_name(late_kind kind);

typedef struct late_row {
    int64_t at_ms;
    const char *task;
    late_kind kind;
    const char *node;
    int64_t token;
    int64_t newest;    /* reading only: the task's newest token when it came */
    const char *state; /* reading only: the task's state when it came */
    const char *outcome;
    const char *reason;
    const char *record;
} late_row;
typedef struct late_list {
    late_row *rows;
    size_t count;
} late_list;

int late_put(store_tx *tx, const late_row *row, err *e);
/* late_list_read: of one task, oldest first. */
int late_list_read(store_tx *tx, const char *task, late_list *out, err *e);
void late_list_fini(late_list *self);

#endif
