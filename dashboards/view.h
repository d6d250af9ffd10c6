/* view - the answers of the page, as JSON or text
 *
 * Purpose:   a table of names: what the page may ask of the database, with the reports' own writers, so
 *            that page and command line never say different things.
 * Ownership: appends to a caller's buf.
 * Threads:   as store_run.
 * Errors:    ERR_NOT_FOUND; ERR_USAGE: a parameter is missing or is no name.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_VIEW_H
#define CE_DASHBOARDS_VIEW_H

#include "common/buf.h"
#include "store/store.h"

enum {
    VIEW_NAME_MAX = 64,
    VIEW_BYTES_MAX = 32 * 1024 * 1024,
    VIEW_RUNS = 30 /* runs in one answer */
};

/* What was asked for; NULL: not said. */
typedef struct view_ask {
    const char *run;    /* an id, a unique prefix, "latest" (NULL means that) */
    const char *task;   /* an id or a unique prefix */
    const char *hash;   /* of a stored text */
    const char *before; /* the id of a run: only older ones */
} view_ask;

typedef struct view {
    const char *path;
    const char *type; /* of the answer */
    int (*write)(store *db, const view_ask *ask, buf *out, err *e);
} view;
extern const view views[]; /* path NULL ends the table */

#endif
