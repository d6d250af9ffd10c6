/* derive - the files of an evidence pack that follow from its data
 *
 * Purpose:   report/ (board, results, plots with their data), run.json, system.json, tasks.md, not-tested.md,
 *            redactions.md, reproduce.sh: written when a pack is made, and once more when it
 *            is verified.
 * Ownership: borrows the database.
 * Threads:   not from the store's own thread.
 * Errors:    as the database and the file system say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_DERIVE_H
#define CE_REPORTS_DERIVE_H

#include "common/err.h"

struct store;

#define DERIVE_REPORT "report"

/* derive_write fills `folder` from the only run of `db`; `data` is the folder that the parcel lies in. */
int derive_write(struct store *db, const char *run, const char *data, const char *folder, err *e);

#endif
