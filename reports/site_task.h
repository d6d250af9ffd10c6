/* site_task - the page of a candidate
 *
 * Purpose:   what became of a task, its kernel and plan, every attempt with its log, every call with prompt and
 *            answer, every raw sample.
 * Ownership: appends to a caller's buf.
 * Threads:   inside a job (store/store.h).
 * Errors:    as the database and the file system say; a text that is not there is a sentence on the page.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_SITE_TASK_H
#define CE_REPORTS_SITE_TASK_H

#include "common/buf.h"
#include "common/hash.h"
#include "reports/board.h"

/* Where long texts go: folder/x/HASH.txt. */
typedef struct site_store {
    store_tx *tx;
    const char *folder;
} site_store;

/* site_store_read gives a text by its name, and the path of its file seen from a page one folder down ("" when it
 * needs none). A text that is not there is a sentence in brackets. */
int site_store_read(const site_store *self, const hash *name, buf *text, char more[96], err *e);

/* site_task_write writes the page but for its first lines; a page one folder down. */
int site_task_write(const site_store *self, const board *b, const board_task *task, buf *out,
                    err *e);

#endif
