/* result - what a finished task is worth: recorded exactly once
 *
 * Purpose:   the result columns of table `task`.
 * Ownership: writing borrows. Reading goes through task.h.
 * Threads:   inside a job (store.h).
 * Errors:    ERR_CONFLICT (with a `late` event) for an older token or a second result; ERR_NOT_FOUND
 *            for an unknown task.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_RESULT_H
#define CE_STORE_RESULT_H

#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "store/store.h"

/* Field for field wire/record.h's result_record. A number that was not obtained is NaN, with `reason`. */
typedef struct result_row {
    outcome result;
    const char *stage; /* that decided a failure; NULL when ok */
    const char *detail, *text;
    double speedup;
    const char *reason; /* why speedup is NULL */
    const char *verdict, *verdict_reason;
    double ci_low, ci_high, floor_ms;
    double candidate_ms, baseline_ms;
    const char *baseline_mode;
    const char *marks; /* comma separated */
    const char *device, *device_kind, *device_uuid, *driver, *torch, *nvrtc;
    const char *correct_protocol, *timing_protocol;
    const char *modelled;  /* what the emulator counted: JSON */
    const char *profile;   /* what CUPTI told: JSON */
    const char *lineage;   /* attempts that were timed, and their gains: JSON */
    const char *sanitizer; /* clean, not run (reason), or a finding of compute-sanitizer */
    hash source, plan;     /* zero: none */
    double wall_ms, device_ms;
    int64_t calls; /* -1: unknown */
} result_row;

/* result_put finishes the task: state done, lease ended, event `done`. */
int result_put(store_tx *tx, const char *task, int64_t token, const result_row *row, int64_t now_ms,
               err *e);

#endif
