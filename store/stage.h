/* stage - finished stages: checkpoints that no lease repeats
 *
 * Purpose:   rows of tables stage_result, attempt, measurement and comparison, written together.
 * Ownership: writing borrows; reading gives text that the list owns (*_fini).
 * Threads:   inside a job (store.h).
 * Errors:    ERR_CONFLICT for an older token (with a `late` event) or another record of the same stage;
 *            the same (task, token, stage, record) again is accepted without a second row.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_STAGE_H
#define CE_STORE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "store/store.h"

/* wire/record.h's attempt_record. */
typedef struct attempt_row {
    int64_t number; /* counts all attempts of the task, from 0 */
    const char *stage;
    hash source, plan, log, report; /* artifacts; zero: none */
    outcome result;
    const char *detail, *text;
    double compile_ms;              /* NaN: not compiled */
    int64_t registers, local_bytes; /* -1: unknown */
} attempt_row;
typedef struct attempt_list {
    attempt_row *rows;
    size_t count;
} attempt_list;

/* wire/record.h's measurement_record. */
typedef struct measurement_row {
    const char *stage; /* reading only: stage_put uses the stage's */
    const char *side;  /* candidate | baseline */
    const char *mode, *shape;
    double median_ms; /* NaN with reason */
    const char *reason;
    hash samples; /* artifact: JSON array of ms; zero: none */
    int64_t sample_count, slots;
    const char *l2;        /* cold | warm, or NULL */
    double event_floor_ms; /* NaN: unknown */
    bool winner;           /* the baseline that speedups divide by */
} measurement_row;
typedef struct measurement_list {
    measurement_row *rows;
    size_t count;
} measurement_list;

/* wire/record.h's comparison_record. */
typedef struct comparison_row {
    const char *stage; /* reading only */
    hash source, plan;
    const char *purpose, *verdict, *reason, *baseline_mode, *timing_mode;
    int64_t slots, pairs, processes, voids;
    double speedup, ci_low, ci_high, serial, between, margin;
    bool calibrated;
    double candidate_ms, baseline_ms, floor_ms;
    hash raw;
    double gain; /* NaN: nothing to compare with */
    bool kept;
    const char *profile; /* JSON, or NULL */
} comparison_row;
typedef struct comparison_list {
    comparison_row *rows;
    size_t count;
} comparison_list;

/* wire/record.h's stage_record. */
typedef struct stage_row {
    const char *stage;
    const char *status; /* passed | failed | skipped | fallback */
    outcome result;
    const char *detail, *text, *notes;
    hash record; /* artifact: the whole record as JSON */
    double wall_ms, device_ms;
    int64_t calls;
    /* writing only: what the stage brought */
    const attempt_row *attempts;
    size_t attempt_count;
    const measurement_row *measurements;
    size_t measurement_count;
    const comparison_row *comparisons;
    size_t comparison_count;
    /* reading only */
    int64_t position, token, finished_ms;
} stage_row;
typedef struct stage_list {
    stage_row *rows;
    size_t count;
} stage_list;

int stage_put(store_tx *tx, const char *task, int64_t token, const stage_row *row, int64_t now_ms,
              err *e);
/* The readers give rows of a task in the order they were finished or taken. */
int stage_list_read(store_tx *tx, const char *task, stage_list *out, err *e);
int attempt_list_read(store_tx *tx, const char *task, attempt_list *out, err *e);
int measurement_list_read(store_tx *tx, const char *task, measurement_list *out, err *e);
int comparison_list_read(store_tx *tx, const char *task, comparison_list *out, err *e);
void stage_list_fini(stage_list *self);
void attempt_list_fini(attempt_list *self);
void measurement_list_fini(measurement_list *self);
void comparison_list_fini(comparison_list *self);

#endif
