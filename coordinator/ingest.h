/* ingest - records that nodes send, read strictly and written to the store
 *
 * Purpose:   a record is read and checked on the loop's thread, before anything is stored: unknown keys,
 *            unknown stages, times that are not positive, numbers that are missing without a reason.
 *            Then it is one store job.
 * Ownership: ingest_read gives an owned object that holds everything the job needs.
 * Threads:   read on one thread, written on another; never both at once.
 * Errors:    reading: ERR_PROTOCOL with the JSON pointer. Writing: what the store's writers say
 *            (ERR_CONFLICT for an older token).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_INGEST_H
#define CE_COORDINATOR_INGEST_H

#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "store/store.h"
#include "wire/record.h"

typedef enum ingest_kind { INGEST_CALL, INGEST_STAGE, INGEST_RESULT, INGEST_BASELINE } ingest_kind;

typedef struct ingest {
    ingest_kind kind;
    char *name; /* task id; the key of a baseline */
    int64_t token;
    int64_t now_ms; /* wall clock */
    char *text;     /* the record as it came */
    hash record;    /* of text: its artifact */
    union {
        call_record call;
        stage_record stage;
        result_record result;
        baseline_record baseline;
    } of;
} ingest;

ingest *ingest_read(ingest_kind kind, const char *name, int64_t token, const char *text,
                    int64_t now_ms, err *e);
void ingest_destroy(ingest **self);
/* ingest_write is a store job; arg is the ingest. */
int ingest_write(store_tx *tx, void *arg, err *e);

/* A record about a task that ingest_write refused for its token. ingest_write_late is a store job, arg is
 * an ingest_late: it is kept for audit. */
typedef struct ingest_late {
    const ingest *record; /* no baseline */
    const char *node;     /* who sent it */
    const char *reason;   /* why it was refused */
} ingest_late;
int ingest_write_late(store_tx *tx, void *arg, err *e);

#endif
