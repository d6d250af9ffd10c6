/* result_columns - the result columns of table task (inside store/ only)
 *
 * Purpose:   one list that result.c writes by and task.c reads by: X(column, type, field). score.c reads the short
 *            ones.
 * Ownership: none.
 * Threads:   none.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_RESULT_COLUMNS_H
#define CE_STORE_RESULT_COLUMNS_H

#include "store/column.h"
#include "store/result.h"

#define RESULT_COLUMNS(X) RESULT_SHORT(X) RESULT_LONG(X)
/* A thousand bytes and more each. */
#define RESULT_LONG(X)                   \
    X("modelled", COLUMN_TEXT, modelled) \
    X("profile", COLUMN_TEXT, profile)
#define RESULT_SHORT(X)                                  \
    X("outcome", COLUMN_OUTCOME, result)                 \
    X("stage", COLUMN_TEXT, stage)                       \
    X("detail", COLUMN_TEXT, detail)                     \
    X("text", COLUMN_TEXT, text)                         \
    X("speedup", COLUMN_REAL, speedup)                   \
    X("reason", COLUMN_TEXT, reason)                     \
    X("verdict", COLUMN_TEXT, verdict)                   \
    X("verdict_reason", COLUMN_TEXT, verdict_reason)     \
    X("ci_low", COLUMN_REAL, ci_low)                     \
    X("ci_high", COLUMN_REAL, ci_high)                   \
    X("floor_ms", COLUMN_REAL, floor_ms)                 \
    X("candidate_ms", COLUMN_REAL, candidate_ms)         \
    X("baseline_ms", COLUMN_REAL, baseline_ms)           \
    X("baseline_mode", COLUMN_TEXT, baseline_mode)       \
    X("marks", COLUMN_TEXT, marks)                       \
    X("device", COLUMN_TEXT, device)                     \
    X("device_kind", COLUMN_TEXT, device_kind)           \
    X("device_uuid", COLUMN_TEXT, device_uuid)           \
    X("driver", COLUMN_TEXT, driver)                     \
    X("torch", COLUMN_TEXT, torch)                       \
    X("nvrtc", COLUMN_TEXT, nvrtc)                       \
    X("correct_protocol", COLUMN_TEXT, correct_protocol) \
    X("timing_protocol", COLUMN_TEXT, timing_protocol)   \
    X("lineage", COLUMN_TEXT, lineage)                   \
    X("sanitizer", COLUMN_TEXT, sanitizer)               \
    X("source", COLUMN_HASH, source)                     \
    X("plan", COLUMN_HASH, plan)                         \
    X("wall_ms", COLUMN_REAL, wall_ms)                   \
    X("device_ms", COLUMN_REAL, device_ms)               \
    X("calls", COLUMN_COUNT, calls)

#endif
