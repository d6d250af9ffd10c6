/* redact - what ce-coord redact does, beside asking
 *
 * Purpose:   finds everything in a run that holds what was told to a model or what it said, counts it,
 *            and takes it out of the database file.
 * Ownership: plain values.
 * Threads:   one.
 * Errors:    ERR_NOT_FOUND for an unknown run; ERR_CONFLICT when another process has the database.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_REDACT_H
#define CE_COORDINATOR_REDACT_H

#include <stdbool.h>

#include "common/id.h"
#include "store/redact.h"
#include "store/run.h"

typedef struct redact_plan {
    char run[ID_TEXT];
    redact_counts counts;
    bool finished; /* nothing of it could be resumed anyway */
    bool already;  /* it was redacted before */
} redact_plan;

/* redact_look counts; `text` is an id, a unique prefix or "latest". redact_do removes; afterwards the file
 * must be compacted (redact_compact). */
int redact_look(store *s, const char *text, redact_plan *out, err *e);
int redact_do(store *s, const char *run, int64_t now_ms, redact_plan *out, err *e);

#endif
