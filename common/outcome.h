/* outcome - what is true of a candidate: the closed list
 *
 * Purpose:   stored and scored; an err (common/err.h) is something else: the harness failed.
 * Ownership: plain values.
 * Threads:   safe.
 * Errors:    outcome_parse says false on an unknown name.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_OUTCOME_H
#define CE_COMMON_OUTCOME_H

#include <stdbool.h>

/* Wire and database values: never renumber. */
#define OUTCOMES(X)                                        \
    X(OK, 0, "ok", true)                                   \
    X(NO_ANSWER, 1, "no_answer", true)                     \
    X(PARSE_FAILED, 2, "parse_failed", true)               \
    X(PLAN_INVALID, 3, "plan_invalid", true)               \
    X(COMPILE_FAILED, 4, "compile_failed", true)           \
    X(REJECTED, 5, "rejected", true)                       \
    X(LAUNCH_FAILED, 6, "launch_failed", true)             \
    X(CRASHED, 7, "crashed", true)                         \
    X(HUNG, 8, "hung", true)                               \
    X(OUT_OF_BOUNDS, 9, "out_of_bounds", true)             \
    X(UNINITIALISED, 10, "uninitialised", true)            \
    X(RACE, 11, "race", true)                              \
    X(NONDETERMINISTIC, 12, "nondeterministic", true)      \
    X(WRONG, 13, "wrong", true)                            \
    X(UNSUPPORTED_ON_EMU, 14, "unsupported_on_emu", false) \
    X(NOT_RUN, 15, "not_run", false)

typedef enum outcome {
#define OUTCOME_ENUM(id, number, name, scored) OUTCOME_##id = (number),
    OUTCOMES(OUTCOME_ENUM)
#undef OUTCOME_ENUM
} outcome;

enum { OUTCOME_DETAIL_MAX = 256 };

const char *outcome_name(outcome value);
bool outcome_parse(const char *name, outcome *out);
bool outcome_is_scored(outcome value);

#endif
