/* import_ce - results.csv of another ce, whose database is not at hand
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "common/str.h"
#include "reports/import.h"

enum {
    PROBLEM,
    ENTRANT,
    SAMPLE,
    OUTCOME,
    SPEEDUP,
    REASON,
    CANDIDATE,
    BASELINE_MS,
    MODE,
    DEVICE,
    WANTED
};
static const char *const columns[] = {"problem",       "entrant", "sample",       "outcome",
                                      "speedup",       "reason",  "candidate_ms", "baseline_ms",
                                      "baseline_mode", "device"};

bool import_ce_is(const csv *table)
{
    for (size_t i = 0; i < WANTED; i++)
        if (csv_column(table, columns[i]) == csv_columns(table))
            return false;
    return true;
}

static int read_number(const csv *table, size_t row, size_t column, double *out, err *e)
{
    const char *text = csv_cell(table, row, column);
    *out = (double)NAN;
    if (text[0] == '\0')
        return 0;
    if (!str_to_f64(text, out) || !(*out > 0) || isinf(*out))
        return csv_fail(table, row, column, e, "want a number above 0, or nothing");
    return 0;
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static int read_line(const claims_source *from, const csv *table, size_t row,
                     const size_t at[WANTED], err *e)
{
    const char *outcome = csv_cell(table, row, at[OUTCOME]);
    claim_row claim = {.entrant = csv_cell(table, row, at[ENTRANT]),
                       .problem = csv_cell(table, row, at[PROBLEM]),
                       .correct = strcmp(outcome, "ok") == 0,
                       .detail = or_null(outcome),
                       .reason = or_null(csv_cell(table, row, at[REASON])),
                       .baseline = or_null(csv_cell(table, row, at[MODE])),
                       .device = or_null(csv_cell(table, row, at[DEVICE]))};
    if (claim.entrant[0] == '\0' || claim.problem[0] == '\0')
        return csv_fail(table, row, at[claim.entrant[0] == '\0' ? ENTRANT : PROBLEM], e, "empty");
    if (!str_to_i64(csv_cell(table, row, at[SAMPLE]), &claim.sample) || claim.sample < 0)
        return csv_fail(table, row, at[SAMPLE], e, "want a number from 0");
    if (read_number(table, row, at[SPEEDUP], &claim.speedup, e) < 0 ||
        read_number(table, row, at[CANDIDATE], &claim.candidate_ms, e) < 0 ||
        read_number(table, row, at[BASELINE_MS], &claim.baseline_ms, e) < 0)
        return -1;
    if (!claim.correct && !isnan(claim.speedup))
        return csv_fail(table, row, at[SPEEDUP], e, "only what is correct has a speed");
    if (isnan(claim.speedup) && claim.reason == NULL)
        claim.reason = "no speedup is told";
    if (!isnan(claim.speedup))
        claim.reason = NULL;
    claims_add(from, "ce", &claim);
    return 0;
}

int import_ce(const claims_source *from, const csv *table, err *e)
{
    size_t at[WANTED];
    for (size_t i = 0; i < WANTED; i++)
        at[i] = csv_column(table, columns[i]);
    for (size_t row = 0; row < csv_rows(table); row++)
        if (read_line(from, table, row, at, e) < 0)
            return -1;
    return 0;
}
