/* document - a run in one page
 *
 * Purpose:   report.md: verdict first, what changed, board, coverage that sums to N, regressions, problems,
 *            plots, methods, environment, cost, how to do it again, and the hashes of the files beside it. At
 *            most DOCUMENT_MAX bytes: what does not fit is counted, and is in those files.
 * Ownership: borrows; appends to a caller's buf.
 * Threads:   pure but for reading the files that it lists: the same database gives the same bytes.
 * Errors:    as the file system says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_DOCUMENT_H
#define CE_REPORTS_DOCUMENT_H

#include "common/buf.h"
#include "common/hash.h"
#include "reports/figures.h"
#include "reports/regress.h"

enum { DOCUMENT_MAX = 64 * 1024 };

/* A file beside the page. */
typedef struct document_file {
    const char *name;
    hash content;
} document_file;

typedef struct document_ask {
    const figures *f;       /* of one run */
    const board *before;    /* that it is held against, or NULL */
    const regress *changes; /* of the two; NULL without `before` */
    const document_file *files;
    size_t file_count;
} document_ask;

void document_write(const document_ask *ask, buf *out);

#endif
