/* inspect - everything that is stored of a run or of a task
 *
 * Purpose:   the texts of `ce-coord inspect`: a run with its tasks; a task with result, stages,
 *            attempts, calls, measurements and events; or one stored text of a task.
 * Ownership: appends to a caller's buf.
 * Threads:   as store_run.
 * Errors:    ERR_NOT_FOUND: neither a run nor a task, or a text that the task does not have.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_INSPECT_H
#define CE_REPORTS_INSPECT_H

#include <stdbool.h>

#include "common/buf.h"
#include "store/store.h"

/* inspect_write: `name` is a run or a task: an id, a unique prefix, or "latest" (the newest run). */
int inspect_write(store *db, const char *name, bool as_json, buf *out, err *e);

/* A stored text of a task. */
typedef enum inspect_part {
    INSPECT_SOURCE,
    INSPECT_PLAN,
    INSPECT_LOG,
    INSPECT_REPORT,
    INSPECT_ANSWERS /* every recorded answer, each under a line that names it */
} inspect_part;
extern const char *const inspect_parts[]; /* names of the above, NULL-ended */

/* inspect_show appends the text: of the final candidate, else of the newest attempt that has one. */
int inspect_show(store *db, const char *task, inspect_part part, buf *out, err *e);

#endif
