/* export - what is stored of a run or a task, as files for others
 *
 * Purpose:   every level of a run as JSON lines or CSV: its tables as they are stored, and one line a raw sample;
 *            one task as a folder of texts; a badge. What looks like a key is masked in rows, and a text that
 *            holds one is withheld.
 * Ownership: borrows.
 * Threads:   not from the store's own thread.
 * Errors:    as the database and the file system say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_EXPORT_H
#define CE_REPORTS_EXPORT_H

#include <stdbool.h>

#include "common/buf.h"
#include "reports/board.h"
#include "reports/keyscan.h"
#include "store/store.h"

typedef struct export_ask {
    const char *name;   /* a run or a task: an id, a unique prefix, "latest" */
    const char *folder; /* is made */
    keyscan_list known;
} export_ask;

/* export_tables writes run.jsonl, task.jsonl, … sample.jsonl (csv: .csv). */
int export_tables(store *db, const export_ask *ask, bool csv, err *e);
/* export_task writes task.json, the final kernel, and for each call and attempt what it read and wrote. */
int export_task(store *db, const export_ask *ask, err *e);
/* export_badge appends the JSON of a shields.io endpoint: who stands first, with how much. */
void export_badge(const board *b, buf *out);

#endif
