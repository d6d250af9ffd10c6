/* dump - a run as lines of text, and back: what an evidence pack is made of
 *
 * Purpose:   writes every row that belongs to a run, table after table, one row a line as JSON with
 *            sorted keys; reads such lines into an empty database. Which columns there are is asked of
 *            the database, so that none is forgotten.
 * Ownership: appends to a caller's buf; dump_blob_list_fini frees.
 * Threads:   inside a job (store.h).
 * Errors:    dump_read: ERR_CONFIG with the line for what is no row of that table, the database's own
 *            words for a row that breaks a rule (a time of 0, a result without a reason).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_DUMP_H
#define CE_STORE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/hash.h"
#include "store/store.h"

/* dump_name: of table i, in the order in which they can be read back; NULL past the last. */
const char *dump_name(size_t table);
/* dump_write appends the rows of a run; equal rows give equal bytes. */
int dump_write(store_tx *tx, size_t table, const char *run, buf *out, err *e);
/* dump_csv is dump_write as RFC 4180 with a line of names; text and numbers as they are stored. */
int dump_csv(store_tx *tx, size_t table, const char *run, buf *out, err *e);
/* dump_csv_text appends a field, quoted where it needs to be. */
void dump_csv_text(buf *out, const char *text);
/* dump_read inserts rows; `text` is NUL-terminated. */
int dump_read(store_tx *tx, size_t table, const char *text, err *e);

/* An artifact that a row of the run names. */
typedef struct dump_blob {
    hash name;
    bool links; /* JSON of ours that may name further artifacts */
} dump_blob;
typedef struct dump_blob_list {
    dump_blob *rows;
    size_t count;
} dump_blob_list;
/* dump_blobs lists them by name, each once. */
int dump_blobs(store_tx *tx, const char *run, dump_blob_list *out, err *e);
void dump_blob_list_fini(dump_blob_list *self);

/* dump_blob_size: -1 when the database does not know the artifact; *here: with its bytes. */
int dump_blob_size(store_tx *tx, const hash *name, int64_t *size, bool *here, err *e);
/* dump_blob_absent makes an artifact known whose bytes are kept back. */
int dump_blob_absent(store_tx *tx, const hash *name, int64_t size, err *e);

#endif
