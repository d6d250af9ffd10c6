/* parcel - a run's data as files: data/TABLE.jsonl and blobs/HASH
 *
 * Purpose:   writes them from a database, without anything that looks like a key; reads them into a fresh
 *            one. What is read back and written again gives the same bytes.
 * Ownership: parcel_open gives a database in a folder of its own; parcel_close deletes both.
 * Threads:   not from the store's own thread.
 * Errors:    ERR_CONFIG with file and line for data that are none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_PARCEL_H
#define CE_REPORTS_PARCEL_H

#include "common/buf.h"
#include "common/id.h"
#include "reports/keyscan.h"
#include "store/store.h"

#define PARCEL_DATA  "data"
#define PARCEL_BLOBS "blobs"
#define PARCEL_INDEX \
    "data/artifact.jsonl" /* one line an artifact: hash, size, why it was withheld */

typedef struct parcel_counts {
    char run[ID_TEXT + 40];
    size_t blobs, withheld, masked;
} parcel_counts;

/* parcel_write fills `folder`, which exists. */
int parcel_write(store *db, const char *run, keyscan_list known, const char *folder,
                 parcel_counts *out, err *e);

typedef struct parcel {
    char folder[64]; /* "" when closed */
    store *db;
    parcel_counts counts;
} parcel;
int parcel_open(const char *folder, parcel *out, err *e);
void parcel_close(parcel *self);

/* parcel_put writes a new file under a folder, and its parents. */
int parcel_put(const char *folder, const char *path, const buf *text, err *e);

#endif
